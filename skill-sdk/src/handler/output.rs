//! What can be the output of a skill.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Derived, Explicit};
use crate::contract::schema::TypeSchema;

/// A type that can be the output of a skill: any that derives `Serialize` and `JsonSchema`.
///
/// With `outputs_schema = …` on the skill `JsonSchema` is not needed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a skill",
    label = "not the output of a skill",
    note = "derive `serde::Serialize` and `schemars::JsonSchema` for it and for every type in it; it must own its data (no references) and be `Send`"
)]
pub trait SkillOutput<Schema = Derived>: Serialize + Send + 'static {
    /// The schema of the type, `None` when it is given beside the type.
    #[doc(hidden)]
    const SCHEMA: Option<TypeSchema>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema + Send + 'static> SkillOutput<Derived> for T {
    const SCHEMA: Option<TypeSchema> = Some(TypeSchema::of::<T>());
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static> SkillOutput<Explicit> for T {
    const SCHEMA: Option<TypeSchema> = None;
}
