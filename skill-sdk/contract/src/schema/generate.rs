//! From a type's schema as schemars writes it to the schema of a contract. Not generic: a type contributes one
//! function pointer, so that all of this is compiled once and not per skill.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::problem::SchemaProblem;
use super::refs::{self, Defs};
use super::root;
use super::{
    OutputShape, Outputs, contradictions, defaults, inline_refs, normalize, serialized, short_type_name,
};
use crate::keywords::rank;
use crate::types::Types;
use crate::validation::DIALECT;
use crate::walk::bottom_up;

/// Writes the schema of one type.
type Write = fn(&mut SchemaGenerator) -> Schema;

pub(super) fn inputs(write: Write, type_name: &str) -> Result<Value, SchemaProblem> {
    let name = short_type_name(type_name);
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut draft = Draft::new(write, &name, settings, "inputs")?;
    let types = root::types(&draft.root, &draft.defs);
    if !types.meets(Types::OBJECT) {
        let what = types.words();
        let help = if types == Types::NULL {
            "leave the parameter out when the skill takes no inputs"
        } else {
            "make it a field of a struct"
        };
        return Err(SchemaProblem(format!(
            "`{name}` cannot be the inputs of a skill: it is {what}, and the inputs are a JSON object; {help}"
        )));
    }
    draft.root = root::object(&draft.root, &draft.defs);
    Ok(draft.finish())
}

pub(super) fn outputs(write: Write, type_name: &str) -> Result<Outputs, SchemaProblem> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut draft = Draft::new(write, &short_type_name(type_name), settings, "outputs")?;
    draft.schemas().for_each(serialized::loosen);
    let types = root::types(&draft.root, &draft.defs);
    let shape = if types == Types::OBJECT {
        draft.root = root::object(&draft.root, &draft.defs);
        OutputShape::Object
    } else if types == Types::NULL {
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

impl Draft {
    fn new(write: Write, name: &str, settings: SchemaSettings, side: &str) -> Result<Self, SchemaProblem> {
        let mut generator = settings.into_generator();
        let mut draft = Self {
            root: write(&mut generator).to_value(),
            defs: generator.take_definitions(false),
        };
        if let Err(reference) = refs::rename(&mut draft.root, &mut draft.defs) {
            return Err(SchemaProblem(format!(
                "the schema of the {side} `{name}` refers to `{reference}`, which is not in it; in a `JsonSchema` \
                 written by hand refer to another type with `generator.subschema_for`"
            )));
        }
        draft.schemas().for_each(normalize::normalize);
        let shared = draft.defs.clone();
        draft
            .schemas()
            .for_each(|schema| inline_refs::merge_variants(schema, &shared));
        if let Some((owner, reason)) = contradictions::find(&draft.root, &draft.defs, side == "inputs") {
            let owner = owner.filter(|owner| *owner != name);
            let inside = owner.map_or(String::new(), |owner| format!(", in the type `{owner}`"));
            return Err(SchemaProblem(format!(
                "no value can satisfy the schema of the {side} `{name}`{inside}: {reason}"
            )));
        }
        Ok(draft)
    }

    /// The root and all shared types.
    fn schemas(&mut self) -> impl Iterator<Item = &mut Value> {
        std::iter::once(&mut self.root).chain(self.defs.values_mut())
    }

    fn finish(mut self) -> Value {
        inline_refs::inline_refs(&mut self.root, &mut self.defs);
        let shared = self.defs.clone();
        for schema in self.schemas() {
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
