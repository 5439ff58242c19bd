//! The tools of the server: one for each skill.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::schemas::{self, Side};
use crate::contract::{Idempotency, SideEffects};
use crate::pipeline::{Runnable, SkillSet};

/// Which schemas `tools/list` shows. Calls are always validated against the contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSchemas {
    /// The form that all clients and models understand: references are resolved in place, except in a type that contains
    /// itself; optional inputs that may be null have their plain type.
    #[default]
    Portable,
    /// The schemas of the contract, unchanged.
    Contract,
}

/// Why skills cannot be tools of one server.
#[derive(Debug)]
#[non_exhaustive]
pub enum McpError {
    /// Two versions of one skill: a tool has the name of its skill, so they would be one tool.
    TwoVersions {
        /// The refs of the two.
        references: [String; 2],
    },
    /// The key that signs the state of calls with questions cannot be used; the text says why, without the key.
    RequestStateKey(String),
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoVersions {
                references: [first, second],
            } => write!(
                f,
                "{first} and {second} would be one tool of an MCP server; host one of them (name the skills to host), or each on a server of its own"
            ),
            Self::RequestStateKey(reason) => f.write_str(reason),
        }
    }
}

impl Error for McpError {}

/// A tool as `tools/list` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    input_schema: Value,
    output_schema: Value,
    annotations: Annotations,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has these four")]
struct Annotations {
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

/// The tools, by name.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    /// As JSON, sorted by name.
    listed: Vec<Box<RawValue>>,
    by_name: HashMap<&'static str, Entry>,
    /// The hash of the names: cursors hold it.
    fingerprint: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    runnable: Arc<Runnable>,
    #[cfg_attr(
        not(feature = "mcp-http"),
        expect(dead_code, reason = "compared with headers of HTTP")
    )]
    mirrors: Vec<Mirror>,
}

/// An argument that callers over HTTP repeat in a header, for proxies that route by it.
#[derive(Debug, Clone)]
#[cfg_attr(
    not(feature = "mcp-http"),
    expect(dead_code, reason = "compared with headers of HTTP")
)]
pub(super) struct Mirror {
    /// The names of the properties from the root to the argument.
    pub(super) path: Vec<String>,
    /// The name of the header, in lower case.
    pub(super) header: String,
}

impl Tools {
    pub(super) fn new(skills: &SkillSet, schemas: ToolSchemas) -> Result<Self, McpError> {
        let mut sorted: Vec<&Arc<Runnable>> = skills
            .iter()
            .filter_map(|runnable| skills.get(runnable.skill().reference()))
            .collect();
        sorted.sort_by_key(|runnable| runnable.skill().name());
        let (mut listed, mut by_name) = (Vec::new(), HashMap::<_, Entry>::new());
        let mut hasher = DefaultHasher::new();
        for runnable in sorted {
            let name = runnable.skill().name();
            name.hash(&mut hasher);
            // The fields of a tool are plain JSON, so serializing them cannot fail.
            listed.extend(to_raw_value(&tool(runnable, schemas)));
            let mut mirrors = Vec::new();
            find_mirrors(
                &runnable.described().contract().inputs,
                &mut Vec::new(),
                &mut mirrors,
            );
            let entry = Entry {
                runnable: Arc::clone(runnable),
                mirrors,
            };
            if let Some(other) = by_name.insert(name, entry) {
                let references =
                    [other.runnable.skill(), runnable.skill()].map(|skill| skill.reference().to_owned());
                return Err(McpError::TwoVersions { references });
            }
        }
        Ok(Self {
            listed,
            by_name,
            fingerprint: hasher.finish(),
        })
    }

    /// The skill behind a tool.
    pub(super) fn skill(&self, name: &str) -> Option<&Arc<Runnable>> {
        self.by_name.get(name).map(|entry| &entry.runnable)
    }

    /// The arguments of a tool that callers repeat in headers.
    #[cfg(feature = "mcp-http")]
    pub(super) fn mirrors(&self, name: &str) -> &[Mirror] {
        self.by_name
            .get(name)
            .map_or(&[], |entry| entry.mirrors.as_slice())
    }

    /// The headers that callers of any tool repeat arguments in, sorted.
    #[cfg(feature = "mcp-http")]
    pub(super) fn mirrored(&self) -> BTreeSet<&str> {
        let mirrors = self.by_name.values().flat_map(|entry| &entry.mirrors);
        mirrors.map(|mirror| mirror.header.as_str()).collect()
    }

    /// The names, sorted.
    pub(super) fn names(&self) -> BTreeSet<&'static str> {
        self.by_name.keys().copied().collect()
    }

    /// One page as JSON, and the cursor of the next; `None` for a cursor that is not of this list.
    pub(super) fn page(
        &self,
        cursor: Option<&str>,
        size: usize,
    ) -> Option<(&[Box<RawValue>], Option<String>)> {
        let from = match cursor {
            None => 0,
            Some(cursor) => self.position(cursor)?,
        };
        let to = from.saturating_add(size.max(1)).min(self.listed.len());
        let next = (to < self.listed.len()).then(|| self.cursor(to));
        Some((self.listed.get(from..to)?, next))
    }

    /// A position in this list. The cursor of another list is rejected, instead of skipping some tools.
    fn cursor(&self, position: usize) -> String {
        format!("{position:x}-{:016x}", self.fingerprint)
    }

    fn position(&self, cursor: &str) -> Option<usize> {
        let (position, _) = cursor.split_once('-')?;
        let position = usize::from_str_radix(position, 16).ok()?;
        (position < self.listed.len() && self.cursor(position) == cursor).then_some(position)
    }
}

/// Finds the properties that are marked with `x-mcp-header`.
fn find_mirrors(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirror>) {
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        path.push(name.clone());
        let header = property.get("x-mcp-header").and_then(Value::as_str);
        if let Some(header) = header.filter(|header| !header.is_empty()) {
            found.push(Mirror {
                path: path.clone(),
                header: format!("mcp-param-{}", header.to_ascii_lowercase()),
            });
        }
        find_mirrors(property, path, found);
        path.pop();
    }
}

fn tool(runnable: &Runnable, schemas: ToolSchemas) -> Tool<'_> {
    let described = runnable.described();
    let (spec, contract) = (described.spec(), described.contract());
    let schema = |schema: &Value, side: Side| match schemas {
        ToolSchemas::Portable => schemas::portable(schema, side),
        ToolSchemas::Contract => schema.clone(),
    };
    let effects = spec.side_effects;
    Tool {
        name: runnable.skill().name(),
        title: described.metadata().get("title").and_then(Value::as_str),
        description: &spec.description,
        input_schema: schema(&contract.inputs, Side::Inputs),
        output_schema: schema(&contract.outputs, Side::Outputs),
        annotations: Annotations {
            read_only_hint: effects != SideEffects::ExternalWrite,
            destructive_hint: effects == SideEffects::ExternalWrite,
            idempotent_hint: effects == SideEffects::None || contract.idempotency != Idempotency::None,
            open_world_hint: effects != SideEffects::None,
        },
    }
}
