//! The platform access token of this server.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::settings::IamSettings;
use crate::contract::json;
use crate::environment::Secret;
use crate::error::SkillError;

/// The largest credentials file, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The token, from the environment or from the credentials file. Reading the file blocks.
pub(super) fn platform_token(settings: &IamSettings) -> Result<Secret, SkillError> {
    if let Some(token) = &settings.token {
        let mode = settings.mode.as_deref().unwrap_or("").to_ascii_lowercase();
        // A variable that was inherited by accident must not change the identity of this server.
        return match mode.as_str() {
            "environment" | "ci" => Ok(Secret::new(token)),
            _ => Err(SkillError::terminal(
                "iam_environment_mode_required",
                "IAM_PLATFORM_ACCESS_TOKEN is set without IAM_CREDENTIAL_MODE=environment or =ci; set the mode or unset the token",
            )),
        };
    }
    let tenant = settings.tenant.as_deref().ok_or_else(|| {
        SkillError::terminal(
            "iam_tenant_required",
            "CONTROL_PLANE_IAM_URL is set without CONTROL_PLANE_IAM_TENANT, which selects the credential",
        )
    })?;
    let account = format!("{}|{tenant}", settings.url);
    let missing = |place: &str| {
        SkillError::terminal(
            "iam_not_authenticated",
            format!(
                "the platform access token for {account} is missing: IAM_PLATFORM_ACCESS_TOKEN is not set, and {place}"
            ),
        )
    };
    let Some(path) = &settings.file else {
        return Err(missing(
            "neither XDG_CONFIG_HOME nor HOME is set, so the credentials file cannot be found",
        ));
    };
    let Some(document) = read(path)? else {
        return Err(missing(&format!("the file {} does not exist", path.display())));
    };
    let token = choose(&document, &account, settings.principal.as_deref())?;
    token.ok_or_else(|| missing(&format!("{} has no entry for it", path.display())))
}

/// The file as an object; `None` if it does not exist.
fn read(path: &Path) -> Result<Option<Map<String, Value>>, SkillError> {
    let unreadable = |why: &str| {
        SkillError::terminal(
            "iam_credentials_file_unreadable",
            format!("{} {why}", path.display()),
        )
    };
    let from_io = |error: &io::Error| unreadable(&format!("cannot be read: {}", error.kind()));
    let metadata = match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(|error| from_io(&error))?,
    };
    // Opening another kind of file may block.
    if !metadata.is_file() {
        return Err(unreadable("is not a regular file"));
    }
    if metadata.len() > MAX_FILE {
        return Err(unreadable("is larger than 1 MiB"));
    }
    check_mode(path, &metadata)?;
    let text = fs::read(path).map_err(|error| from_io(&error))?;
    // The error of the parser could show a part of the file.
    match json::parse(&text) {
        Ok(Value::Object(document)) => Ok(Some(document)),
        _ => Err(unreadable("is not a JSON object")),
    }
}

/// Fails if other users may read the file.
#[cfg(unix)]
fn check_mode(path: &Path, metadata: &std::fs::Metadata) -> Result<(), SkillError> {
    use std::os::unix::fs::PermissionsExt;

    let mode = metadata.permissions().mode() & 0o777;
    // An executable file is not expected either.
    if matches!(mode, 0o600 | 0o400) {
        return Ok(());
    }
    Err(SkillError::terminal(
        "iam_credentials_file_permissions",
        format!(
            "{} has the mode {mode:o}, which gives access to other users; change it to 600, and consider its tokens compromised",
            path.display()
        ),
    ))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "the other systems have no such modes")]
fn check_mode(_: &Path, _: &std::fs::Metadata) -> Result<(), SkillError> {
    Ok(())
}

/// The token of `account` (`issuer|tenant`), or of its principal if `principal` selects one or there is only one.
fn choose(
    document: &Map<String, Value>,
    account: &str,
    principal: Option<&str>,
) -> Result<Option<Secret>, SkillError> {
    let token = |entry: &Value| {
        let token = entry["token"].as_str()?.trim();
        (!token.is_empty()).then(|| Secret::new(token))
    };
    let prefix = format!("{account}|");
    let of_principals = document.iter().filter_map(|(key, entry)| {
        let name = key.strip_prefix(&prefix)?;
        token(entry).filter(|_| principal.is_none_or(|wanted| wanted == name))
    });
    match of_principals.collect::<Vec<_>>().as_slice() {
        [] => {}
        [only] => return Ok(Some(only.clone())),
        several => {
            let message = format!(
                "there are {} credentials for {account}; set IAM_PRINCIPAL to the principal of this server",
                several.len()
            );
            return Err(SkillError::terminal("iam_credential_ambiguous", message));
        }
    }
    // An entry without a principal in its key. It must not be of another principal.
    let entry = document.get(account).filter(|entry| {
        let recorded = entry["principalId"].as_str().filter(|name| !name.is_empty());
        principal
            .zip(recorded)
            .is_none_or(|(wanted, recorded)| wanted == recorded)
    });
    Ok(entry.and_then(token))
}
