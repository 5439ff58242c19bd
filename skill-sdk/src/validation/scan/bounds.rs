//! Bounds of numbers.

use serde_json::{Map, Number, Value};

use super::number::Scanned;

/// Up to this size every integer is a double.
const EXACT: i64 = 1 << 53;

/// The bounds of one node.
#[derive(Debug)]
pub(super) struct Bounds {
    /// The least integer that is allowed.
    least: i128,
    /// The greatest integer that is allowed.
    greatest: i128,
    multiple_of: Option<i64>,
    /// Whether there is a bound at all.
    some: bool,
    /// The bounds as they are compared with fractions; `None` when one cannot be compared exactly.
    fractions: Option<Fractions>,
}

#[derive(Debug)]
struct Fractions {
    minimum: f64,
    exclusive_minimum: f64,
    maximum: f64,
    exclusive_maximum: f64,
}

impl Fractions {
    const ALL: Self = Self {
        minimum: f64::NEG_INFINITY,
        exclusive_minimum: f64::NEG_INFINITY,
        maximum: f64::INFINITY,
        exclusive_maximum: f64::INFINITY,
    };
}

impl Bounds {
    /// The bounds that a schema has; `None` when they are for the validator.
    pub(super) fn read(schema: &Map<String, Value>) -> Option<Self> {
        let multiple_of = match schema.get("multipleOf") {
            None => None,
            Some(divisor) => Some(divisor.as_i64().filter(|divisor| (1..EXACT).contains(divisor))?),
        };
        let mut bounds = Self {
            least: i128::MIN,
            greatest: i128::MAX,
            multiple_of,
            some: multiple_of.is_some(),
            // Whether a fraction is a multiple is for the validator.
            fractions: multiple_of.is_none().then_some(Fractions::ALL),
        };
        for keyword in ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"] {
            let Some(limit) = schema.get(keyword) else {
                continue;
            };
            let Value::Number(limit) = limit else {
                return None;
            };
            bounds.narrow(keyword, &Limit::read(limit)?);
        }
        Some(bounds)
    }

    fn narrow(&mut self, keyword: &str, limit: &Limit) {
        self.some = true;
        match keyword {
            "minimum" => self.least = self.least.max(limit.ceil),
            "exclusiveMinimum" => self.least = self.least.max(limit.floor.saturating_add(1)),
            "maximum" => self.greatest = self.greatest.min(limit.floor),
            _ => self.greatest = self.greatest.min(limit.ceil.saturating_sub(1)),
        }
        let Some((fractions, double)) = self.fractions.as_mut().zip(limit.double) else {
            self.fractions = None;
            return;
        };
        match keyword {
            "minimum" => fractions.minimum = double,
            "exclusiveMinimum" => fractions.exclusive_minimum = double,
            "maximum" => fractions.maximum = double,
            _ => fractions.exclusive_maximum = double,
        }
    }

    /// Whether there are none.
    pub(super) fn is_free(&self) -> bool {
        !self.some
    }

    /// Whether the number is surely within the bounds.
    pub(super) fn hold(&self, number: &Scanned<'_>) -> bool {
        match number {
            Scanned::Integer(integer) => {
                let within = (self.least..=self.greatest).contains(&i128::from(*integer));
                within
                    && self
                        .multiple_of
                        .is_none_or(|divisor| (-EXACT..EXACT).contains(integer) && integer % divisor == 0)
            }
            // What fits 64 bits is compared exactly by the validator, even with a bound that is a fraction.
            Scanned::Other(text) if let Some(integer) = long_integer(text) => {
                self.multiple_of.is_none() && (self.least..=self.greatest).contains(&integer)
            }
            Scanned::Other(_) => self.fractions.as_ref().is_some_and(|bounds| {
                number.double().is_some_and(|double| {
                    bounds.minimum <= double
                        && bounds.exclusive_minimum < double
                        && double <= bounds.maximum
                        && double < bounds.exclusive_maximum
                })
            }),
        }
    }
}

/// The value of a plain integer that the parser of values keeps as one.
fn long_integer(text: &str) -> Option<i128> {
    let unsigned = text.parse::<u64>().map(i128::from);
    // `-0` is a double.
    unsigned
        .or_else(|_| text.parse::<i64>().map(i128::from))
        .ok()
        .filter(|integer| *integer != 0)
}

/// One bound.
struct Limit {
    floor: i128,
    ceil: i128,
    /// The bound, if a double holds it exactly.
    double: Option<f64>,
}

impl Limit {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a bound beyond what fits is clamped, which no 64-bit integer can tell from the bound itself"
    )]
    fn read(number: &Number) -> Option<Self> {
        if let Some(integer) = number.as_i128() {
            return Some(Self {
                floor: integer,
                ceil: integer,
                double: i32::try_from(integer).ok().map(f64::from),
            });
        }
        let double = number.as_f64()?;
        Some(Self {
            floor: double.floor() as i128,
            ceil: double.ceil() as i128,
            double: Some(double),
        })
    }
}
