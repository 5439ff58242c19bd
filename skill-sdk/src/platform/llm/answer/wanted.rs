//! What an answer must be, and whether it is.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::extract;
use crate::contract::schema::{self, type_name};
use crate::error::SkillError;
use crate::platform::llm::model::ResponseSchema;
use crate::validation::{Schema, Violation};

/// How many violations a model is told of.
const MAX_VIOLATIONS: usize = 10;

/// The longest text about what is wrong, in characters.
const MAX_WHY: usize = 2000;

/// The longest name of a schema, in characters.
const MAX_NAME: usize = 64;

/// What an answer must be: an object that fits a schema and can be read as a type, or any object.
pub(crate) struct Wanted {
    of_type: Option<OfType>,
}

/// What is known of a type.
struct OfType {
    /// What a provider is told.
    told: ResponseSchema,
    compiled: Schema,
    /// Whether a value can be read as the type; says why not.
    reads: fn(&Value) -> Result<(), String>,
}

/// Why an answer was not accepted.
#[derive(Debug)]
pub(in crate::platform::llm) struct Misfit {
    /// With the values that are wrong: they are the model's own.
    pub(in crate::platform::llm) for_model: String,
    /// With places only.
    pub(in crate::platform::llm) for_caller: String,
}

impl Misfit {
    fn same(why: &str) -> Self {
        Self {
            for_model: why.to_owned(),
            for_caller: why.to_owned(),
        }
    }
}

impl Wanted {
    pub(crate) fn any_object() -> Self {
        Self { of_type: None }
    }

    /// An answer of type `T`, whose schema is called `name` for the model.
    pub(crate) fn of<T: DeserializeOwned + JsonSchema>(name: Option<&str>) -> Result<Self, SkillError> {
        let mut schema = schema::inputs::<T>().map_err(|problem| unusable::<T>(&problem))?;
        if let Some(members) = schema.as_object_mut() {
            members.shift_remove("$schema");
        }
        let of_type = OfType {
            compiled: Schema::compile(&schema).map_err(|why| unusable::<T>(&why))?,
            reads: |value| T::deserialize(value).map(drop).map_err(|error| error.to_string()),
            told: ResponseSchema {
                name: usable_name(name.unwrap_or(&T::schema_name())),
                schema,
            },
        };
        Ok(Self {
            of_type: Some(of_type),
        })
    }

    /// The schema, for a provider.
    pub(in crate::platform::llm) fn schema(&self) -> Option<ResponseSchema> {
        Some(self.of_type.as_ref()?.told.clone())
    }

    /// The object in the text of a model, if it is what is wanted.
    pub(in crate::platform::llm) fn read(&self, text: &str) -> Result<Value, Misfit> {
        let Some(value) = extract::json(text) else {
            return Err(Misfit::same("there is no JSON in the answer"));
        };
        if !value.is_object() {
            return Err(Misfit::same("the answer is not a JSON object"));
        }
        if let Some(of_type) = &self.of_type {
            of_type.check(&value)?;
        }
        Ok(value)
    }
}

impl OfType {
    fn check(&self, value: &Value) -> Result<(), Misfit> {
        let name = &self.told.name;
        self.compiled
            .validate_value(value)
            .map_err(|invalid| misfit(name, &invalid.into_violations()))?;
        (self.reads)(value).map_err(|why| Misfit {
            for_model: cut(&format!("the answer does not fit the schema `{name}`: {why}")),
            for_caller: format!("the answer cannot be read as `{name}`"),
        })
    }
}

fn unusable<T>(why: &dyn Display) -> SkillError {
    let message = format!("a model cannot be asked for `{}`: {why}", type_name::<T>());
    SkillError::terminal("llm_schema_unusable", message)
}

/// The failure of an answer that was accepted and then could not be read after all.
pub(crate) fn unreadable(why: &dyn Display) -> SkillError {
    SkillError::retryable("llm_invalid_response", "the answer of the model cannot be read")
        .with_source(why.to_string())
}

fn misfit(name: &str, violations: &[Violation]) -> Misfit {
    let told = violations.iter().take(MAX_VIOLATIONS);
    let lines: Vec<_> = told
        .clone()
        .map(|found| format!("{}: {}", found.path, found.message))
        .collect();
    let places: Vec<_> = told.map(|found| found.path.as_str()).collect();
    let start = format!("the answer does not fit the schema `{name}`");
    Misfit {
        for_model: cut(&format!("{start}: {}", lines.join("; "))),
        for_caller: cut(&format!("{start} at {}", places.join(", "))),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_WHY).collect()
}

/// A name that every provider takes.
fn usable_name(name: &str) -> String {
    let name = if name.is_empty() { "answer" } else { name };
    let usable = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let name = name.chars().take(MAX_NAME);
    name.map(|c| if usable(c) { c } else { '_' }).collect()
}
