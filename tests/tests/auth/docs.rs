//! `docs/reference/authentication.md` says what the code says.

use std::fs;
use std::path::Path;

use skill_sdk::auth::{
    AUDIENCE, AuthError, CACHED_TOKENS, IAM_ISSUER, JWKS_MAX_AGE, JWKS_MAX_STALE, JWKS_MIN_REFRESH_INTERVAL,
    JWKS_TIMEOUT, JWKS_URL, LEEWAY_SECONDS, MAX_JWKS_BYTES, MAX_TOKEN_BYTES,
};

fn text() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/authentication.md");
    fs::read_to_string(path).unwrap()
}

/// The rows of the table whose first column is `name`, as cells without backticks.
fn rows(name: &str) -> Vec<Vec<String>> {
    let text = text();
    let head = format!("| {name} |");
    let table = text.split("\n\n").find(|block| block.starts_with(&head));
    let rows = table.expect("the page has the table").lines().skip(2);
    rows.map(|row| {
        row.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().trim_matches('`').to_owned())
            .collect()
    })
    .collect()
}

/// The first cells of the table whose first column is `name`.
pub(super) fn column(name: &str) -> Vec<String> {
    rows(name).into_iter().map(|mut row| row.swap_remove(0)).collect()
}

#[test]
fn settings_and_refusals() {
    assert_eq!(column("setting"), [IAM_ISSUER, AUDIENCE, JWKS_URL]);
    let refusals = rows("status");
    for (refusal, row) in [
        AuthError::InvalidToken("".into()),
        AuthError::VerificationUnavailable,
    ]
    .iter()
    .zip(refusals)
    {
        let error = refusal.to_error();
        assert_eq!(row[1], error.code());
        assert_eq!(row[2], if error.is_retryable() { "yes" } else { "no" });
    }
}

#[test]
fn limits() {
    let limits: String = rows("limit")
        .into_iter()
        .map(|row| format!("{}\n", row.join(": ")))
        .collect();
    for (what, value) in [
        ("max age", JWKS_MAX_AGE.as_secs()),
        ("stale-if-error", JWKS_MAX_STALE.as_secs()),
        ("minimum interval", JWKS_MIN_REFRESH_INTERVAL.as_secs()),
        ("timeout of a fetch", JWKS_TIMEOUT.as_secs()),
        ("largest document", MAX_JWKS_BYTES as u64),
        ("cached tokens", CACHED_TOKENS as u64),
    ] {
        let line = limits.lines().find(|line| line.contains(what));
        let line = line.unwrap_or_else(|| panic!("no limit says {what:?}: {limits}"));
        assert!(
            line.contains(&format!(" {value} ")),
            "{line} does not say {value}"
        );
    }
    let text = text();
    assert!(text.contains(&format!("At most {MAX_TOKEN_BYTES} bytes")));
    assert!(text.contains(&format!("not over {LEEWAY_SECONDS} seconds ago")));
}
