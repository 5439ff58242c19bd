//! Validation of JSON against the schemas of a contract, in the platform's dialect of regular expressions.
//!
//! A [`Schema`] is compiled once. Most texts are valid, so a text is first read along a plan of the schema
//! ([`scan`]), which builds no tree of it and answers "surely valid" or "not sure". In the second case the text is parsed and
//! [`walk`] decides and names what is wrong. Both take time linear in the text, also where alternatives refer to themselves,
//! and end at a budget of steps.
//!
//! The `jsonschema` crate validates the keywords that look at one value only. It also validates the rare handwritten schema
//! with keywords whose meaning depends on the whole document; such a schema is rejected if it is recursive as well.

mod choice;
mod dialect;
#[cfg(any(feature = "host", feature = "testing"))]
mod examples;
mod keywords;
mod scan;
#[cfg(test)]
mod tests;
mod violations;
mod walk;

use std::collections::HashMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

#[cfg(any(feature = "host", feature = "testing"))]
pub(crate) use self::examples::check_examples;
#[cfg(feature = "host")]
pub(crate) use self::examples::{check_defaults, hidden_defaults};
use self::scan::Scan;
pub(crate) use self::violations::Violation;
use self::walk::Walk;
use crate::contract::json::{self as checked_json, Plain};

/// How many violations are reported: the first ones, ordered by path.
const MAX_VIOLATIONS: usize = 20;

/// How many steps validation may take: a constant and so many for each byte of the text.
const MIN_STEPS: usize = 200_000;
const STEPS_PER_BYTE: usize = 32;

/// How many steps validation of a value may take whose text is not known.
#[cfg(any(feature = "host", feature = "llm", feature = "mcp", feature = "testing", test))]
const VALUE_STEPS: usize = 10_000_000;

/// The most errors of `jsonschema` that are looked at; it has no bound itself.
const MAX_ERRORS: usize = 1_000;

/// Why a text is not valid.
#[derive(Debug)]
pub(crate) enum Invalid {
    /// The text is not JSON that can be read.
    NotJson {
        /// Where it could not be read, such as at a number out of range.
        path: String,
        reason: String,
    },
    /// The text is JSON, but not an object; the value is of this kind.
    NotAnObject(&'static str),
    /// What breaks the schema, at most [`MAX_VIOLATIONS`], ordered by path.
    Violations(Vec<Violation>),
    /// The verdict would take more steps than are allowed.
    TooComplex,
}

impl Invalid {
    /// As violations, for callers to which it does not matter how validation failed.
    #[cfg(any(feature = "host", feature = "llm", feature = "mcp", feature = "testing", test))]
    pub(crate) fn into_violations(self) -> Vec<Violation> {
        match self {
            Self::NotJson { path, reason } => vec![Violation::at(path, format!("it is not JSON: {reason}"))],
            Self::NotAnObject(kind) => {
                vec![Violation::at(
                    "/".to_owned(),
                    format!("it must be a JSON object, got {kind}"),
                )]
            }
            Self::Violations(violations) => violations,
            Self::TooComplex => vec![Violation::at(
                "/".to_owned(),
                "it is too complex to be validated".to_owned(),
            )],
        }
    }
}

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Schema {
    /// On the heap, since its parts are known by their addresses.
    document: Box<Value>,
    /// Accepts most valid texts at a fraction of the cost. `None` where the schema cannot be planned.
    scan: Option<Scan>,
    /// Validates the whole document, where [`walk`] does not know all of its keywords.
    whole: Option<Validator>,
    /// Validators for [`walk`]; made on first use.
    own: OnceLock<Own>,
}

impl Schema {
    /// Compiles a schema, or says why it cannot be used.
    pub(crate) fn compile(document: &Value) -> Result<Self, String> {
        // Also checks that it is a valid schema and that its references lead somewhere.
        let whole = dialect::compile(document)?;
        let whole = keywords::needs_jsonschema(document)?.then_some(whole);
        let document = Box::new(document.clone());
        Ok(Self {
            scan: whole.is_none().then(|| Scan::compile(&document)).flatten(),
            document,
            whole,
            own: OnceLock::new(),
        })
    }

    /// Validates a JSON text, which must be an object.
    pub(crate) fn validate(&self, text: &str) -> Result<(), Invalid> {
        if self.scan.as_ref().is_some_and(|scan| scan.accepts(text)) {
            return Ok(());
        }
        let value = checked_json::parse(text.as_bytes()).map_err(|error| unreadable(text, &error))?;
        if !value.is_object() {
            return Err(Invalid::NotAnObject(kind(&value)));
        }
        self.within(
            &value,
            text.len()
                .saturating_mul(STEPS_PER_BYTE)
                .saturating_add(MIN_STEPS),
        )
    }

    /// Validates a value.
    #[cfg(any(feature = "host", feature = "llm", feature = "mcp", feature = "testing", test))]
    pub(crate) fn validate_value(&self, value: &Value) -> Result<(), Invalid> {
        self.within(value, VALUE_STEPS)
    }

    fn within(&self, value: &Value, steps: usize) -> Result<(), Invalid> {
        match &self.whole {
            Some(whole) if whole.is_valid(value) => Ok(()),
            Some(whole) => {
                let errors = whole.iter_errors(value).take(MAX_ERRORS);
                Err(Invalid::Violations(violations::of_errors(errors)))
            }
            None => Walk::new(self, steps).run(value),
        }
    }

    /// The schema that a reference leads to.
    fn target(&self, reference: &str) -> Option<&Value> {
        self.document.pointer(reference.strip_prefix('#')?)
    }

    /// The validator of a schema's keywords that look at one value only, if it has any.
    fn own(&self, members: &Map<String, Value>) -> Option<&Validator> {
        self.validators()
            .by_schema
            .get(&std::ptr::from_ref(members).addr())
    }

    /// Whether a name matches a pattern of the document.
    fn matches(&self, pattern: &str, name: &str) -> bool {
        let validator = self.validators().by_pattern.get(pattern);
        validator.is_none_or(|validator| validator.is_valid(&Value::from(name)))
    }

    fn validators(&self) -> &Own {
        self.own.get_or_init(|| {
            let mut own = Own::default();
            for members in keywords::schemas_of(&self.document) {
                let validator = keywords::own(members).and_then(|own| dialect::compile(&own).ok());
                let address = std::ptr::from_ref(members).addr();
                own.by_schema
                    .extend(validator.map(|validator| (address, validator)));
                let patterns = members.get("patternProperties").and_then(Value::as_object);
                for pattern in patterns.into_iter().flat_map(Map::keys) {
                    let validator = dialect::compile(&json!({"pattern": pattern})).ok();
                    own.by_pattern
                        .extend(validator.map(|validator| (pattern.clone(), validator)));
                }
            }
            own
        })
    }
}

/// Validators of what looks at one value only.
#[derive(Debug, Default)]
struct Own {
    /// Of the keywords of a schema, by its address.
    by_schema: HashMap<usize, Validator>,
    /// Of names, by pattern.
    by_pattern: HashMap<String, Validator>,
}

/// Why a text cannot be parsed, and where.
fn unreadable(text: &str, error: &serde_json::Error) -> Invalid {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize::<_, Plain>(&mut reader);
    Invalid::NotJson {
        path: read.map_or_else(
            |error| violations::path_of_error(error.path()),
            |_| "/".to_owned(),
        ),
        reason: error.to_string(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
