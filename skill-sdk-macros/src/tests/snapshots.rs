//! Expansions as files that are reviewed. `UPDATE_SNAPSHOTS=1 cargo test -p skill-sdk-macros` writes them anew.

use std::path::Path;

use proc_macro2::TokenStream;

use super::{skill, tokens};

/// Compares `text` with the file below `src`, or writes it.
#[track_caller]
pub(super) fn compare(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written,
        text,
        "{} differs; set UPDATE_SNAPSHOTS=1 to write it anew",
        path.display()
    );
}

#[track_caller]
fn snapshot(name: &str, expansion: TokenStream) {
    let file = syn::parse2(expansion).unwrap();
    // Not called *.rs: it is text, not a module.
    compare(
        &format!("snapshots/{name}.expanded"),
        &prettyplease::unparse(&file),
    );
}

#[test]
fn asynchronous_with_inputs_and_context() {
    let attribute = r#""git.merge", version = "2", side_effects = "external_write", risk = "medium", idempotency = "natural",
        timeout = 300, retry = (3, 30)"#;
    let item = "/// Merge a published branch into its target.
        #[cfg(unix)]
        pub async fn merge(inputs: MergeIn, ctx: &SkillContext) -> Result<MergeOut, SkillError> { Ok(MergeOut) }";
    snapshot("inputs", skill(attribute, item));
}

#[test]
fn parameters_as_fields() {
    let attribute = r#""weather.now", version = "1", side_effects = external_read, risk = low"#;
    let item = "/// Weather for a city.
        async fn weather(
            /// City name, as people write it.
            city: String,
            /// Days ahead.
            #[schemars(range(min = 1, max = 14))]
            #[serde(default)]
            days: Option<u8>,
            ctx: &SkillContext,
        ) -> Forecast { Forecast }";
    snapshot("parameters", skill(attribute, item));
}

#[test]
fn blocking_with_everything() {
    let attribute = r#""a", version = "1", side_effects = none, risk = low, description = "Text.", permissions = ["a.b"],
        preconditions = ["x", json!({})], postconditions = [], cost_model = (unit = "page", estimate = 0.5),
        implementation = mcp("stdio:acme", tool = "t", audience = "a"), inputs_schema = "in.json",
        outputs_schema = json!({}), examples = [1], title = "T", tags = ["t"], secrets = ["s"], config = ["C"],
        allowed_hosts = ["h:1"], deprecated = "use b@1", crate = crate::sdk"#;
    snapshot(
        "everything",
        skill(attribute, "fn a(#[inputs] In { x }: In) { drop(x); }"),
    );
}

#[test]
fn wrong_attribute_keeps_the_function() {
    snapshot(
        "wrong",
        skill("\"a\", risc = low", "fn a(#[serde(default)] x: u8) -> u8 { x }"),
    );
}

#[test]
fn state() {
    let item = "async fn client(env: &Environment) -> Result<Client, Error> { Client::new(env) }";
    snapshot("state", crate::state::expand(TokenStream::new(), tokens(item)));
}

#[test]
fn failure() {
    let item = "enum MyError { #[failure(code = \"git_unavailable\", retryable)] Git(u8), #[failure(code = \"no_branch\")] Branch }";
    snapshot("failure", crate::failure::expand(tokens(item)));
}
