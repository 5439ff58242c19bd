//! What the attribute `#[skill(…)]` says, as constant data.

use serde_json::{Map, Value};

use crate::contract::{
    Auth, Contract, CostModel, Idempotency, Implementation, Origin, RetryPolicy, Risk, SideEffects,
};

/// A JSON value that is made when it is first asked for.
type Json = fn() -> Result<Value, String>;

/// What the attribute `#[skill(…)]` says. The expansion names the fields that were given, and takes the others from
/// [`new`](Self::new).
#[derive(Debug, Clone)]
pub struct Declaration {
    /// The name.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
    /// What the skill does to the world outside.
    pub side_effects: SideEffects,
    /// How much harm a wrong call can do.
    pub risk: Risk,
    /// Where the skill is declared.
    pub origin: Origin,
    /// Whether a repeated call has a second effect.
    pub idempotency: Idempotency,
    /// How long a call may take, in seconds.
    pub timeout: u32,
    /// How often a caller may try, and how long it waits in between.
    pub retry: RetryPolicy,
    /// The lines of the doc comment.
    pub docs: &'static [&'static str],
    /// The description in place of the doc comment. Here and below an empty text is none.
    pub description: &'static str,
    /// The permissions that a caller needs.
    pub permissions: &'static [&'static str],
    /// Conditions that hold before a call.
    pub preconditions: fn() -> Vec<Value>,
    /// Conditions that hold after a call.
    pub postconditions: fn() -> Vec<Value>,
    /// What a call costs: the unit, and how many of it a call usually takes.
    pub cost_model: Option<(&'static str, Option<f64>)>,
    /// How the implementation is reached, when that is not the path of the function.
    pub implementation: Option<fn() -> Implementation>,
    /// The schema of the inputs in place of the type's.
    pub inputs_schema: Option<Json>,
    /// The schema of the outputs in place of the type's.
    pub outputs_schema: Option<Json>,
    /// A name for people.
    pub title: &'static str,
    /// Words to find the skill by.
    pub tags: &'static [&'static str],
    /// The secrets that the skill asks its context for.
    pub secrets: &'static [&'static str],
    /// The parameters that the skill asks its context for.
    pub config: &'static [&'static str],
    /// Where the skill connects to.
    pub allowed_hosts: &'static [&'static str],
    /// Calls to learn from: a list of `{name?, inputs, outputs?}`.
    pub examples: Option<Json>,
    /// What to use in its place.
    pub deprecated: &'static str,
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
            timeout: 60,
            retry: RetryPolicy {
                max_attempts: 1,
                backoff_seconds: 0,
            },
            docs: &[],
            description: "",
            permissions: &[],
            preconditions: Vec::new,
            postconditions: Vec::new,
            cost_model: None,
            implementation: None,
            inputs_schema: None,
            outputs_schema: None,
            title: "",
            tags: &[],
            secrets: &[],
            config: &[],
            allowed_hosts: &[],
            examples: None,
            deprecated: "",
        }
    }

    /// What the skill will ask its context for.
    #[cfg(feature = "runtime")]
    pub(crate) fn asks(&self) -> crate::context::DeclaredNames {
        crate::context::DeclaredNames {
            secrets: self.secrets,
            config: self.config,
        }
    }

    /// The description: the argument, else the first paragraph of the doc comment.
    pub(super) fn description_text(&self) -> String {
        match self.description {
            "" => crate::contract::first_paragraph(self.docs),
            description => description.to_owned(),
        }
    }

    /// The contract with these schemas.
    pub(super) fn contract(&self, inputs: Value, outputs: Value) -> Contract {
        let implementation = match self.implementation {
            Some(declared) => declared(),
            None => Implementation::local(self.origin.entrypoint()),
        };
        let mut contract = Contract::new(inputs, outputs, implementation);
        contract.idempotency = self.idempotency;
        contract.timeout_seconds = self.timeout;
        contract.retry = self.retry;
        contract.required_permissions = self.permissions.iter().map(|&name| name.to_owned()).collect();
        contract.required_permissions.sort();
        contract.required_permissions.dedup();
        contract.preconditions = (self.preconditions)();
        contract.postconditions = (self.postconditions)();
        contract.cost_model = self
            .cost_model
            .map(|(unit, estimate)| CostModel::new(unit, estimate));
        contract
    }

    /// What stands beside the contract, in a fixed order, without empty parts; or why the examples cannot be read.
    pub(super) fn metadata(&self) -> Result<Map<String, Value>, String> {
        let mut metadata = Map::new();
        let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        if !self.title.is_empty() {
            put("title", self.title.into());
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
        if !self.deprecated.is_empty() {
            put("deprecated", self.deprecated.into());
        }
        Ok(metadata)
    }
}

/// The value in a file that was read at compile time.
pub fn json_text(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("the file that the attribute names is not JSON: {error}"))
}

/// The value that an expression of the attribute gives.
pub fn json_value(value: impl Into<Value>) -> Value {
    value.into()
}

/// The token of `audience` with `scopes`; nothing when the audience is empty.
pub fn auth(audience: &str, scopes: &[&str]) -> Option<Auth> {
    Auth::new(audience, scopes.iter().map(|&scope| scope.to_owned()))
}

/// An HTTP implementation by the whole address of the skill.
pub fn http(endpoint: &str, auth: Option<Auth>) -> Implementation {
    Implementation::Http {
        endpoint: endpoint.to_owned(),
        auth,
    }
}
