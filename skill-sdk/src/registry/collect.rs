//! The only file that names `inventory`: what is registered at link time.

use std::fmt;

use super::Skill;
use crate::context::ResourceDeclaration;

/// What the macros register.
pub struct Registration(Item);

enum Item {
    Skill(&'static Skill),
    Resource(&'static ResourceDeclaration),
}

impl Registration {
    /// A skill.
    pub const fn skill(skill: &'static Skill) -> Self {
        Self(Item::Skill(skill))
    }

    /// A resource.
    pub const fn resource(resource: &'static ResourceDeclaration) -> Self {
        Self(Item::Resource(resource))
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Item::Skill(skill) => skill.fmt(f),
            Item::Resource(resource) => resource.fmt(f),
        }
    }
}

inventory::collect!(Registration);

/// All that is registered, in an order that does not depend on the linker.
pub(super) struct Registered {
    pub(super) skills: Vec<&'static Skill>,
    pub(super) resources: Vec<&'static ResourceDeclaration>,
}

pub(super) fn registered() -> Registered {
    let mut registered = Registered {
        skills: Vec::new(),
        resources: Vec::new(),
    };
    for Registration(item) in inventory::iter::<Registration> {
        match item {
            Item::Skill(skill) => registered.skills.push(skill),
            Item::Resource(resource) => registered.resources.push(resource),
        }
    }
    let place = |origin: &crate::contract::Origin| (origin.file, origin.line, origin.column, origin.package);
    registered
        .skills
        .sort_by_key(|skill| place(skill.declaration().origin()));
    registered
        .resources
        .sort_by_key(|resource| place(resource.origin()));
    registered
}
