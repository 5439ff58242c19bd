//! The rules of one schema, `inputs` or `outputs`.

use serde_json::Value;

use super::text::{child, kind, quoted};
use super::tree::Tree;
use super::violation::Violation;
use super::{meta, refs};

/// The dialect that `$schema` must name. A trailing `#` is tolerated.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Checks a schema: it is an object, in the dialect 2020-12, without references to other documents, a valid JSON
/// Schema, and every reference in it leads somewhere.
///
/// `field` is `inputs` or `outputs`: pointers start with it and every violation carries it as its field.
pub fn check_schema(schema: &Value, field: &'static str) -> Vec<Violation> {
    let base = child("", field);
    let Some(members) = schema.as_object() else {
        let message = format!("`{field}` must be a JSON Schema object, not {}", kind(schema));
        return vec![Violation::invalid(base, field, message)];
    };
    let mut found = Vec::new();
    if let Some(dialect) = members.get("$schema") {
        let is = match dialect.as_str() {
            Some(uri) if uri.strip_suffix('#').unwrap_or(uri) == DIALECT => None,
            Some(uri) => Some(quoted(uri)),
            None => Some(kind(dialect).to_owned()),
        };
        found.extend(is.map(|is| {
            let message = format!("`$schema` of `{field}` is {is}: it must be \"{DIALECT}\", or be left out");
            Violation::invalid(child(&base, "$schema"), field, message)
        }));
    }
    let tree = Tree::new(schema);
    refs::check_local(&tree, &base, field, &mut found);
    meta::check(&tree, &base, field, &mut found);
    refs::check_targets(&tree, &base, field, &mut found);
    found
}
