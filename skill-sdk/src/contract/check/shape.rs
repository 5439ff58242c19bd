//! Predicates on the small texts of a contract: names, versions, entrypoints, endpoints, scopes, permissions.
//!
//! Those over plain ASCII are `const`, so that a declaration can assert them while it compiles. A line break is
//! never tolerated, at the end neither.

use super::text::quoted;
use super::violation::Violation;

/// The longest name of a skill, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// The longest version of a skill, in characters.
pub const MAX_VERSION_CHARS: usize = 50;
/// The longest endpoint or entrypoint, in characters.
pub const MAX_ADDRESS_CHARS: usize = 2000;
/// The largest number of `auth.scopes`.
pub const MAX_SCOPES: usize = 20;

const MAX_TOOL_NAME_BYTES: usize = 200;
const MAX_SCOPE_BYTES: usize = 200;

/// Whether it can be the name of a skill: 1 to 200 characters without `@`, `/` and whitespace.
pub fn is_name(name: &str) -> bool {
    is_ref_part(name, MAX_NAME_CHARS)
}

/// Whether it can be the version of a skill: 1 to 50 characters without `@`, `/` and whitespace.
pub fn is_version(version: &str) -> bool {
    is_ref_part(version, MAX_VERSION_CHARS)
}

/// Whether it can be a local entrypoint, `module.path:function`: identifiers that start with an ASCII letter or `_`
/// and go on with letters and digits of any script. At most 2000 characters.
pub fn is_entrypoint(entrypoint: &str) -> bool {
    let Some((module, function)) = entrypoint.split_once(':') else {
        return false;
    };
    module.split('.').all(is_identifier) && is_identifier(function) && fits_address(entrypoint)
}

/// Whether it can be the name of an MCP tool: 1 to 200 ASCII letters, digits and `_.-/`, the first one a letter, a
/// digit or `_`.
pub const fn is_tool_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_TOOL_NAME_BYTES || matches!(bytes[0], b'.' | b'-' | b'/') {
        return false;
    }
    let mut i = 0;
    while i < bytes.len() {
        if !is_word_byte(bytes[i]) && !matches!(bytes[i], b'.' | b'-' | b'/') {
            return false;
        }
        i += 1;
    }
    true
}

/// Whether it can be the endpoint of an http implementation: it starts with `http://` or `https://`, in lower case,
/// and has at most 2000 characters.
pub fn is_endpoint(endpoint: &str) -> bool {
    (endpoint.starts_with("http://") || endpoint.starts_with("https://")) && fits_address(endpoint)
}

/// Whether it starts with a variable, `${VAR}`, that is filled in before publication.
pub const fn starts_with_variable(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 4 || bytes[0] != b'$' || bytes[1] != b'{' || bytes[2].is_ascii_digit() {
        return false;
    }
    let mut i = 2;
    while i < bytes.len() && is_word_byte(bytes[i]) {
        i += 1;
    }
    i > 2 && i < bytes.len() && bytes[i] == b'}'
}

/// Whether it can be one of `auth.scopes`: 1 to 200 ASCII letters, digits and `_.:*/-`.
pub const fn is_scope(scope: &str) -> bool {
    let bytes = scope.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !is_word_byte(bytes[i]) && !matches!(bytes[i], b'.' | b':' | b'*' | b'/' | b'-') {
            return false;
        }
        i += 1;
    }
    !bytes.is_empty() && bytes.len() <= MAX_SCOPE_BYTES
}

/// Whether it has the shape of a permission: at least two words of `a`-`z` and `_`, joined by dots.
pub const fn is_permission_name(permission: &str) -> bool {
    let bytes = permission.as_bytes();
    let (mut i, mut dots, mut in_word) = (0, 0, false);
    while i < bytes.len() {
        match bytes[i] {
            b'a'..=b'z' | b'_' => in_word = true,
            b'.' if in_word => {
                dots += 1;
                in_word = false;
            }
            _ => return false,
        }
        i += 1;
    }
    in_word && dots > 0
}

/// Checks the name of a skill, see [`is_name`].
///
/// # Errors
///
/// `invalid_skill_contract`, field `name`, pointer `/key`: the place of the name in the catalog's document.
pub fn check_name(name: &str) -> Result<(), Violation> {
    let rule = "a name has 1 to 200 characters without `@`, `/` and whitespace";
    expect(is_name(name), "/key", "name", || {
        format!("{} cannot be the name of a skill: {rule}", quoted(name))
    })
}

/// Checks the version of a skill, see [`is_version`].
///
/// # Errors
///
/// `invalid_skill_contract`, field `version`, pointer `/version`: its place in the spec.
pub fn check_version(version: &str) -> Result<(), Violation> {
    let rule = "a version has 1 to 50 characters without `@`, `/` and whitespace";
    expect(is_version(version), "/version", "version", || {
        format!("{} cannot be the version of a skill: {rule}", quoted(version))
    })
}

/// Checks a local entrypoint, see [`is_entrypoint`].
///
/// # Errors
///
/// `invalid_skill_contract` at `/implementation/entrypoint`, relative to the contract.
pub fn check_entrypoint(entrypoint: &str) -> Result<(), Violation> {
    expect(
        is_entrypoint(entrypoint),
        "/implementation/entrypoint",
        "implementation.entrypoint",
        || {
            format!(
                "{} is not the entrypoint of a function: write it as `module.path:function`",
                quoted(entrypoint)
            )
        },
    )
}

/// Checks the entrypoint of an mcp implementation, see [`is_tool_name`].
///
/// # Errors
///
/// `invalid_skill_contract` at `/implementation/entrypoint`, relative to the contract.
pub fn check_tool_name(name: &str) -> Result<(), Violation> {
    expect(
        is_tool_name(name),
        "/implementation/entrypoint",
        "implementation.entrypoint",
        || {
            format!(
                "{} cannot be the name of an MCP tool: it has 1 to 200 ASCII letters, digits and `_.-/`, and starts \
             with a letter, a digit or `_`",
                quoted(name)
            )
        },
    )
}

/// Checks the endpoint of an http implementation, see [`is_endpoint`]. The message does not repeat the endpoint: it
/// may hold credentials.
///
/// # Errors
///
/// `invalid_skill_contract` at `/implementation/endpoint`, relative to the contract.
pub fn check_endpoint(endpoint: &str) -> Result<(), Violation> {
    expect(
        is_endpoint(endpoint),
        "/implementation/endpoint",
        "implementation.endpoint",
        || {
            "the endpoint of an http implementation must start with `http://` or `https://` and have at most 2000 \
         characters"
            .to_owned()
        },
    )
}

/// Whether a text is short enough for an endpoint or entrypoint.
pub(super) fn fits_address(text: &str) -> bool {
    text.chars().nth(MAX_ADDRESS_CHARS).is_none()
}

fn expect(
    holds: bool,
    pointer: &'static str,
    field: &'static str,
    message: impl FnOnce() -> String,
) -> Result<(), Violation> {
    if holds {
        Ok(())
    } else {
        Err(Violation::invalid(pointer, field, message()))
    }
}

fn is_ref_part(text: &str, max_chars: usize) -> bool {
    // The separators of information (file, group, record, unit) count as whitespace for the platform.
    let allowed = |c: char| !c.is_whitespace() && !matches!(c, '@' | '/' | '\u{1c}'..='\u{1f}');
    !text.is_empty() && text.chars().all(allowed) && text.chars().nth(max_chars).is_none()
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
