//! Secrets: an environment variable, or a file in the secrets directory.
//!
//! A secret is read from the environment variable with exactly its name, or else, with feature `runtime` on Unix, from the file
//! `<secrets directory>/<name>`. The operating system does not follow links when it opens the file, so a link in the directory
//! cannot make a server read a file outside of it.
//!
//! - `name`: valid names of secrets
//! - `value`: [`Secret`], a value that does not print itself
//! - `file`: from a file to a value
//! - `walk`: from the directory to the open file
//! - `rejection`: why a file was not read

#[cfg(all(feature = "runtime", unix))]
mod file;
mod name;
#[cfg(all(feature = "runtime", unix))]
mod rejection;
#[cfg(test)]
mod tests;
mod value;
#[cfg(all(feature = "runtime", unix))]
mod walk;

use std::path::{Path, PathBuf};

use serde_json::json;

#[cfg(all(feature = "runtime", unix))]
pub use self::file::read_secret_file;
pub use self::name::check_secret_name;
#[cfg(feature = "connections")]
pub(crate) use self::name::is_file_name;
pub use self::value::Secret;
use crate::error::SkillError;

/// The secrets directory: `$SKILL_SDK_SECRETS_DIR`, or `/run/secrets` if that is not set or empty.
pub(crate) fn secrets_dir(env: impl Fn(&str) -> Option<String>) -> PathBuf {
    let dir = env("SKILL_SDK_SECRETS_DIR").filter(|dir| !dir.is_empty());
    PathBuf::from(dir.as_deref().unwrap_or("/run/secrets"))
}

/// The secret `name`: the variable with exactly that name in `env` if it is not empty, or else the file `name` in `dir`.
///
/// The value of a variable is not changed. For the value of a file see `read_secret_file`. A file is read only if the name matches
/// `[a-z0-9][a-z0-9-]{0,62}`; neither case nor `_` and `-` are translated. Without feature `runtime`, and on systems other than
/// Unix, only the environment is read. Reading a file blocks.
///
/// # Errors
/// - `secret_name_invalid`: see [`check_secret_name`]
/// - `config_missing` (retryable): neither source has a value, or the file is blank
/// - `secret_unreadable` (retryable): this process may not read the file, or the system cannot open it at the moment
/// - `secret_file_rejected`: the file cannot be trusted; `details.reason` has the reason
///
/// ```
/// use std::path::Path;
/// use skill_sdk::secrets::read_secret;
///
/// let env = |name: &str| (name == "FORGE_TOKEN").then(|| "hunter2".to_owned());
/// let secret = read_secret("FORGE_TOKEN", env, Path::new("/run/secrets"))?;
/// assert_eq!(secret.expose(), "hunter2");
/// assert!(!format!("{secret:?}").contains("hunter2"));
/// # Ok::<(), skill_sdk::SkillError>(())
/// ```
pub fn read_secret(
    name: &str,
    env: impl Fn(&str) -> Option<String>,
    dir: &Path,
) -> Result<Secret, SkillError> {
    check_secret_name(name)?;
    if let Some(value) = env(name).filter(|value| !value.is_empty()) {
        return Ok(Secret::new(value));
    }
    let path = dir.join(name);
    let seen = if !name::is_file_name(name) {
        format!(
            "no file in {} was read, because only names of the form {} can be files",
            dir.display(),
            name::FORM
        )
    } else if cfg!(not(all(feature = "runtime", unix))) {
        format!(
            "the file {} was not read, which needs feature `runtime` and Unix",
            path.display()
        )
    } else {
        match read_secret_file(dir, name)? {
            Some(secret) if secret.is_empty() => format!("the file {} is empty", path.display()),
            Some(secret) => return Ok(secret),
            None => format!("the file {} does not exist", path.display()),
        }
    };
    let shown = name.escape_debug();
    let message = format!(
        "secret `{shown}` is not configured: the environment variable `{shown}` is not set or empty, and {seen}; \
         set one of the two"
    );
    Err(SkillError::retryable("config_missing", message)
        .with_details(json!({"secret": name, "secretsDir": dir.to_string_lossy()})))
}

/// Other systems cannot enforce the rules for links.
#[cfg(not(all(feature = "runtime", unix)))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn read_secret_file(_: &Path, _: &str) -> Result<Option<Secret>, SkillError> {
    Ok(None)
}
