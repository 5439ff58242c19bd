//! What can be a parameter of a skill.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Derived, Explicit};

/// A type that can be a parameter of a skill, which is a field of its input object.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a skill",
    label = "not a field of a skill's input",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for `{Self}`; it must own its data (no references)"
)]
pub trait SkillField<Schema = Derived> {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> SkillField<Derived> for T {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> SkillField<Explicit> for T {}
