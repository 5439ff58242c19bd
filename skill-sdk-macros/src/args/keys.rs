//! The table of arguments: it drives parsing, suggestions, the lists in messages and the reference in the documentation.

use syn::Expr;

use super::{Args, implementation, value};
use crate::errors::Errors;
use crate::rules;

/// One argument of `#[skill(…)]`.
pub(crate) struct Key {
    /// The word before `=`.
    pub(crate) name: &'static str,
    /// Words that people write instead, too far from the name to be found as a misspelling.
    pub(crate) meant_by: &'static [&'static str],
    /// Whether a skill cannot do without it.
    pub(crate) required: bool,
    /// What it is for: one sentence without a full stop.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a test writes the reference in keys.md from it")
    )]
    pub(crate) doc: &'static str,
    /// A value, as it is written in the attribute.
    pub(crate) example: &'static str,
    /// Checks the value and stores it.
    pub(crate) read: fn(&Key, Expr, &mut Args, &mut Errors),
}

/// The members of a set: the word of the contract, the variant of the library's enum.
pub(crate) type Words = &'static [(&'static str, &'static str)];

const SIDE_EFFECTS: Words = &[
    ("none", "None"),
    ("external_read", "ExternalRead"),
    ("external_write", "ExternalWrite"),
];
const RISK: Words = &[("low", "Low"), ("medium", "Medium"), ("high", "High")];
const IDEMPOTENCY: Words = &[("required", "Required"), ("natural", "Natural"), ("none", "None")];

/// Every argument after the name, in the order of the documentation.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "version",
        meant_by: &["v"],
        required: true,
        doc: "the version: a published one never changes, so a changed schema or policy needs a new one",
        example: r#""1""#,
        read: |key, value, args, errors| args.version = value::literal(key, &value, rules::version, errors),
    },
    Key {
        name: "side_effects",
        meant_by: &["effects"],
        required: true,
        doc: "what it touches outside of the program: `none`, `external_read` or `external_write`",
        example: r#""none""#,
        read: |key, value, args, errors| args.side_effects = value::word(key, &value, SIDE_EFFECTS, errors),
    },
    Key {
        name: "risk",
        meant_by: &["risk_level"],
        required: true,
        doc: "how much harm a wrong call does: `low`, `medium` or `high`",
        example: r#""low""#,
        read: |key, value, args, errors| args.risk = value::word(key, &value, RISK, errors),
    },
    Key {
        name: "idempotency",
        meant_by: &["idempotent"],
        required: false,
        doc: "what a repeated call does: `natural` (the same), `required` (needs a key), `none` (the effect again; the default)",
        example: r#""natural""#,
        read: |key, value, args, errors| args.idempotency = value::word(key, &value, IDEMPOTENCY, errors),
    },
    Key {
        name: "timeout",
        meant_by: &["timeout_seconds", "deadline"],
        required: false,
        doc: "the seconds after which a call is given up, 1 to 3600; the default is 60",
        example: "60",
        read: |key, value, args, errors| {
            args.timeout = value::whole(key, &value, "seconds", 1..=3600, errors);
        },
    },
    Key {
        name: "retry",
        meant_by: &["retries", "retry_policy", "max_attempts"],
        required: false,
        doc: "`(attempts, backoff)`: 1 to 10 attempts in all, 0 to 3600 seconds between them; the default is `(1, 0)`",
        example: "(3, 30)",
        read: |key, value, args, errors| args.retry = value::retry(key, &value, errors),
    },
    Key {
        name: "description",
        meant_by: &["desc", "doc", "docs", "about"],
        required: false,
        doc: "what it does; the default is the first paragraph of the doc comment",
        example: r#""Merge a branch.""#,
        read: |key, value, args, errors| args.description = value::prose(key, value, errors),
    },
    Key {
        name: "permissions",
        meant_by: &["required_permissions"],
        required: false,
        doc: "what the caller must be allowed to do",
        example: r#"["tasks.read"]"#,
        read: |key, value, args, errors| {
            args.permissions = value::list(key, &value, rules::permission, errors);
        },
    },
    Key {
        name: "preconditions",
        meant_by: &["requires"],
        required: false,
        doc: "JSON values that must hold before a call; no platform publishes them yet",
        example: r#"["branch exists"]"#,
        read: |key, value, args, errors| args.preconditions = value::values(key, value, errors),
    },
    Key {
        name: "postconditions",
        meant_by: &["ensures"],
        required: false,
        doc: "JSON values that hold after a call; no platform publishes them yet",
        example: r#"["branch is merged"]"#,
        read: |key, value, args, errors| args.postconditions = value::values(key, value, errors),
    },
    Key {
        name: "cost_model",
        meant_by: &["cost", "price"],
        required: false,
        doc: "the unit that a call is charged in, and how many of them are expected",
        example: r#"(unit = "page", estimate = 0.5)"#,
        read: |key, value, args, errors| args.cost_model = value::cost_model(key, &value, errors),
    },
    Key {
        name: "implementation",
        meant_by: &["impl", "protocol"],
        required: false,
        doc: "how the platform reaches it: `local(…)` (the default), `http(…)` or `mcp(…)`",
        example: r#"http("https://skills.example.com/merge", audience = "skills")"#,
        read: |key, value, args, errors| args.implementation = implementation::read(key, &value, errors),
    },
    Key {
        name: "inputs_schema",
        meant_by: &["schema"],
        required: false,
        doc: "the JSON Schema of the inputs, instead of the one of the type: an expression, or a `.json` file next to `Cargo.toml`",
        example: r#""schemas/inputs.json""#,
        read: |key, value, args, errors| args.inputs_schema = value::json(key, value, errors),
    },
    Key {
        name: "outputs_schema",
        meant_by: &[],
        required: false,
        doc: "the JSON Schema of the outputs, instead of the one of the type: an expression, or a `.json` file next to `Cargo.toml`",
        example: r#""schemas/outputs.json""#,
        read: |key, value, args, errors| args.outputs_schema = value::json(key, value, errors),
    },
    Key {
        name: "title",
        meant_by: &["label"],
        required: false,
        doc: "a short name for people",
        example: r#""Merge a branch""#,
        read: |key, value, args, errors| args.title = value::prose(key, value, errors),
    },
    Key {
        name: "tags",
        meant_by: &["categories", "keywords"],
        required: false,
        doc: "words to find it by",
        example: r#"["git"]"#,
        read: |key, value, args, errors| {
            args.tags = value::list(key, &value, |tag| rules::filled(tag, "tag"), errors);
        },
    },
    Key {
        name: "secrets",
        meant_by: &["credentials"],
        required: false,
        doc: "the secrets that it asks its context for",
        example: r#"["helpdesk-token"]"#,
        read: |key, value, args, errors| args.secrets = value::list(key, &value, rules::secret, errors),
    },
    Key {
        name: "config",
        meant_by: &["env", "parameters", "variables"],
        required: false,
        doc: "the host parameters that it asks its context for",
        example: r#"["HELPDESK_URL"]"#,
        read: |key, value, args, errors| args.config = value::list(key, &value, rules::variable, errors),
    },
    Key {
        name: "hosts",
        meant_by: &["network", "domains"],
        required: false,
        doc: "where it connects to",
        example: r#"["api.example.com:443"]"#,
        read: |key, value, args, errors| args.hosts = value::list(key, &value, rules::host, errors),
    },
    Key {
        name: "examples",
        meant_by: &["samples"],
        required: false,
        doc: "calls that are checked and tested: a list of `{name?, inputs, outputs?}`, an expression or a `.json` file next to `Cargo.toml`",
        example: r#""examples/merge.json""#,
        read: |key, value, args, errors| args.examples = value::json(key, value, errors),
    },
    Key {
        name: "deprecated",
        meant_by: &["obsolete"],
        required: false,
        doc: "what to use instead",
        example: r#""use git.merge@3""#,
        read: |key, value, args, errors| args.deprecated = value::prose(key, value, errors),
    },
    Key {
        name: "crate",
        meant_by: &["sdk"],
        required: false,
        doc: "the path of `skill_sdk` in a crate that renames or re-exports it",
        example: "::my_sdk",
        read: |key, value, args, errors| args.sdk = value::path(key, &value, errors),
    },
];

/// The argument called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The argument that `name` was probably meant to be.
pub(crate) fn meant(name: &str) -> Option<&'static Key> {
    if let Some(key) = KEYS.iter().find(|key| key.meant_by.contains(&name)) {
        return Some(key);
    }
    find(super::suggest::closest(name, KEYS.iter().map(|key| key.name))?)
}
