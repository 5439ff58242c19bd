//! The arguments of `#[skill(…)]` as constant data.

use serde_json::{Map, Value};

use crate::contract::{
    Auth, Contract, CostModel, Idempotency, Implementation, Origin, RetryPolicy, Risk, SideEffects,
};

/// A JSON value that is created on first use.
type Json = fn() -> Result<Value, String>;

/// The arguments of `#[skill(…)]`. The expansion sets the given fields and takes the others from [`new`](Self::new).
#[derive(Debug, Clone)]
pub struct Declaration {
    /// The name.
    pub name: &'static str,
    /// The version.
    pub version: &'static str,
    /// The side effects.
    pub side_effects: SideEffects,
    /// The risk of a wrong call.
    pub risk: Risk,
    /// Where the skill is declared.
    pub origin: Origin,
    /// Whether a retry has a second effect.
    pub idempotency: Idempotency,
    /// The timeout in seconds.
    pub timeout: u32,
    /// The number of attempts and the delay between them.
    pub retry: RetryPolicy,
    /// The lines of the doc comment.
    pub docs: &'static [&'static str],
    /// Overrides the doc comment. Here and below an empty string means that the argument is not set.
    pub description: &'static str,
    /// The permissions that a caller needs.
    pub permissions: &'static [&'static str],
    /// The preconditions of a call.
    pub preconditions: fn() -> Vec<Value>,
    /// The postconditions of a call.
    pub postconditions: fn() -> Vec<Value>,
    /// The cost of a call: the unit and an estimate.
    pub cost_model: Option<(&'static str, Option<f64>)>,
    /// The implementation, unless it is the path of the function.
    pub implementation: Option<fn() -> Implementation>,
    /// Overrides the schema of the input type.
    pub inputs_schema: Option<Json>,
    /// Overrides the schema of the output type.
    pub outputs_schema: Option<Json>,
    /// The title.
    pub title: &'static str,
    /// Keywords for search.
    pub tags: &'static [&'static str],
    /// The secrets that the skill reads.
    pub secrets: &'static [&'static str],
    /// The settings that the skill reads.
    pub config: &'static [&'static str],
    /// The hosts that the skill connects to.
    pub allowed_hosts: &'static [&'static str],
    /// Example calls: a list of `{name?, inputs, outputs?}`.
    pub examples: Option<Json>,
    /// What to use instead of this deprecated skill.
    pub deprecated: &'static str,
}

impl Declaration {
    /// A declaration with the required arguments.
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

    /// The names of the secrets and settings that the skill reads.
    #[cfg(feature = "runtime")]
    pub(crate) fn asks(&self) -> crate::context::DeclaredNames {
        crate::context::DeclaredNames {
            secrets: self.secrets,
            config: self.config,
        }
    }

    /// The description: the argument, or the first paragraph of the doc comment.
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

    /// The metadata beside the contract, in a fixed order and without empty fields. Fails if the examples are invalid.
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

/// Parses a file that was included at compile time.
///
/// # Errors
///
/// The text is not JSON.
pub fn json_text(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("the file named in the attribute must be JSON: {error}"))
}

/// The value of an expression in the attribute.
pub fn json_value(value: impl Into<Value>) -> Value {
    value.into()
}

/// The authentication for `audience` with `scopes`; `None` if the audience is empty.
pub fn auth(audience: &str, scopes: &[&str]) -> Option<Auth> {
    Auth::new(audience, scopes.iter().map(|&scope| scope.to_owned()))
}

/// An HTTP implementation with the full URL of the skill.
pub fn http(endpoint: &str, auth: Option<Auth>) -> Implementation {
    Implementation::Http {
        endpoint: endpoint.to_owned(),
        auth,
    }
}
