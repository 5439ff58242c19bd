//! From a type's schema as schemars writes it to the schema of a contract. Not generic: a type contributes one
//! function pointer, so that all of this is compiled once and not per skill.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::problem::{SchemaProblem, SchemaProblemKind};
use super::refs::{self, Defs};
use super::root::{self, Kinds};
use super::{
    OutputShape, Outputs, contradictions, defaults, inline_refs, normalize, serialized, short_type_name,
};
use crate::keywords::rank;
use crate::validation::DIALECT;
use crate::walk::bottom_up;

/// Writes the schema of one type.
type Write = fn(&mut SchemaGenerator) -> Schema;

pub(super) fn inputs(write: Write, type_name: &str) -> Result<Value, SchemaProblem> {
    let mut draft = draft(
        write,
        type_name,
        SchemaSettings::draft2020_12().for_deserialize(),
        "inputs",
    )?;
    let kinds = root::kinds(&draft.root, &draft.defs);
    if !kinds.has(Kinds::OBJECT) {
        let name = short_type_name(type_name);
        let what = kinds.words();
        let help = if kinds == Kinds::NULL {
            "leave the parameter out when the skill takes no inputs"
        } else {
            "make it a field of a struct"
        };
        return Err(SchemaProblem {
            kind: SchemaProblemKind::NotAnObject,
            message: format!(
                "`{name}` cannot be the inputs of a skill: it is {what}, and the inputs are a JSON object; {help}"
            ),
            type_name: name,
            pointer: String::new(),
        });
    }
    draft.root = root::object(&draft.root, &draft.defs);
    Ok(draft.finish())
}

pub(super) fn outputs(write: Write, type_name: &str) -> Result<Outputs, SchemaProblem> {
    let mut draft = draft(
        write,
        type_name,
        SchemaSettings::draft2020_12().for_serialize(),
        "outputs",
    )?;
    let all = std::iter::once(&mut draft.root).chain(draft.defs.values_mut());
    all.for_each(serialized::loosen);
    let kinds = root::kinds(&draft.root, &draft.defs);
    let shape = if kinds == Kinds::OBJECT {
        draft.root = root::object(&draft.root, &draft.defs);
        OutputShape::Object
    } else if kinds == Kinds::NULL {
        draft.root = root::empty();
        OutputShape::Empty
    } else {
        draft.root = root::wrapped(draft.root);
        OutputShape::Wrapped
    };
    Ok(Outputs {
        schema: draft.finish(),
        shape,
    })
}

/// A schema on its way.
struct Draft {
    root: Value,
    defs: Defs,
}

fn draft(
    write: Write,
    type_name: &str,
    settings: SchemaSettings,
    side: &str,
) -> Result<Draft, SchemaProblem> {
    let mut generator = settings.into_generator();
    let mut root = write(&mut generator).to_value();
    let mut defs = generator.take_definitions(false);
    let name = short_type_name(type_name);
    if let Err(reference) = refs::rename(&mut root, &mut defs) {
        return Err(SchemaProblem {
            kind: SchemaProblemKind::UnresolvedReference,
            message: format!(
                "the schema of the {side} `{name}` refers to `{reference}`, which is not in it; in a `JsonSchema` \
                 written by hand refer to another type with `generator.subschema_for`"
            ),
            type_name: name,
            pointer: String::new(),
        });
    }
    std::iter::once(&mut root)
        .chain(defs.values_mut())
        .for_each(normalize::normalize);
    let shared = defs.clone();
    std::iter::once(&mut root)
        .chain(defs.values_mut())
        .for_each(|schema| inline_refs::merge_variants(schema, &shared));
    if let Some(found) = contradictions::find(&root, &defs, side == "inputs") {
        let place = match found.pointer.as_str() {
            "" => String::new(),
            pointer => format!(" at `{pointer}`"),
        };
        let inside = match found.owner {
            Some(owner) if owner != name => format!(", in the type `{owner}`"),
            _ => String::new(),
        };
        return Err(SchemaProblem {
            kind: SchemaProblemKind::Unsatisfiable,
            message: format!(
                "no value can satisfy the schema of the {side} `{name}`{place}{inside}: {}",
                found.reason
            ),
            type_name: name,
            pointer: found.pointer,
        });
    }
    Ok(Draft { root, defs })
}

impl Draft {
    fn finish(mut self) -> Value {
        inline_refs::inline_refs(&mut self.root, &mut self.defs);
        let shared = self.defs.clone();
        for schema in std::iter::once(&mut self.root).chain(self.defs.values_mut()) {
            defaults::normalize(schema, &shared);
            sort_keywords(schema);
        }
        let mut whole = Map::new();
        whole.insert("$schema".to_owned(), DIALECT.into());
        if let Value::Object(root) = self.root {
            whole.extend(root);
        }
        if !self.defs.is_empty() {
            whole.insert("$defs".to_owned(), Value::Object(self.defs));
        }
        Value::Object(whole)
    }
}

/// Puts the keywords of every schema in `schema` into the order in which they are written. The order of properties stays.
fn sort_keywords(schema: &mut Value) {
    bottom_up(schema, &mut |node| {
        let mut entries: Vec<(String, Value)> = std::mem::take(node).into_iter().collect();
        entries.sort_by_key(|(keyword, _)| rank(keyword));
        node.extend(entries);
    });
}
