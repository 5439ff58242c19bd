//! What can be the input of a skill.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Derived, Explicit};
use crate::contract::schema::TypeSchema;

/// A type that can be the input of a skill: any that derives `Deserialize` and `JsonSchema` and owns its data.
///
/// With `inputs_schema = …` on the skill `JsonSchema` is not needed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a skill",
    label = "not the input of a skill",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it and for every type in it; it must own its data (no references) and be `Send`",
    note = "for a type of another crate turn on a feature of schemars (`chrono04`, `uuid1`, …), use a type of your own, or write `#[schemars(with = \"String\")]` on the field",
    note = "if that is done, an argument of a generic type lacks a trait: `#[serde(default)]` on a field of type `T` needs `T: Default`"
)]
pub trait SkillInput<Schema = Derived>: DeserializeOwned + Send + 'static {
    /// The schema of the type, `None` when it is given beside the type.
    #[doc(hidden)]
    const SCHEMA: Option<TypeSchema>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> SkillInput<Derived> for T {
    const SCHEMA: Option<TypeSchema> = Some(TypeSchema::of::<T>());
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + Send + 'static> SkillInput<Explicit> for T {
    const SCHEMA: Option<TypeSchema> = None;
}
