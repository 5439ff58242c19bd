//! Small changes of JSON values, for tests that look for the edge of what fits.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// A small change of a value somewhere inside.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Replace(Value),
    Remove(Index),
    Insert(&'static str, Value),
    Swap(Index, Index),
    Repeat(Index),
    Add(i64),
    Wrap,
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    let pool = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.0),
        json!(0.5),
        json!(255),
        json!(256),
        json!(65536),
        json!(i64::MIN),
        json!(1_u64 << 63),
        json!(u64::MAX),
        json!(1e20),
        json!(""),
        json!("a"),
        json!("ab"),
        json!("One"),
        json!("Empty"),
        json!("nothing"),
        json!([]),
        json!([1, 2]),
        json!({}),
        json!({"a": 1}),
        json!({"New": 1}),
        json!({"t": "New", "c": 1}),
        json!({"type": "full", "a": 1, "b": []}),
    ];
    let keys = vec!["a", "b", "c", "t", "type", "size", "One", "Three", "7", "x", "id"];
    prop_oneof![
        4 => select(pool.clone()).prop_map(Change::Replace),
        3 => any::<Index>().prop_map(Change::Remove),
        2 => (select(keys), select(pool)).prop_map(|(key, value)| Change::Insert(key, value)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Change::Swap(one, other)),
        1 => any::<Index>().prop_map(Change::Repeat),
        2 => select(vec![-1, 1, 128, -256, 1 << 31]).prop_map(Change::Add),
        1 => Just(Change::Wrap),
    ]
}

/// The values inside `value`, itself first.
fn places(value: &Value, here: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                places(item, format!("{here}/{at}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(member, format!("{here}/{name}"), found);
            }
        }
        _ => {}
    }
    found.push(here);
}

/// Makes the change at one of the places in `whole`, if it can be made there.
pub(super) fn apply(whole: &mut Value, place: Index, change: Change) {
    let mut found = Vec::new();
    places(whole, String::new(), &mut found);
    let Some(value) = whole.pointer_mut(&found[place.index(found.len())]) else {
        return;
    };
    match (change, value) {
        (Change::Replace(new), value) => *value = new,
        (Change::Wrap, value) => *value = json!([value.take()]),
        (Change::Remove(at), Value::Array(items)) if !items.is_empty() => {
            items.remove(at.index(items.len()));
        }
        (Change::Remove(at), Value::Object(members)) if !members.is_empty() => {
            let name = members.keys().nth(at.index(members.len())).cloned();
            name.and_then(|name| members.shift_remove(&name));
        }
        (Change::Insert(_, new), Value::Array(items)) => items.push(new),
        (Change::Insert(key, new), Value::Object(members)) => drop(members.insert(key.to_owned(), new)),
        (Change::Swap(one, other), Value::Array(items)) if !items.is_empty() => {
            let length = items.len();
            items.swap(one.index(length), other.index(length));
        }
        (Change::Repeat(at), Value::Array(items)) if !items.is_empty() => {
            items.push(at.get(items).clone());
        }
        (Change::Add(more), Value::Number(number)) => {
            if let Some(sum) = number.as_i64().and_then(|number| number.checked_add(more)) {
                *number = sum.into();
            }
        }
        _ => {}
    }
}
