//! What can be the output of a skill.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Attached, Attachment, Derived, Explicit};
use crate::contract::schema::TypeSchema;

/// A type that can be the output of a skill: any that derives `Serialize` and `JsonSchema`.
///
/// With `outputs_schema = …` on the skill `JsonSchema` is not needed. [`Attached<T>`] is one as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a skill",
    label = "not the output of a skill",
    note = "derive `serde::Serialize` and `schemars::JsonSchema` for it and for every type in it; it must own its data (no references) and be `Send`",
    note = "for a type of another crate turn on a feature of schemars (`chrono04`, `uuid1`, …), use a type of your own, or write `#[schemars(with = \"String\")]` on the field"
)]
pub trait SkillOutput<Schema = Derived>: Send + 'static {
    /// The schema of the type, `None` when it is given beside the type.
    #[doc(hidden)]
    const SCHEMA: Option<TypeSchema>;

    /// Whether there may be something beside the outputs.
    #[doc(hidden)]
    const ATTACHES: bool = false;

    /// Writes the JSON of the outputs.
    #[doc(hidden)]
    fn write(&self, json: &mut Vec<u8>) -> Result<(), serde_json::Error>;

    /// The attachments.
    #[doc(hidden)]
    fn into_attachments(self) -> Vec<Attachment>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema + Send + 'static> SkillOutput<Derived> for T {
    const SCHEMA: Option<TypeSchema> = Some(TypeSchema::of::<T>());

    fn write(&self, json: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        self.serialize(&mut serde_json::Serializer::new(json))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static> SkillOutput<Explicit> for T {
    const SCHEMA: Option<TypeSchema> = None;

    fn write(&self, json: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        self.serialize(&mut serde_json::Serializer::new(json))
    }
}

// `Attached` must never implement `Serialize`: the two above would apply to it, and its attachments be lost.
#[diagnostic::do_not_recommend]
impl<Schema, T: SkillOutput<Schema>> SkillOutput<Schema> for Attached<T> {
    const SCHEMA: Option<TypeSchema> = T::SCHEMA;

    const ATTACHES: bool = true;

    fn write(&self, json: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        self.outputs.write(json)
    }

    fn into_attachments(self) -> Vec<Attachment> {
        let mut attachments = self.outputs.into_attachments();
        attachments.extend(self.attachments);
        attachments
    }
}
