//! The tools of the server: one for each skill.

use std::collections::BTreeMap;
#[cfg(feature = "mcp-http")]
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

pub use crate::contract::schema::ToolNames;
use crate::contract::schema::{Side, ToolSkill, portable, tool_names};
use crate::contract::{Idempotency, Implementation, SideEffects, compare_versions};
use crate::error::SkillError;
use crate::pipeline::not_hosted;
use crate::pipeline::{Runnable, SkillSet};
use crate::serve::{ToolOptions, ToolSchemas};

/// Why skills cannot be tools of one server.
#[derive(Debug)]
#[non_exhaustive]
pub enum McpError {
    /// Two skills would be one tool.
    OneTool {
        /// The refs of the two.
        references: [String; 2],
    },
    /// The key that signs the state of calls with questions cannot be used; the text says why, without the key.
    RequestStateKey(String),
}

impl fmt::Display for McpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneTool {
                references: [first, second],
            } => write!(
                f,
                "{first} and {second} would be one tool: rename one of them, or declare a name for its tool: implementation = mcp(\"…\", tool = \"…\")"
            ),
            Self::RequestStateKey(reason) => f.write_str(reason),
        }
    }
}

impl Error for McpError {}

/// The tools.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    /// As `tools/list` shows them, in the order of the names.
    listed: Vec<Value>,
    /// The skills by every name that calls may use.
    by_name: BTreeMap<String, Arc<Entry>>,
}

#[derive(Debug)]
struct Entry {
    runnable: Arc<Runnable>,
    #[cfg(feature = "mcp-http")]
    mirrors: Vec<Mirror>,
}

/// An argument that callers over HTTP repeat in a header, for proxies that route by it.
#[cfg(feature = "mcp-http")]
#[derive(Debug)]
pub(super) struct Mirror {
    /// The names of the properties from the root to the argument.
    pub(super) path: Vec<String>,
    /// The name of the header, in lower case.
    pub(super) header: String,
}

impl Tools {
    pub(super) fn new(skills: &SkillSet, options: ToolOptions) -> Result<Self, McpError> {
        let mut runnables: Vec<_> = skills
            .iter()
            .filter_map(|runnable| skills.get(runnable.skill().reference()))
            .collect();
        runnables.sort_by(|a, b| {
            let (a, b) = (a.skill(), b.skill());
            let by_name = a.name().cmp(b.name());
            by_name.then_with(|| compare_versions(a.version(), b.version()))
        });
        let named = runnables.iter().map(|runnable| ToolSkill {
            name: runnable.skill().name(),
            version: runnable.skill().version(),
            declared: match &runnable.described().contract().implementation {
                Implementation::Mcp { entrypoint, .. } => Some(entrypoint),
                _ => None,
            },
        });
        let named: Vec<_> = named.collect();
        let listed = tool_names(&named, options.names, options.all_versions).map_err(|indexes| {
            let references =
                <[usize; 2]>::from(indexes).map(|index| runnables[index].skill().reference().to_owned());
            McpError::OneTool { references }
        })?;
        let (mut tools, mut by_name, mut aliases, mut older) =
            (BTreeMap::new(), BTreeMap::new(), Vec::new(), Vec::new());
        for ((runnable, skill), name) in runnables.into_iter().zip(named).zip(listed) {
            let reference = runnable.skill().reference();
            let entry = Arc::new(Entry {
                runnable: Arc::clone(runnable),
                #[cfg(feature = "mcp-http")]
                mirrors: mirrors(&runnable.described().contract().inputs),
            });
            let own = [
                reference.to_owned(),
                skill.name.to_owned(),
                skill.tool_name(ToolNames::Portable),
            ];
            aliases.extend(own.map(|alias| (alias, Arc::clone(&entry))));
            match name {
                Some(name) => {
                    tools.insert(name.clone(), tool(&name, runnable, options.schemas));
                    by_name.insert(name, entry);
                }
                None => older.push(reference),
            }
        }
        if !older.is_empty() {
            tracing::info!(
                skills = older.join(", "),
                "older versions are not listed as tools (--all-versions)"
            );
        }
        // The newest version comes last, and its names are its own.
        for (alias, entry) in aliases.into_iter().rev() {
            by_name.entry(alias).or_insert(entry);
        }
        let listed = tools.into_values().collect();
        Ok(Self { listed, by_name })
    }

    /// The skill behind a tool.
    pub(super) fn skill(&self, name: &str) -> Result<&Arc<Runnable>, SkillError> {
        let references = self
            .by_name
            .keys()
            .map(String::as_str)
            .filter(|known| known.contains('@'));
        match self.by_name.get(name) {
            Some(entry) => Ok(&entry.runnable),
            None if name.contains('@') => Err(not_hosted(name, references)),
            None => Err(not_hosted(name, self.names())),
        }
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

    /// The listed names, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().filter_map(|tool| tool["name"].as_str())
    }

    /// One page, and the cursor of the next, which is the name of its first tool; `None` for a cursor that is not of this list.
    pub(super) fn page(&self, cursor: Option<&str>, size: usize) -> Option<(&[Value], Option<&str>)> {
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

fn tool(name: &str, runnable: &Runnable, schemas: ToolSchemas) -> Value {
    let described = runnable.described();
    let (spec, contract) = (described.spec(), described.contract());
    let schema = |schema: &Value, side: Side| match schemas {
        ToolSchemas::Portable => portable(schema, side),
        ToolSchemas::Contract => schema.clone(),
    };
    let effects = spec.side_effects;
    let mut tool = json!({"name": name});
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
