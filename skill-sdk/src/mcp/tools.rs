//! The tools: one for each skill.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use super::served::{self, Side};
use crate::contract::{Idempotency, SideEffects};
use crate::pipeline::{Runnable, SkillSet};

/// Which schemas `tools/list` shows. What is checked is always the contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSchemas {
    /// The form that clients and models read alike: references resolved in place, except in a type that holds itself;
    /// inputs that may be left out and may be null have their plain type.
    #[default]
    Portable,
    /// The schemas of the contract, untouched.
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

/// The tools of a host, by name.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    /// Sorted by name.
    listed: Vec<Tool>,
    /// The position in the list, and the skill behind.
    by_name: HashMap<&'static str, Entry>,
    /// Changes whenever the list does.
    fingerprint: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    position: usize,
    runnable: Arc<Runnable>,
    mirrors: Vec<Mirror>,
}

/// An argument that callers over HTTP repeat in a header, for proxies that route by it.
#[derive(Debug, Clone)]
pub(super) struct Mirror {
    /// The names of the properties from the root to the argument.
    pub(super) path: Vec<String>,
    /// The name of the header, in lower case.
    pub(super) header: String,
}

impl Tools {
    pub(super) fn new(host: &SkillSet, schemas: ToolSchemas) -> Result<Self, McpError> {
        let mut skills: Vec<&Arc<Runnable>> = host
            .iter()
            .filter_map(|runnable| host.get(runnable.skill().reference()))
            .collect();
        skills.sort_by_key(|runnable| runnable.skill().name());
        for pair in skills.windows(2) {
            let [first, second] = [pair[0].skill(), pair[1].skill()];
            if first.name() == second.name() {
                return Err(McpError::TwoVersions {
                    references: [first.reference().to_owned(), second.reference().to_owned()],
                });
            }
        }
        let listed: Vec<Tool> = skills.iter().map(|runnable| tool(runnable, schemas)).collect();
        let by_name = skills
            .iter()
            .enumerate()
            .map(|(position, runnable)| {
                let mut found = Vec::new();
                mirrors(
                    &runnable.described().contract().inputs,
                    &mut Vec::new(),
                    &mut found,
                );
                let entry = Entry {
                    position,
                    runnable: Arc::clone(runnable),
                    mirrors: found,
                };
                (runnable.skill().name(), entry)
            })
            .collect();
        let fingerprint = fingerprint(skills.iter().map(|runnable| runnable.skill().name()));
        Ok(Self {
            listed,
            by_name,
            fingerprint,
        })
    }

    /// The skill behind a tool.
    pub(super) fn skill(&self, name: &str) -> Option<&Arc<Runnable>> {
        self.by_name.get(name).map(|entry| &entry.runnable)
    }

    /// The tool of a name.
    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        let entry = self.by_name.get(name)?;
        self.listed.get(entry.position)
    }

    /// What callers of a tool repeat in headers.
    pub(super) fn mirrors(&self, name: &str) -> &[Mirror] {
        self.by_name
            .get(name)
            .map_or(&[], |entry| entry.mirrors.as_slice())
    }

    /// The headers that callers of any tool repeat arguments in, sorted.
    pub(super) fn mirrored(&self) -> BTreeSet<&str> {
        self.by_name
            .values()
            .flat_map(|entry| &entry.mirrors)
            .map(|mirror| mirror.header.as_str())
            .collect()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().map(|tool| tool.name.as_ref())
    }

    /// One page, and the cursor of the next; `None` for a cursor that is none of this list.
    pub(super) fn page(&self, cursor: Option<&str>, size: usize) -> Option<(Vec<Tool>, Option<String>)> {
        let from = match cursor {
            None => 0,
            Some(cursor) => self.position(cursor)?,
        };
        let to = from.saturating_add(size.max(1)).min(self.listed.len());
        let next = (to < self.listed.len()).then(|| self.cursor(to));
        Some((self.listed.get(from..to)?.to_vec(), next))
    }

    /// Says where to go on, and in which list: one of another set of tools is refused instead of skipping some.
    fn cursor(&self, position: usize) -> String {
        format!("{position:x}-{:016x}", self.fingerprint)
    }

    fn position(&self, cursor: &str) -> Option<usize> {
        let (position, _) = cursor.split_once('-')?;
        let position = usize::from_str_radix(position, 16).ok()?;
        (position < self.listed.len() && self.cursor(position) == cursor).then_some(position)
    }
}

/// The properties that are marked with `x-mcp-header`.
fn mirrors(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirror>) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str)
            && !header.is_empty()
        {
            found.push(Mirror {
                path: path.clone(),
                header: format!("mcp-param-{}", header.to_ascii_lowercase()),
            });
        }
        mirrors(property, path, found);
        path.pop();
    }
}

/// FNV-1a over the names.
fn fingerprint<'a>(names: impl Iterator<Item = &'a str>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for name in names {
        for byte in name.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

fn tool(runnable: &Runnable, schemas: ToolSchemas) -> Tool {
    let (skill, described) = (runnable.skill(), runnable.described());
    let (spec, contract) = (described.spec(), described.contract());
    let schema = |contract: &Value, side: Side| -> Arc<Map<String, Value>> {
        Arc::new(match (schemas, contract) {
            (ToolSchemas::Portable, _) => served::schema(contract, side),
            (ToolSchemas::Contract, Value::Object(schema)) => schema.clone(),
            (ToolSchemas::Contract, _) => Map::new(),
        })
    };
    let annotations = ToolAnnotations::new()
        .read_only(spec.side_effects != SideEffects::ExternalWrite)
        .destructive(spec.side_effects == SideEffects::ExternalWrite)
        .idempotent(spec.side_effects == SideEffects::None || contract.idempotency != Idempotency::None)
        .open_world(spec.side_effects != SideEffects::None);
    let mut tool = Tool::new(
        skill.name(),
        spec.description.clone(),
        schema(&contract.inputs, Side::Inputs),
    )
    .with_raw_output_schema(schema(&contract.outputs, Side::Outputs))
    .with_annotations(annotations);
    if let Some(title) = described.metadata().get("title").and_then(Value::as_str) {
        tool.title = Some(title.to_owned());
    }
    tool
}
