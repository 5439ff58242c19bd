//! The only file that names `inventory`: registration at link time.

use super::Skill;
use crate::context::StateDeclaration;
use crate::contract::Origin;

/// An item that the macros register.
#[derive(Debug)]
pub enum Registration {
    /// A skill.
    Skill(&'static Skill),
    /// A state.
    State(&'static StateDeclaration),
}

inventory::collect!(Registration);

/// All registered skills and states, in an order that does not depend on the linker.
pub(super) fn registered() -> (Vec<&'static Skill>, Vec<&'static StateDeclaration>) {
    let (mut skills, mut states) = (Vec::new(), Vec::new());
    for registration in inventory::iter::<Registration> {
        match registration {
            Registration::Skill(skill) => skills.push(*skill),
            Registration::State(state) => states.push(*state),
        }
    }
    let place = |origin: &Origin| (origin.file, origin.line, origin.column, origin.package);
    skills.sort_by_key(|skill| place(&skill.declaration().origin));
    states.sort_by_key(|state| place(state.origin()));
    (skills, states)
}
