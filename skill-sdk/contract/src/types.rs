//! Types of JSON values.

use serde_json::{Map, Value};

/// A set of types of JSON values. A number that is written with a fraction or an exponent is not an integer here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    pub const OBJECT: Self = Self(1);
    pub const ARRAY: Self = Self(2);
    pub const STRING: Self = Self(4);
    pub const INTEGER: Self = Self(8);
    pub const FRACTION: Self = Self(16);
    pub const NUMBER: Self = Self::INTEGER.or(Self::FRACTION);
    pub const BOOLEAN: Self = Self(32);
    pub const NULL: Self = Self(64);
    pub const ALL: Self = Self(127);
    pub const NONE: Self = Self(0);

    /// The types that the keyword `type` names.
    pub fn read(rule: &Value) -> Option<Self> {
        if let Value::Array(names) = rule {
            return names
                .iter()
                .try_fold(Self::NONE, |types, name| Some(types.or(Self::read(name)?)));
        }
        Some(match rule.as_str()? {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    /// The types that a schema may allow. An integer may be written with a fraction, so it counts as any number.
    pub fn allowed(schema: &Map<String, Value>) -> Self {
        let types = schema.get("type").and_then(Self::read).unwrap_or(Self::ALL);
        if types.meets(Self::INTEGER) {
            types.or(Self::NUMBER)
        } else {
            types
        }
    }

    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The types in words: "a string or null".
    pub fn words(self) -> String {
        let names = [
            (Self::OBJECT, "an object"),
            (Self::ARRAY, "an array"),
            (Self::STRING, "a string"),
            (Self::NUMBER, "a number"),
            (Self::BOOLEAN, "a boolean"),
            (Self::NULL, "null"),
        ];
        let some = names.into_iter().filter(|(types, _)| self.meets(*types));
        some.map(|(_, name)| name).collect::<Vec<_>>().join(" or ")
    }

    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub fn meets(self, other: Self) -> bool {
        self.and(other) != Self::NONE
    }
}
