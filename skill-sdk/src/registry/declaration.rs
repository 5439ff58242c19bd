//! What the attribute `#[skill(…)]` says, as constant data.

use std::fmt;

use serde_json::{Map, Value};

use crate::context::DeclaredNames;
use crate::contract::{
    Auth, Contract, CostModel, Idempotency, Implementation, Origin, RetryPolicy, Risk, SideEffects,
};

/// How the attribute says that the implementation is reached.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum DeclaredImplementation {
    /// A function of the program.
    Local {
        /// `package.module:function`; by default that of the function itself.
        entrypoint: Option<&'static str>,
    },
    /// A host that speaks the HTTP protocol of skills.
    Http {
        /// The whole address of the skill.
        endpoint: &'static str,
        /// The audience of the token.
        audience: Option<&'static str>,
        /// The scopes of the token.
        scopes: &'static [&'static str],
    },
    /// A tool of an MCP server.
    Mcp {
        /// A URL, or `stdio:<name>`.
        endpoint: &'static str,
        /// The name of the tool; by default that of the skill.
        tool: Option<&'static str>,
        /// The audience of the token.
        audience: Option<&'static str>,
        /// The scopes of the token.
        scopes: &'static [&'static str],
    },
}

/// A JSON value that is made when it is first asked for.
type Json = fn() -> Result<Value, String>;

/// What the attribute `#[skill(…)]` says.
#[derive(Clone)]
pub struct Declaration {
    name: &'static str,
    version: &'static str,
    side_effects: SideEffects,
    risk: Risk,
    origin: Origin,
    idempotency: Idempotency,
    timeout_seconds: u32,
    retry: RetryPolicy,
    docs: &'static [&'static str],
    description: Option<&'static str>,
    permissions: &'static [&'static str],
    preconditions: Option<fn() -> Vec<Value>>,
    postconditions: Option<fn() -> Vec<Value>>,
    cost_model: Option<(&'static str, Option<f64>)>,
    implementation: DeclaredImplementation,
    inputs_schema: Option<Json>,
    outputs_schema: Option<Json>,
    title: Option<&'static str>,
    tags: &'static [&'static str],
    secrets: &'static [&'static str],
    config: &'static [&'static str],
    allowed_hosts: &'static [&'static str],
    examples: Option<Json>,
    deprecated: Option<&'static str>,
}

/// Setters in the order of the arguments, each a step of the expansion.
macro_rules! setters {
    ($($(#[$doc:meta])* $setter:ident($($argument:ident: $kind:ty),+) => $field:ident = $value:expr;)+) => {
        $($(#[$doc])*
        #[must_use]
        pub const fn $setter(mut self, $($argument: $kind),+) -> Self {
            self.$field = $value;
            self
        })+
    };
}

impl Declaration {
    /// A skill with the arguments that have no default.
    pub const fn new(
        name: &'static str,
        version: &'static str,
        side_effects: SideEffects,
        risk: Risk,
        origin: Origin,
    ) -> Self {
        Self {
            name,
            version,
            side_effects,
            risk,
            origin,
            idempotency: Idempotency::None,
            timeout_seconds: 60,
            retry: RetryPolicy {
                max_attempts: 1,
                backoff_seconds: 0,
            },
            docs: &[],
            description: None,
            permissions: &[],
            preconditions: None,
            postconditions: None,
            cost_model: None,
            implementation: DeclaredImplementation::Local { entrypoint: None },
            inputs_schema: None,
            outputs_schema: None,
            title: None,
            tags: &[],
            secrets: &[],
            config: &[],
            allowed_hosts: &[],
            examples: None,
            deprecated: None,
        }
    }

    setters! {
        /// Whether a repeated call has a second effect.
        idempotency(idempotency: Idempotency) => idempotency = idempotency;
        /// How long a call may take, in seconds.
        timeout(seconds: u32) => timeout_seconds = seconds;
        /// How often a caller may try, and how long it waits in between, in seconds.
        retry(max_attempts: u32, backoff_seconds: u32) => retry = RetryPolicy { max_attempts, backoff_seconds };
        /// The lines of the doc comment.
        docs(docs: &'static [&'static str]) => docs = docs;
        /// The description in place of the doc comment.
        description(description: &'static str) => description = Some(description);
        /// The permissions that a caller needs.
        permissions(permissions: &'static [&'static str]) => permissions = permissions;
        /// Conditions that hold before a call.
        preconditions(conditions: fn() -> Vec<Value>) => preconditions = Some(conditions);
        /// Conditions that hold after a call.
        postconditions(conditions: fn() -> Vec<Value>) => postconditions = Some(conditions);
        /// What a call costs.
        cost_model(unit: &'static str, estimate: Option<f64>) => cost_model = Some((unit, estimate));
        /// How the implementation is reached.
        implementation(implementation: DeclaredImplementation) => implementation = implementation;
        /// The schema of the inputs in place of the type's.
        inputs_schema(schema: Json) => inputs_schema = Some(schema);
        /// The schema of the outputs in place of the type's.
        outputs_schema(schema: Json) => outputs_schema = Some(schema);
        /// A name for people.
        title(title: &'static str) => title = Some(title);
        /// Words to find the skill by.
        tags(tags: &'static [&'static str]) => tags = tags;
        /// The secrets that the skill asks its context for.
        secrets(secrets: &'static [&'static str]) => secrets = secrets;
        /// The parameters that the skill asks its context for.
        config(config: &'static [&'static str]) => config = config;
        /// Where the skill connects to.
        allowed_hosts(allowed_hosts: &'static [&'static str]) => allowed_hosts = allowed_hosts;
        /// Calls to learn from: a list of `{name?, inputs, outputs?}`.
        examples(examples: Json) => examples = Some(examples);
        /// What to use in its place.
        deprecated(instead: &'static str) => deprecated = Some(instead);
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The version.
    pub const fn version(&self) -> &'static str {
        self.version
    }

    /// What the skill does to the world outside.
    pub const fn side_effects(&self) -> SideEffects {
        self.side_effects
    }

    /// How much harm a wrong call can do.
    pub const fn risk(&self) -> Risk {
        self.risk
    }

    /// Where the skill is declared.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// How long a call may take, in seconds.
    pub const fn timeout_seconds(&self) -> u32 {
        self.timeout_seconds
    }

    /// What the skill will ask its context for.
    pub const fn asks(&self) -> DeclaredNames {
        DeclaredNames {
            secrets: self.secrets,
            config: self.config,
        }
    }

    /// The description: the argument, else the first paragraph of the doc comment.
    pub(super) fn description_text(&self) -> String {
        match self.description {
            Some(description) => description.to_owned(),
            None => crate::contract::first_paragraph(self.docs),
        }
    }

    /// The schemas that the attribute gives in place of the types', of the inputs and of the outputs.
    pub(super) fn schemas(&self) -> [Option<Result<Value, String>>; 2] {
        [self.inputs_schema, self.outputs_schema].map(|schema| schema.map(|make| make()))
    }

    /// The contract with these schemas.
    pub(super) fn contract(&self, inputs: Value, outputs: Value) -> Contract {
        let mut contract = Contract::new(inputs, outputs, self.resolved_implementation());
        contract.idempotency = self.idempotency;
        contract.timeout_seconds = self.timeout_seconds;
        contract.retry = self.retry;
        contract.required_permissions = self.permissions.iter().map(|&name| name.to_owned()).collect();
        contract.required_permissions.sort();
        contract.required_permissions.dedup();
        contract.preconditions = self.preconditions.map(|make| make()).unwrap_or_default();
        contract.postconditions = self.postconditions.map(|make| make()).unwrap_or_default();
        contract.cost_model = self
            .cost_model
            .map(|(unit, estimate)| CostModel::new(unit, estimate));
        contract
    }

    fn resolved_implementation(&self) -> Implementation {
        let auth = |audience: Option<&str>, scopes: &[&str]| {
            Auth::new(
                audience.unwrap_or_default(),
                scopes.iter().map(|&scope| scope.to_owned()),
            )
        };
        match self.implementation {
            DeclaredImplementation::Local { entrypoint } => {
                Implementation::local(entrypoint.map_or_else(|| self.origin.entrypoint(), str::to_owned))
            }
            DeclaredImplementation::Http {
                endpoint,
                audience,
                scopes,
            } => Implementation::Http {
                endpoint: endpoint.to_owned(),
                auth: auth(audience, scopes),
            },
            DeclaredImplementation::Mcp {
                endpoint,
                tool,
                audience,
                scopes,
            } => Implementation::mcp(endpoint, tool.unwrap_or(self.name), auth(audience, scopes)),
        }
    }

    /// What stands beside the contract, in a fixed order, without empty parts; or why the examples cannot be read.
    pub(super) fn metadata(&self) -> Result<Map<String, Value>, String> {
        let mut metadata = Map::new();
        let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        if let Some(title) = self.title {
            put("title", title.into());
        }
        for (key, list) in [
            ("tags", self.tags),
            ("secrets", self.secrets),
            ("config", self.config),
            ("allowed_hosts", self.allowed_hosts),
        ] {
            if !list.is_empty() {
                put(key, list.into());
            }
        }
        if let Some(examples) = self.examples {
            put("examples", examples()?);
        }
        if let Some(instead) = self.deprecated {
            put("deprecated", instead.into());
        }
        Ok(metadata)
    }
}

impl fmt::Debug for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Declaration")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// The value in a file that was read at compile time.
#[doc(hidden)]
pub fn json_text(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("the file that the attribute names is not JSON: {error}"))
}

/// The value that an expression of the attribute gives.
#[doc(hidden)]
pub fn json_value(value: impl Into<Value>) -> Value {
    value.into()
}
