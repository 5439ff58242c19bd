//! The table of arguments: it drives parsing, suggestions, the lists in messages and the reference in the documentation.

use syn::Expr;

use super::words::{self, Words};
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
    /// What it is for, what its value is and what counts without it.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "tests write the reference and what an editor shows from it"
        )
    )]
    pub(crate) docs: Docs,
    /// A value, as it is written in the attribute.
    pub(crate) example: &'static str,
    /// The words that its value is made of.
    pub(crate) words: Words,
    /// Checks the value and stores it.
    pub(crate) read: fn(&Key, Expr, &mut Args, &mut Errors),
}

/// What the documentation says about an argument. No text has a full stop at its end.
#[cfg_attr(
    not(test),
    expect(
        dead_code,
        reason = "tests write the reference and what an editor shows from it"
    )
)]
pub(crate) struct Docs {
    /// What it is for, in one sentence.
    pub(crate) purpose: &'static str,
    /// What may be written behind the `=`.
    pub(crate) kind: &'static str,
    /// What counts when it is not there.
    pub(crate) default: &'static str,
}

/// Every argument after the name, in the order of the documentation.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "version",
        meant_by: &["v"],
        required: true,
        docs: Docs {
            purpose: "the version; a published version never changes, so a changed schema or policy needs a new one",
            kind: "a string of at most 50 characters without `@`, `/` and whitespace",
            default: "an error",
        },
        example: r#""1""#,
        words: &[],
        read: |key, value, args, errors| args.version = value::literal(key, &value, rules::version, errors),
    },
    Key {
        name: "side_effects",
        meant_by: &["effects"],
        required: true,
        docs: Docs {
            purpose: "the effects on systems outside the program",
            kind: "one of the values below",
            default: "an error",
        },
        example: r#""none""#,
        words: words::SIDE_EFFECTS,
        read: |key, value, args, errors| args.side_effects = value::word(key, &value, errors),
    },
    Key {
        name: "risk",
        meant_by: &["risk_level"],
        required: true,
        docs: Docs {
            purpose: "the harm that a wrong call can do",
            kind: "one of the values below",
            default: "an error",
        },
        example: r#""low""#,
        words: words::RISK,
        read: |key, value, args, errors| args.risk = value::word(key, &value, errors),
    },
    Key {
        name: "idempotency",
        meant_by: &["idempotent"],
        required: false,
        docs: Docs {
            purpose: "whether a retry has a second effect",
            kind: "one of the values below",
            default: "`none`",
        },
        example: r#""natural""#,
        words: words::IDEMPOTENCY,
        read: |key, value, args, errors| args.idempotency = value::word(key, &value, errors),
    },
    Key {
        name: "timeout",
        meant_by: &["timeout_seconds", "deadline"],
        required: false,
        docs: Docs {
            purpose: "the timeout of a call",
            kind: "whole seconds from 1 to 3600",
            default: "60 seconds",
        },
        example: "60",
        words: &[],
        read: |key, value, args, errors| {
            args.timeout = value::whole(key, &value, "seconds", &rules::TIMEOUT_SECONDS, errors);
        },
    },
    Key {
        name: "retry",
        meant_by: &["retries", "retry_policy", "max_attempts"],
        required: false,
        docs: Docs {
            purpose: "how often a caller may try, and how long it waits between attempts",
            kind: "`(attempts, seconds)`: 1 to 10 attempts in all, 0 to 3600 seconds between them",
            default: "`(1, 0)`: one attempt",
        },
        example: "(3, 30)",
        words: &[],
        read: |key, value, args, errors| args.retry = value::retry(key, &value, errors),
    },
    Key {
        name: "description",
        meant_by: &["desc", "doc", "docs", "about"],
        required: false,
        docs: Docs {
            purpose: "the description that people and models read",
            kind: "a string: a literal, a constant or `include_str!(…)`",
            default: "the first paragraph of the doc comment",
        },
        example: r#""Merge a branch.""#,
        words: &[],
        read: |key, value, args, errors| args.description = value::prose(key, value, errors),
    },
    Key {
        name: "permissions",
        meant_by: &["required_permissions"],
        required: false,
        docs: Docs {
            purpose: "the permissions that the caller needs on the platform",
            kind: "a list of strings, each lower case words joined by dots",
            default: "no permissions",
        },
        example: r#"["tasks.read"]"#,
        words: &[],
        read: |key, value, args, errors| {
            args.permissions = value::list(key, &value, rules::permission, errors);
        },
    },
    Key {
        name: "preconditions",
        meant_by: &["requires"],
        required: false,
        docs: Docs {
            purpose: "conditions that must hold before a call; no platform publishes conditions yet",
            kind: "a list of JSON values",
            default: "no conditions",
        },
        example: r#"["branch exists"]"#,
        words: &[],
        read: |key, value, args, errors| args.preconditions = value::values(key, value, errors),
    },
    Key {
        name: "postconditions",
        meant_by: &["ensures"],
        required: false,
        docs: Docs {
            purpose: "conditions that hold after a call; no platform publishes conditions yet",
            kind: "a list of JSON values",
            default: "no conditions",
        },
        example: r#"["branch is merged"]"#,
        words: &[],
        read: |key, value, args, errors| args.postconditions = value::values(key, value, errors),
    },
    Key {
        name: "cost_model",
        meant_by: &["cost", "price"],
        required: false,
        docs: Docs {
            purpose: "the unit that a call is charged in, and how many of them are expected",
            kind: "`(unit = string)` or `(unit = string, estimate = number)`",
            default: "no cost",
        },
        example: r#"(unit = "page", estimate = 0.5)"#,
        words: words::COST,
        read: |key, value, args, errors| args.cost_model = value::cost_model(key, &value, errors),
    },
    Key {
        name: "implementation",
        meant_by: &["impl", "protocol"],
        required: false,
        docs: Docs {
            purpose: "how the platform reaches the skill",
            kind: "`local`, `local(…)`, `http(…)` or `mcp(…)`",
            default: "`local`: the path of the function",
        },
        example: r#"http("https://skills.example.com/merge", audience = "skills")"#,
        words: words::PROTOCOLS,
        read: |key, value, args, errors| args.implementation = implementation::read(key, &value, errors),
    },
    Key {
        name: "inputs_schema",
        meant_by: &["schema"],
        required: false,
        docs: Docs {
            purpose: "the JSON Schema of the inputs",
            kind: "the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value",
            default: "the schema of the type or the parameters",
        },
        example: r#""schemas/inputs.json""#,
        words: &[],
        read: |key, value, args, errors| args.inputs_schema = value::json(key, value, errors),
    },
    Key {
        name: "outputs_schema",
        meant_by: &[],
        required: false,
        docs: Docs {
            purpose: "the JSON Schema of the outputs",
            kind: "the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value",
            default: "the schema of the returned type",
        },
        example: r#""schemas/outputs.json""#,
        words: &[],
        read: |key, value, args, errors| args.outputs_schema = value::json(key, value, errors),
    },
    Key {
        name: "title",
        meant_by: &["label"],
        required: false,
        docs: Docs {
            purpose: "a short name for people",
            kind: "a string: a literal, a constant or `include_str!(…)`",
            default: "no title",
        },
        example: r#""Merge a branch""#,
        words: &[],
        read: |key, value, args, errors| args.title = value::prose(key, value, errors),
    },
    Key {
        name: "tags",
        meant_by: &["categories", "keywords"],
        required: false,
        docs: Docs {
            purpose: "keywords for search",
            kind: "a list of strings",
            default: "no tags",
        },
        example: r#"["git"]"#,
        words: &[],
        read: |key, value, args, errors| {
            args.tags = value::list(key, &value, |tag| rules::filled(tag, "tag"), errors);
        },
    },
    Key {
        name: "secrets",
        meant_by: &["credentials"],
        required: false,
        docs: Docs {
            purpose: "the secrets that the skill reads from its context",
            kind: "a list of strings",
            default: "the skill may read any",
        },
        example: r#"["helpdesk-token"]"#,
        words: &[],
        read: |key, value, args, errors| args.secrets = value::list(key, &value, rules::secret, errors),
    },
    Key {
        name: "config",
        meant_by: &["env", "parameters", "variables"],
        required: false,
        docs: Docs {
            purpose: "the environment variables that the skill reads from its context",
            kind: "a list of names of environment variables",
            default: "the skill may read any",
        },
        example: r#"["HELPDESK_URL"]"#,
        words: &[],
        read: |key, value, args, errors| args.config = value::list(key, &value, rules::variable, errors),
    },
    Key {
        name: "allowed_hosts",
        meant_by: &["network", "domains"],
        required: false,
        docs: Docs {
            purpose: "the hosts that the skill connects to; nothing enforces it",
            kind: "a list of `host` or `host:port`",
            default: "no declared hosts",
        },
        example: r#"["api.example.com:443"]"#,
        words: &[],
        read: |key, value, args, errors| args.allowed_hosts = value::list(key, &value, rules::host, errors),
    },
    Key {
        name: "examples",
        meant_by: &["samples"],
        required: false,
        docs: Docs {
            purpose: "example calls, which `check` validates and the test kit runs",
            kind: "a list of `{name?, inputs, outputs?}`: the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value",
            default: "no examples",
        },
        example: r#""examples/merge.json""#,
        words: &[],
        read: |key, value, args, errors| args.examples = value::json(key, value, errors),
    },
    Key {
        name: "deprecated",
        meant_by: &["obsolete"],
        required: false,
        docs: Docs {
            purpose: "what to use instead of the skill",
            kind: "a string: a literal, a constant or `include_str!(…)`",
            default: "not deprecated",
        },
        example: r#""use git.merge@3""#,
        words: &[],
        read: |key, value, args, errors| args.deprecated = value::prose(key, value, errors),
    },
    Key {
        name: "crate",
        meant_by: &["sdk"],
        required: false,
        docs: Docs {
            purpose: "the path of the library in a crate that renames or re-exports it",
            kind: "a path without quotes",
            default: "`::skill_sdk`, or its name in the manifest",
        },
        example: "::my_sdk",
        words: &[],
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
