//! The words of `#[skill(…)]` as modules: only rust-analyzer reads them, to complete a word and to show what it means.
//!
//! The tests of the macros write this file from their table of arguments: `UPDATE_SNAPSHOTS=1 cargo test -p
//! skill-sdk-macros`.

/// The version; a published version never changes, so a changed schema or policy needs a new one. Required.
///
/// Value: a string of at most 50 characters without `@`, `/` and whitespace.
///
/// Example: `version = "1"`.
pub mod version {}
/// The effects on systems outside the program. Required.
///
/// Value: one of the values below.
///
/// Example: `side_effects = "none"`.
pub mod side_effects {
    /// No effects: the outputs depend on the inputs alone.
    pub mod none {}
    /// Reads from other systems.
    pub mod external_read {}
    /// Changes something in other systems.
    pub mod external_write {}
}
/// The harm that a wrong call can do. Required.
///
/// Value: one of the values below.
///
/// Example: `risk = "low"`.
pub mod risk {
    /// A wrong call does no significant harm.
    pub mod low {}
    /// A wrong call does harm that can be repaired.
    pub mod medium {}
    /// A wrong call does severe harm, or harm that cannot be repaired.
    pub mod high {}
}
/// Whether a retry has a second effect.
///
/// Default: `none`.
///
/// Value: one of the values below.
///
/// Example: `idempotency = "natural"`.
pub mod idempotency {
    /// The skill uses the idempotency key of the call: a retry with the same key has no second effect.
    pub mod required {}
    /// A retry with the same inputs has no second effect.
    pub mod natural {}
    /// A retry has a second effect, or it is unknown.
    pub mod none {}
}
/// The timeout of a call.
///
/// Default: 60 seconds.
///
/// Value: whole seconds from 1 to 3600.
///
/// Example: `timeout = 60`.
pub mod timeout {}
/// How often a caller may try, and how long it waits between attempts.
///
/// Default: `(1, 0)`: one attempt.
///
/// Value: `(attempts, seconds)`: 1 to 10 attempts in all, 0 to 3600 seconds between them.
///
/// Example: `retry = (3, 30)`.
pub mod retry {}
/// The description that people and models read.
///
/// Default: the first paragraph of the doc comment.
///
/// Value: a string: a literal, a constant or `include_str!(…)`.
///
/// Example: `description = "Merge a branch."`.
pub mod description {}
/// The permissions that the caller needs on the platform.
///
/// Default: no permissions.
///
/// Value: a list of strings, each lower case words joined by dots.
///
/// Example: `permissions = ["tasks.read"]`.
pub mod permissions {}
/// Conditions that must hold before a call; no platform publishes conditions yet.
///
/// Default: no conditions.
///
/// Value: a list of JSON values.
///
/// Example: `preconditions = ["branch exists"]`.
pub mod preconditions {}
/// Conditions that hold after a call; no platform publishes conditions yet.
///
/// Default: no conditions.
///
/// Value: a list of JSON values.
///
/// Example: `postconditions = ["branch is merged"]`.
pub mod postconditions {}
/// The unit that a call is charged in, and how many of them are expected.
///
/// Default: no cost.
///
/// Value: `(unit = string)` or `(unit = string, estimate = number)`.
///
/// Example: `cost_model = (unit = "page", estimate = 0.5)`.
pub mod cost_model {
    /// The counted unit, such as `"page"`.
    pub mod unit {}
    /// The expected number of units of a call, at least 0.
    pub mod estimate {}
}
/// How the platform reaches the skill.
///
/// Default: `local`: the path of the function.
///
/// Value: `local`, `local(…)`, `http(…)` or `mcp(…)`.
///
/// Example: `implementation = http("https://skills.example.com/merge", audience = "skills")`.
pub mod implementation {
    /// A function in the process of the server; `local("module.path:function")` names another function.
    pub mod local {}
    /// An HTTP server, by the URL of the skill.
    pub mod http {
        /// The audience of the platform's token.
        pub mod audience {}
        /// The scopes of the platform's token: at most 20 strings; needs an audience.
        pub mod scopes {}
    }
    /// An MCP server, by its URL or `stdio:NAME`.
    pub mod mcp {
        /// The name of the tool, if it is not the name of the skill.
        pub mod tool {}
        /// The audience of the platform's token.
        pub mod audience {}
        /// The scopes of the platform's token: at most 20 strings; needs an audience.
        pub mod scopes {}
    }
}
/// The JSON Schema of the inputs.
///
/// Default: the schema of the type or the parameters.
///
/// Value: the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value.
///
/// Example: `inputs_schema = "schemas/inputs.json"`.
pub mod inputs_schema {}
/// The JSON Schema of the outputs.
///
/// Default: the schema of the returned type.
///
/// Value: the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value.
///
/// Example: `outputs_schema = "schemas/outputs.json"`.
pub mod outputs_schema {}
/// A short name for people.
///
/// Default: no title.
///
/// Value: a string: a literal, a constant or `include_str!(…)`.
///
/// Example: `title = "Merge a branch"`.
pub mod title {}
/// Keywords for search.
///
/// Default: no tags.
///
/// Value: a list of strings.
///
/// Example: `tags = ["git"]`.
pub mod tags {}
/// The secrets that the skill reads from its context.
///
/// Default: the skill may read any.
///
/// Value: a list of strings.
///
/// Example: `secrets = ["helpdesk-token"]`.
pub mod secrets {}
/// The environment variables that the skill reads from its context.
///
/// Default: the skill may read any.
///
/// Value: a list of names of environment variables.
///
/// Example: `config = ["HELPDESK_URL"]`.
pub mod config {}
/// The hosts that the skill connects to; nothing enforces it.
///
/// Default: no declared hosts.
///
/// Value: a list of `host` or `host:port`.
///
/// Example: `allowed_hosts = ["api.example.com:443"]`.
pub mod allowed_hosts {}
/// Example calls, which `check` validates and the test kit runs.
///
/// Default: no examples.
///
/// Value: a list of `{name?, inputs, outputs?}`: the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value.
///
/// Example: `examples = "examples/merge.json"`.
pub mod examples {}
/// What to use instead of the skill.
///
/// Default: not deprecated.
///
/// Value: a string: a literal, a constant or `include_str!(…)`.
///
/// Example: `deprecated = "use git.merge@3"`.
pub mod deprecated {}
