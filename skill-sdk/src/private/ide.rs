//! The words of `#[skill(…)]` as modules: only rust-analyzer reads them, to complete a word and to show what it means.
//!
//! The tests of the macros write this file from their table of arguments: `UPDATE_SNAPSHOTS=1 cargo test -p
//! skill-sdk-macros`.

/// The version: a published one never changes, so a changed schema or policy needs a new one. Required.
///
/// The value: a text of at most 50 characters without `@`, `/` and white space.
///
/// Example: `version = "1"`.
pub mod version {}
/// What it does to the world outside. Required.
///
/// The value: a word.
///
/// Example: `side_effects = "none"`.
pub mod side_effects {
    /// It touches nothing outside: the outputs depend on the inputs alone.
    pub mod none {}
    /// It reads something outside.
    pub mod external_read {}
    /// It changes something outside.
    pub mod external_write {}
}
/// How much harm a wrong call can do. Required.
///
/// The value: a word.
///
/// Example: `risk = "low"`.
pub mod risk {
    /// A wrong call does no harm worth naming.
    pub mod low {}
    /// A wrong call does some harm, which can be mended.
    pub mod medium {}
    /// A wrong call does much harm, or harm that cannot be mended.
    pub mod high {}
}
/// Whether a repeated call has a second effect.
///
/// Without it: `none`.
///
/// The value: a word.
///
/// Example: `idempotency = "natural"`.
pub mod idempotency {
    /// The skill uses the idempotency key of the call: a repeat with the same key has no second effect.
    pub mod required {}
    /// A repeat with the same inputs has no second effect.
    pub mod natural {}
    /// A repeat has a second effect, or nobody knows.
    pub mod none {}
}
/// The time after which a call is given up.
///
/// Without it: 60.
///
/// The value: a whole number of seconds from 1 to 3600.
///
/// Example: `timeout = 60`.
pub mod timeout {}
/// How often a caller may try, and how long it waits in between.
///
/// Without it: `(1, 0)`: one attempt.
///
/// The value: `(attempts, seconds)`: 1 to 10 attempts in all, 0 to 3600 seconds between them.
///
/// Example: `retry = (3, 30)`.
pub mod retry {}
/// What it does.
///
/// Without it: the first paragraph of the doc comment.
///
/// The value: a text: a literal, a constant or `include_str!(…)`.
///
/// Example: `description = "Merge a branch."`.
pub mod description {}
/// What the caller must be allowed to do.
///
/// Without it: none are needed.
///
/// The value: a list of texts, each words of lower case letters joined by dots.
///
/// Example: `permissions = ["tasks.read"]`.
pub mod permissions {}
/// What must hold before a call; no platform publishes conditions yet.
///
/// Without it: no conditions.
///
/// The value: a list of JSON values.
///
/// Example: `preconditions = ["branch exists"]`.
pub mod preconditions {}
/// What holds after a call; no platform publishes conditions yet.
///
/// Without it: no conditions.
///
/// The value: a list of JSON values.
///
/// Example: `postconditions = ["branch is merged"]`.
pub mod postconditions {}
/// The unit that a call is charged in, and how many of them are expected.
///
/// Without it: a call costs nothing.
///
/// The value: `(unit = text)` or `(unit = text, estimate = number)`.
///
/// Example: `cost_model = (unit = "page", estimate = 0.5)`.
pub mod cost_model {
    /// What is counted, such as `"page"`.
    pub mod unit {}
    /// How many units a call is expected to use: a number that is not negative.
    pub mod estimate {}
}
/// How the platform reaches it.
///
/// Without it: `local`: the path of the function.
///
/// The value: `local`, `local(…)`, `http(…)` or `mcp(…)`.
///
/// Example: `implementation = http("https://skills.example.com/merge", audience = "skills")`.
pub mod implementation {
    /// A function in the process of a host; `local("module.path:function")` names another one than this.
    pub mod local {}
    /// An HTTP host, by the URL of the skill there.
    pub mod http {
        /// Whom the platform's token is meant for.
        pub mod audience {}
        /// What the platform's token may do: at most 20 texts; needs an audience.
        pub mod scopes {}
    }
    /// An MCP server, by its URL or `stdio:NAME`.
    pub mod mcp {
        /// The name of the tool there, when it is not the name of the skill.
        pub mod tool {}
        /// Whom the platform's token is meant for.
        pub mod audience {}
        /// What the platform's token may do: at most 20 texts; needs an audience.
        pub mod scopes {}
    }
}
/// The JSON Schema of the inputs.
///
/// Without it: the schema of the type or the parameters.
///
/// The value: the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value.
///
/// Example: `inputs_schema = "schemas/inputs.json"`.
pub mod inputs_schema {}
/// The JSON Schema of the outputs.
///
/// Without it: the schema of the returned type.
///
/// The value: the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value.
///
/// Example: `outputs_schema = "schemas/outputs.json"`.
pub mod outputs_schema {}
/// A short name for people.
///
/// Without it: no title.
///
/// The value: a text: a literal, a constant or `include_str!(…)`.
///
/// Example: `title = "Merge a branch"`.
pub mod title {}
/// Words to find it by.
///
/// Without it: no tags.
///
/// The value: a list of texts.
///
/// Example: `tags = ["git"]`.
pub mod tags {}
/// The secrets that it asks its context for.
///
/// Without it: none are declared, and it may ask for any.
///
/// The value: a list of texts.
///
/// Example: `secrets = ["helpdesk-token"]`.
pub mod secrets {}
/// The host parameters that it asks its context for.
///
/// Without it: none are declared, and it may ask for any.
///
/// The value: a list of names of environment variables.
///
/// Example: `config = ["HELPDESK_URL"]`.
pub mod config {}
/// Where it connects to.
///
/// Without it: none are declared.
///
/// The value: a list of `host` or `host:port`.
///
/// Example: `allowed_hosts = ["api.example.com:443"]`.
pub mod allowed_hosts {}
/// Calls that are checked and tested.
///
/// Without it: no examples.
///
/// The value: a list of `{name?, inputs, outputs?}`: the path of a `.json` file next to `Cargo.toml`, or an expression that gives a JSON value.
///
/// Example: `examples = "examples/merge.json"`.
pub mod examples {}
/// What to use instead.
///
/// Without it: it is not deprecated.
///
/// The value: a text: a literal, a constant or `include_str!(…)`.
///
/// Example: `deprecated = "use git.merge@3"`.
pub mod deprecated {}
