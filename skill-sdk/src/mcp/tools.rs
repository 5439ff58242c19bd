//! The tools of the server: one for each skill.

use std::collections::BTreeMap;
#[cfg(feature = "mcp-http")]
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::contract::schema::{Side, portable};
use crate::contract::{Idempotency, SideEffects};
use crate::pipeline::{Runnable, SkillSet};
use crate::serve::ToolSchemas;

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

/// The tools, by name.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    /// As `tools/list` shows them, in the order of the names.
    listed: Vec<Value>,
    by_name: BTreeMap<&'static str, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    runnable: Arc<Runnable>,
    #[cfg(feature = "mcp-http")]
    mirrors: Vec<Mirror>,
}

/// An argument that callers over HTTP repeat in a header, for proxies that route by it.
#[cfg(feature = "mcp-http")]
#[derive(Debug, Clone)]
pub(super) struct Mirror {
    /// The names of the properties from the root to the argument.
    pub(super) path: Vec<String>,
    /// The name of the header, in lower case.
    pub(super) header: String,
}

impl Tools {
    pub(super) fn new(skills: &SkillSet, schemas: ToolSchemas) -> Result<Self, McpError> {
        let mut by_name = BTreeMap::new();
        for runnable in skills
            .iter()
            .filter_map(|runnable| skills.get(runnable.skill().reference()))
        {
            let entry = Entry {
                runnable: Arc::clone(runnable),
                #[cfg(feature = "mcp-http")]
                mirrors: mirrors(&runnable.described().contract().inputs),
            };
            if let Some(Entry { runnable: other, .. }) = by_name.insert(runnable.skill().name(), entry) {
                let mut references = [&other, runnable].map(|skill| skill.skill().reference().to_owned());
                references.sort();
                return Err(McpError::TwoVersions { references });
            }
        }
        Ok(Self {
            listed: by_name
                .values()
                .map(|entry| tool(&entry.runnable, schemas))
                .collect(),
            by_name,
        })
    }

    /// The skill behind a tool.
    pub(super) fn skill(&self, name: &str) -> Option<&Arc<Runnable>> {
        self.by_name.get(name).map(|entry| &entry.runnable)
    }

    /// The arguments of a tool that callers repeat in headers.
    #[cfg(feature = "mcp-http")]
    pub(super) fn mirrors(&self, name: &str) -> &[Mirror] {
        self.by_name.get(name).map_or(&[], |entry| &entry.mirrors)
    }

    /// The headers that callers of any tool repeat arguments in, sorted.
    #[cfg(feature = "mcp-http")]
    pub(super) fn mirrored(&self) -> BTreeSet<&str> {
        let mirrors = self.by_name.values().flat_map(|entry| &entry.mirrors);
        mirrors.map(|mirror| mirror.header.as_str()).collect()
    }

    /// The names, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }

    /// One page, and the cursor of the next, which is the name of its first tool; `None` for a cursor that is not of this list.
    pub(super) fn page(&self, cursor: Option<&str>, size: usize) -> Option<(&[Value], Option<&'static str>)> {
        let from = match cursor {
            None => 0,
            Some(cursor) => self.names().position(|name| name == cursor)?,
        };
        let to = from.saturating_add(size).min(self.listed.len());
        Some((self.listed.get(from..to)?, self.names().nth(to)))
    }
}

/// The properties that are marked with `x-mcp-header`.
#[cfg(feature = "mcp-http")]
fn mirrors(schema: &Value) -> Vec<Mirror> {
    let mut found = Vec::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let header = property.get("x-mcp-header").and_then(Value::as_str);
        if let Some(header) = header.filter(|header| !header.is_empty()) {
            let header = format!("mcp-param-{}", header.to_ascii_lowercase());
            found.push(Mirror {
                path: vec![name.clone()],
                header,
            });
        }
        found.extend(mirrors(property).into_iter().map(|mut mirror| {
            mirror.path.insert(0, name.clone());
            mirror
        }));
    }
    found
}

fn tool(runnable: &Runnable, schemas: ToolSchemas) -> Value {
    let described = runnable.described();
    let (spec, contract) = (described.spec(), described.contract());
    let schema = |schema: &Value, side: Side| match schemas {
        ToolSchemas::Portable => portable(schema, side),
        ToolSchemas::Contract => schema.clone(),
    };
    let effects = spec.side_effects;
    let mut tool = json!({"name": runnable.skill().name()});
    if let Some(Value::String(title)) = described.metadata().get("title") {
        tool["title"] = title.as_str().into();
    }
    tool["description"] = spec.description.as_str().into();
    tool["inputSchema"] = schema(&contract.inputs, Side::Inputs);
    tool["outputSchema"] = schema(&contract.outputs, Side::Outputs);
    tool["annotations"] = json!({
        "readOnlyHint": effects != SideEffects::ExternalWrite,
        "destructiveHint": effects == SideEffects::ExternalWrite,
        "idempotentHint": effects == SideEffects::None || contract.idempotency != Idempotency::None,
        "openWorldHint": effects != SideEffects::None,
    });
    tool
}
