//! Validates the reply of a model.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::extract;
use crate::contract::schema::{self, type_name};
use crate::error::SkillError;
use crate::platform::llm::model::ResponseSchema;
use crate::validation::{Schema, Violation};

/// The most violations in a re-prompt.
const MAX_VIOLATIONS: usize = 10;

/// The longest reason in a re-prompt, in characters.
const MAX_WHY: usize = 2000;

/// The longest name of a schema, in characters.
const MAX_NAME: usize = 64;

/// What a reply must be: an object that is valid for a type, or any object.
pub(crate) struct Wanted {
    of_type: Option<OfType>,
}

/// The schema of a type and how values are validated.
struct OfType {
    /// The schema for the provider.
    told: ResponseSchema,
    compiled: Schema,
    /// Deserializes a value as the type; fails with the reason.
    reads: fn(&Value) -> Result<(), String>,
}

/// Why a reply is not valid.
#[derive(Debug)]
pub(in crate::platform::llm) struct Misfit {
    /// Contains the invalid values, which are the model's own.
    pub(in crate::platform::llm) for_model: String,
    /// Contains paths only.
    pub(in crate::platform::llm) for_caller: String,
}

impl Wanted {
    pub(crate) fn any_object() -> Self {
        Self { of_type: None }
    }

    /// A reply of type `T`. The model gets its schema under `name`.
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

    /// The valid object in the text of a reply.
    pub(in crate::platform::llm) fn read(&self, text: &str) -> Result<Value, Misfit> {
        let value = extract::json(text).filter(Value::is_object).ok_or_else(|| {
            let why = "the reply contains no JSON object".to_owned();
            Misfit {
                for_model: why.clone(),
                for_caller: why,
            }
        })?;
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
            for_model: cut(&format!("the reply is not valid for the schema `{name}`: {why}")),
            for_caller: format!("the reply cannot be deserialized as `{name}`"),
        })
    }
}

fn unusable<T>(why: &dyn Display) -> SkillError {
    let message = format!("`{}` cannot be the type of a reply: {why}", type_name::<T>());
    SkillError::terminal("llm_schema_unusable", message)
}

/// The failure of a valid reply that cannot be deserialized.
pub(crate) fn unreadable(why: &dyn Display) -> SkillError {
    SkillError::retryable(
        "llm_invalid_response",
        "the reply of the model cannot be deserialized",
    )
    .with_source(why.to_string())
}

fn misfit(name: &str, violations: &[Violation]) -> Misfit {
    let told = violations.iter().take(MAX_VIOLATIONS);
    let lines: Vec<_> = told
        .clone()
        .map(|found| format!("{}: {}", found.path, found.message))
        .collect();
    let places: Vec<_> = told.map(|found| found.path.as_str()).collect();
    let start = format!("the reply is not valid for the schema `{name}`");
    Misfit {
        for_model: cut(&format!("{start}: {}", lines.join("; "))),
        for_caller: cut(&format!("{start} at {}", places.join(", "))),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_WHY).collect()
}

/// A name that every provider accepts.
fn usable_name(name: &str) -> String {
    let name = if name.is_empty() { "answer" } else { name };
    let usable = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let name = name.chars().take(MAX_NAME);
    name.map(|c| if usable(c) { c } else { '_' }).collect()
}
