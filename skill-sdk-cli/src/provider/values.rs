//! Values that not every provider takes: names, numbers, regular expressions.

use serde_json::Value;

use super::node::short;

/// What to do about the name of a tool.
pub(crate) const RENAME: &str = "declare another one: `implementation = mcp(…, tool = \"…\")`";

/// Says that a name has other characters than letters, digits and `more`, or too many of them.
pub(super) fn bad_name(name: &str, max: usize, more: &str) -> Option<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
    let is_good = !name.is_empty() && name.len() <= max && name.chars().all(is_allowed);
    (!is_good).then(|| {
        let name = short(name);
        format!("the name `{name}` is not 1 to {max} letters, digits and characters of `{more}`")
    })
}

/// The keywords whose values hold numbers.
const WITH_NUMBERS: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "default",
    "enum",
    "const",
    "examples",
];

/// Says that there is an integer that does not fit into 64 bits once a client in JavaScript has written it.
pub(super) fn beyond_64_bits(schema: &Value) -> Option<String> {
    let found = WITH_NUMBERS
        .iter()
        .find_map(|keyword| Some((*keyword, integer_beyond_64_bits(schema.get(keyword)?)?)));
    found.map(|(keyword, number)| format!("`{keyword}` has {number}, which does not fit into 64 bits"))
}

fn integer_beyond_64_bits(value: &Value) -> Option<&Value> {
    // From the second on, JavaScript writes a number with an exponent.
    const INTEGERS: std::ops::Range<f64> = 9_223_372_036_854_775_808.0..1e21;
    match value {
        Value::Number(number) => INTEGERS.contains(&number.as_f64()?.abs()).then_some(value),
        Value::Array(items) => items.iter().find_map(integer_beyond_64_bits),
        Value::Object(members) => members.values().find_map(integer_beyond_64_bits),
        _ => None,
    }
}

/// The regular expressions of a schema.
pub(super) fn patterns(schema: &Value) -> impl Iterator<Item = &str> {
    let of_names = schema.get("patternProperties").and_then(Value::as_object);
    let of_names = of_names
        .into_iter()
        .flat_map(|members| members.keys().map(String::as_str));
    schema
        .get("pattern")
        .and_then(Value::as_str)
        .into_iter()
        .chain(of_names)
}

/// The letters that Python's `re` knows behind a backslash.
const PYTHON_ESCAPES: &str = "AbBdDsSwWZafnrtvxuUN";

/// The reason why a regular expression is rejected: it looks around, or Python does not know a part of it.
pub(super) fn not_python(pattern: &str) -> Option<String> {
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(c) = rest.chars().next() {
        let at = rest;
        rest = &rest[c.len_utf8()..];
        let lacking = match c {
            '\\' => {
                let escaped = rest.chars().next().unwrap_or_default();
                let braced = rest.starts_with("u{") || rest.starts_with("x{");
                rest = &rest[escaped.len_utf8().min(rest.len())..];
                let is_known = !escaped.is_ascii_alphabetic() || PYTHON_ESCAPES.contains(escaped);
                (braced || !is_known).then(|| format!("\\{escaped}"))
            }
            '[' | ']' => {
                in_class = c == '[';
                None
            }
            '(' if !in_class => ["(?=", "(?!", "(?<"]
                .iter()
                .find(|begin| at.starts_with(**begin))
                .map(|begin| (*begin).to_owned()),
            _ => None,
        };
        if let Some(lacking) = lacking {
            return Some(format!("the pattern `{}` has `{lacking}`", short(pattern)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_that_python_has() {
        for good in [
            "^a$",
            r"\(?=",
            r"[(?=]",
            r"^\d+\.\w{2,}$",
            r"(?P<a>b)(?:c)",
            r"\u00e9",
            r"\\p",
            "",
        ] {
            assert_eq!(not_python(good), None, "{good}");
        }
        for (bad, what) in [
            ("^(?!admin).*$", "(?!"),
            ("a(?=b)", "(?="),
            ("(?<=a)b", "(?<"),
            ("(?<name>a)", "(?<"),
            (r"^\p{Lu}+$", r"\p"),
            (r"[\P{L}]", r"\P"),
            (r"\u{1F600}", r"\u"),
            (r"[a](?!b)", "(?!"),
        ] {
            assert!(
                not_python(bad).is_some_and(|says| says.ends_with(&format!("has `{what}`"))),
                "{bad}"
            );
        }
    }

    #[test]
    fn integers_of_64_bits() {
        for good in [
            json!({"maximum": 1_u64 << 62}),
            json!({"maximum": 1e300}),
            json!({"title": 1e20}),
            json!({}),
        ] {
            assert_eq!(beyond_64_bits(&good), None, "{good}");
        }
        for bad in [
            json!({"maximum": i64::MAX}),
            json!({"minimum": i64::MIN}),
            json!({"maximum": 18_446_744_073_709_551_616.0}),
            json!({"default": {"a": [u64::MAX]}}),
            json!({"enum": [1, u64::MAX]}),
        ] {
            assert!(beyond_64_bits(&bad).is_some(), "{bad}");
        }
    }
}
