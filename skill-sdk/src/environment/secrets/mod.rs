//! Secrets of the host: an environment variable, else a file in the secrets directory.
//!
//! A secret is looked for in the variable of exactly its name and then, with feature `runtime` on Unix, in the file
//! `<secrets directory>/<name>`. The file is opened without following links by the operating system, so nothing that
//! is put into the directory can make a host read a file outside of it.
//!
//! - `name`: which names a secret may have
//! - `value`: [`Secret`], a value that does not print itself
//! - `file`: from a file to a value, and the rules for what it holds
//! - `walk`: from a directory to an open file
//! - `refusal`: why a file was not read, and how that is told

#[cfg(all(feature = "runtime", unix))]
mod file;
mod name;
#[cfg(all(feature = "runtime", unix))]
mod refusal;
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

/// The secrets directory that `env` asks for: `$SKILL_SDK_SECRETS_DIR`, or `/run/secrets` when that is not set or
/// empty.
pub(crate) fn secrets_dir(env: impl Fn(&str) -> Option<String>) -> PathBuf {
    let dir = env("SKILL_SDK_SECRETS_DIR").filter(|dir| !dir.is_empty());
    PathBuf::from(dir.as_deref().unwrap_or("/run/secrets"))
}

/// The secret `name`: the variable of exactly that name in `env` if it is not empty, else the file `name` in `dir`.
///
/// A variable's value is used as it is; of a file's value see `read_secret_file`. A file is only looked for when the
/// name matches `[a-z0-9][a-z0-9-]{0,62}`; neither case nor `_` and `-` are translated. Without feature `runtime`, and
/// on systems other than Unix, only the environment is looked at. Reading a file blocks for as long as the file system takes.
///
/// # Errors
/// - `secret_name_invalid`: see [`check_secret_name`]
/// - `config_missing` (retryable): neither place has a value, or the file is blank
/// - `secret_unreadable` (retryable): the file is there, but this process may not read it, or the system cannot open it at
///   the moment
/// - `secret_file_rejected`: the file is not one to be trusted; `details.reason` says why
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
            "a file in {} was not looked for, because only names of the form {} are files",
            dir.display(),
            name::FORM
        )
    } else if cfg!(not(all(feature = "runtime", unix))) {
        format!(
            "the file {} was not looked for, which takes feature `runtime` and Unix",
            path.display()
        )
    } else {
        match read_secret_file(dir, name)? {
            Some(secret) if secret.is_empty() => format!("the file {} is empty", path.display()),
            Some(secret) => return Ok(secret),
            None => format!("there is no file {}", path.display()),
        }
    };
    let shown = name.escape_debug();
    let message = format!(
        "secret `{shown}` is not configured: the environment variable `{shown}` is not set or empty, and {seen}; \
         provide one of the two on the host"
    );
    Err(SkillError::retryable("config_missing", message)
        .with_details(json!({"secret": name, "secretsDir": dir.to_string_lossy()})))
}

/// Elsewhere the rules for links cannot be kept.
#[cfg(not(all(feature = "runtime", unix)))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn read_secret_file(_: &Path, _: &str) -> Result<Option<Secret>, SkillError> {
    Ok(None)
}
