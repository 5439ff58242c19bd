//! The only file that names `inventory`: what is registered at link time.

use std::fmt;

use super::Skill;
use crate::context::StateDeclaration;

/// What the macros register.
pub struct Registration(Item);

enum Item {
    Skill(&'static Skill),
    State(&'static StateDeclaration),
}

impl Registration {
    /// A skill.
    pub const fn skill(skill: &'static Skill) -> Self {
        Self(Item::Skill(skill))
    }

    /// A state.
    pub const fn state(state: &'static StateDeclaration) -> Self {
        Self(Item::State(state))
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Item::Skill(skill) => skill.fmt(f),
            Item::State(state) => state.fmt(f),
        }
    }
}

inventory::collect!(Registration);

/// All that is registered, in an order that does not depend on the linker.
pub(super) struct Registered {
    pub(super) skills: Vec<&'static Skill>,
    pub(super) states: Vec<&'static StateDeclaration>,
}

pub(super) fn registered() -> Registered {
    let mut registered = Registered {
        skills: Vec::new(),
        states: Vec::new(),
    };
    for Registration(item) in inventory::iter::<Registration> {
        match item {
            Item::Skill(skill) => registered.skills.push(skill),
            Item::State(state) => registered.states.push(state),
        }
    }
    let place = |origin: &crate::contract::Origin| (origin.file, origin.line, origin.column, origin.package);
    registered
        .skills
        .sort_by_key(|skill| place(skill.declaration().origin()));
    registered.states.sort_by_key(|state| place(state.origin()));
    registered
}
