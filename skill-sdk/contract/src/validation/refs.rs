//! References of a schema: they stay in the document, and they lead somewhere.

use serde_json::Value;

use super::violation::{Found, Violation, code};
use crate::text::{kind, quoted};
use crate::tree::{Place, Role};

const KEYWORDS: [&str; 2] = ["$ref", "$dynamicRef"];

/// Reports every field called `$ref` or `$dynamicRef` that is not a string starting with `#`.
///
/// Anywhere: in the values of `enum` and `default` too, and as the name of a property. The platform does not look at
/// what such a field means.
pub(super) fn check_local(places: &[Place<'_>], field: &'static str, found: &mut Found) {
    for place in places {
        let Some(key) = place.key.filter(|key| KEYWORDS.contains(key)) else {
            continue;
        };
        let target = place.value.as_str();
        if !target.is_some_and(|target| target.starts_with('#')) {
            let is = target.map_or_else(|| kind(place.value).to_owned(), quoted);
            let message = format!(
                "`{key}` is {is}: only references into the same document, `#…`, are allowed, and no other member may \
                 be called `{key}`"
            );
            found.0.push(Violation::error(
                code::INVALID_JSON_SCHEMA,
                &place.pointer,
                field,
                message,
            ));
        }
    }
}

/// Reports every local reference of a schema whose target does not exist or is not a schema.
pub(super) fn check_targets(places: &[Place<'_>], field: &'static str, found: &mut Found) {
    for place in places.iter().filter(|place| place.role == Role::Schema) {
        for keyword in KEYWORDS {
            let target = place.value.get(keyword).and_then(Value::as_str);
            let Some(target) = target.filter(|target| target.starts_with('#')) else {
                continue;
            };
            let problem = match resolve(places, target) {
                Some(Value::Bool(_) | Value::Object(_)) => continue,
                Some(other) => format!("leads to {}, which is not a schema", kind(other)),
                None => "leads nowhere: let it lead to a schema, for instance in `$defs`".to_owned(),
            };
            let message = format!("`{keyword}` {} {problem}", quoted(target));
            found.invalid(format!("{}/{keyword}", place.pointer), field, message);
        }
    }
}

/// The target of a local reference, `#…`. The first place is the root of the document.
fn resolve<'a>(places: &[Place<'a>], reference: &str) -> Option<&'a Value> {
    let fragment = percent_decoded(reference.strip_prefix('#')?)?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return places.first()?.value.pointer(&fragment);
    }
    let is_named = |place: &&Place<'_>| {
        let anchors = ["$anchor", "$dynamicAnchor"].map(|keyword| place.value.get(keyword));
        place.role == Role::Schema
            && anchors
                .into_iter()
                .flatten()
                .any(|name| *name == fragment.as_str())
    };
    places.iter().find(is_named).map(|place| place.value)
}

/// The text behind percent-encoding; nothing when it is broken.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let code = digit()? * 16 + digit()?;
        decoded.push(u8::try_from(code).ok()?);
    }
    String::from_utf8(decoded).ok()
}
