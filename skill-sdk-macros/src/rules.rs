//! The rules that a literal can break, as the reasons why it does: those of the contract, and here those of the other
//! arguments.

pub(crate) use skill_sdk_contract::rules::{
    ATTEMPTS, BACKOFF_SECONDS, MAX_SCOPES, TIMEOUT_SECONDS, http_endpoint, local_entrypoint, mcp_endpoint,
    mcp_tool, name, permission, safe_retries, version,
};
use skill_sdk_contract::rules::{looks_like_credential, scope as scope_form};

/// Why `scope` cannot be asked for.
pub(crate) fn scope(scope: &str) -> Result<(), String> {
    scope_form(scope)?;
    no_secret(scope)
}

/// Why `audience` cannot be asked for.
pub(crate) fn audience(audience: &str) -> Result<(), String> {
    filled(audience, "audience")?;
    no_secret(audience)
}

/// Rejects text in the form of a well-known credential: a contract is published.
fn no_secret(text: &str) -> Result<(), String> {
    if looks_like_credential(text) {
        return Err(
            "this looks like a secret, and a contract is published: keep it in the host's secrets".into(),
        );
    }
    Ok(())
}

/// Rejects text that is empty or only white space.
pub(crate) fn filled(text: &str, what: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err(format!("the {what} is empty"))
    } else {
        Ok(())
    }
}

/// Why `name` cannot be the name of a secret.
pub(crate) fn secret(name: &str) -> Result<(), String> {
    filled(name, "name of a secret")?;
    if name.contains(['/', '\\', '\0']) || name.contains("..") {
        return Err(format!(
            "`{name}` cannot name a secret; `/`, `\\`, `..` and NUL would leave the secrets directory"
        ));
    }
    match name {
        "agent-pat" => Err("`agent-pat` is the host's own secret; no skill may read it".into()),
        _ => Ok(()),
    }
}

/// Why `name` cannot be the name of an environment variable.
pub(crate) fn variable(name: &str) -> Result<(), String> {
    filled(name, "name of a parameter")?;
    match name
        .chars()
        .find(|c| matches!(c, '=' | '\0') || c.is_whitespace())
    {
        Some(bad) => Err(format!(
            "the name of a parameter holds {bad:?}; it is an environment variable, such as `HELPDESK_URL`"
        )),
        None => Ok(()),
    }
}

/// Why `host` is not an address that a skill connects to.
pub(crate) fn host(host: &str) -> Result<(), String> {
    filled(host, "host")?;
    if host.contains("://") || host.contains(|c: char| matches!(c, '/' | '@') || c.is_whitespace()) {
        return Err(format!(
            "`{host}` is not a host; write `host` or `host:port`, such as `api.example.com:443`"
        ));
    }
    let port = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => port,
        _ => return Ok(()),
    };
    match port.parse::<u16>() {
        Err(_) | Ok(0) if !port.contains("${") => {
            Err(format!("`{port}` is not a port; a port must be 1 to 65535"))
        }
        _ => Ok(()),
    }
}

/// Why `code` cannot be the code of a failure.
pub(crate) fn failure_code(code: &str) -> Result<(), String> {
    let start = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    match code.as_bytes() {
        [first, rest @ ..]
            if start(*first) && rest.len() < 100 && rest.iter().all(|b| start(*b) || b"_.-".contains(b)) =>
        {
            Ok(())
        }
        _ => Err(format!(
            "`{code}` is not a failure code; a code must have 1 to 100 of `a-z 0-9 _ . -` and start with a letter or digit"
        )),
    }
}
