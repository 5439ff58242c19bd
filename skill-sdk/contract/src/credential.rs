//! Recognizes well-known kinds of credentials in a text.

/// How well-known credentials start, and how many characters of base64 at least follow.
const CREDENTIAL_PREFIXES: [(&str, usize); 18] = [
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 20),
    ("npm_", 30),
    ("sk-", 20),
    ("sk_live_", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("AIza", 30),
    ("AKIA", 16),
    ("ASIA", 16),
];

/// Whether a text holds something in the notation of a well-known kind of credential.
pub fn looks_like_credential(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let scheme = |name: &str| {
        lower
            .strip_prefix(name)
            .is_some_and(|rest| !rest.trim().is_empty())
    };
    if text.contains("PRIVATE KEY-----") || scheme("bearer ") || scheme("basic ") {
        return true;
    }
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(|c| !in_word(c))
        .any(|word| is_web_token(word) || has_credential_prefix(word))
}

fn has_credential_prefix(word: &str) -> bool {
    CREDENTIAL_PREFIXES.iter().any(|(prefix, rest)| {
        word.strip_prefix(prefix)
            .is_some_and(|tail| tail.len() >= *rest && is_base64(tail))
    })
}

/// Whether it is a JSON web token: three parts of base64, the first one a JSON object.
fn is_web_token(word: &str) -> bool {
    word.starts_with("eyJ")
        && word.len() >= 30
        && word.split('.').count() == 3
        && word.split('.').all(is_base64)
}

fn is_base64(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
