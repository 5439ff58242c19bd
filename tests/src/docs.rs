//! The Rust blocks of the README and of `docs/`, as doctests.

macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        $(
            #[doc = include_str!(concat!("../../", $path))]
            mod $name {}
        )*
    };
}

pages! {
    readme: "README.md",
    artifacts_and_knowledge: "docs/guides/artifacts-and-knowledge.md",
    attribute: "docs/reference/attribute.md",
    authentication: "docs/reference/authentication.md",
    cli: "docs/reference/cli.md",
    compile_errors: "docs/reference/compile-errors.md",
    connections: "docs/guides/connections.md",
    deploying: "docs/guides/deploying.md",
    elicitation: "docs/guides/elicitation.md",
    embedding: "docs/guides/embedding.md",
    error_codes: "docs/reference/error-codes.md",
    errors: "docs/guides/errors.md",
    features: "docs/reference/features.md",
    fields_and_validation: "docs/guides/fields-and-validation.md",
    first_skill: "docs/guides/first-skill.md",
    identity_providers: "docs/guides/identity-providers.md",
    language_models: "docs/guides/language-models.md",
    local: "docs/reference/local.md",
    observability: "docs/reference/observability.md",
    progress_and_attachments: "docs/guides/progress-and-attachments.md",
    retries_and_idempotency: "docs/guides/retries-and-idempotency.md",
    settings_and_secrets: "docs/guides/settings-and-secrets.md",
    shared_state: "docs/guides/shared-state.md",
    testing: "docs/guides/testing.md",
    versions: "docs/guides/versions.md",
    without_the_cli: "docs/guides/without-the-cli.md",
}
