//! What can be a parameter of a skill, which is a field of its input object.
//!
//! The expansion needs two things of a parameter's type: the derives of the generated struct have to compile, and a type
//! that does not fit has to be one error at that parameter. So the struct assumes the bounds, in
//! `where for<'a> City: FieldBounds`, which the compiler takes on trust and which keeps the derives silent. The handler
//! then names the struct only through `<City as SkillField<_>>::Of<Inputs>`, for each parameter in turn. Because two
//! implementations could apply, the compiler tries the bounds of both before it knows what `Of` is. When neither
//! fits, it reports one error, and nothing that depends on the unknown type reports another.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// What the generated struct assumes of a field.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a skill",
    label = "not a field of a skill's input",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it and for every type in it; it must own its data (no references)"
)]
pub trait FieldBounds: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> FieldBounds for T {}

/// A type that can be a parameter of a skill.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a skill",
    label = "not a field of a skill's input",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it and for every type in it; it must own its data (no references)",
    note = "for a type of another crate turn on a feature of schemars (`chrono04`, `uuid1`, …), use a type of your own, or write `#[schemars(with = \"String\")]` on the field",
    note = "if that is done, an argument of a generic type lacks a trait: `#[serde(default)]` on a field of type `T` needs `T: Default`"
)]
pub trait SkillField<Way> {
    /// `Inputs`, once the field fits.
    type Of<Inputs>;
}

#[diagnostic::do_not_recommend]
impl<T: FieldBounds> SkillField<Fits> for T {
    type Of<Inputs> = Inputs;
}

#[diagnostic::do_not_recommend]
impl<T: Never> SkillField<FitsNot> for T {
    type Of<Inputs> = Inputs;
}

/// What the generated struct assumes of a field when the schema is given beside it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a skill",
    label = "not a field of a skill's input",
    note = "derive `serde::Deserialize` for it and for every type in it; it must own its data (no references)"
)]
pub trait ValueBounds: DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> ValueBounds for T {}

/// A type that can be a parameter of a skill whose schema is given beside it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a skill",
    label = "not a field of a skill's input",
    note = "derive `serde::Deserialize` for it and for every type in it; it must own its data (no references)",
    note = "if that is done, an argument of a generic type lacks a trait: `#[serde(default)]` on a field of type `T` needs `T: Default`"
)]
pub trait SkillValue<Way> {
    /// `Inputs`, once the field fits.
    type Of<Inputs>;
}

#[diagnostic::do_not_recommend]
impl<T: ValueBounds> SkillValue<Fits> for T {
    type Of<Inputs> = Inputs;
}

#[diagnostic::do_not_recommend]
impl<T: Never> SkillValue<FitsNot> for T {
    type Of<Inputs> = Inputs;
}

/// The way of a type that satisfies the bounds.
pub enum Fits {}

/// The way that no type takes.
pub enum FitsNot {}

/// Implemented by nothing.
pub trait Never {}
