//! The program's side of the protocol: one action, its request from a file, its answer into a file.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
#[cfg(feature = "runtime")]
use serde::de::DeserializeOwned;

use super::{Refusal, describe};

/// Does what `ACTION REQUEST OUT` says.
pub(super) fn act(arguments: &[OsString]) -> Result<ExitCode, Refusal> {
    let [action, request, out] = arguments else {
        return Err(format!(
            "expected ACTION REQUEST OUT behind `{}`, got {} arguments; this is for the tool `skill-sdk`, not for people",
            super::protocol::MARKER,
            arguments.len(),
        ));
    };
    let (request, out) = (Path::new(request), Path::new(out));
    match action.to_str() {
        Some("describe") => {
            write(out, &describe::envelope())?;
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(feature = "runtime")]
        Some("invoke") => {
            write(out, &super::invoke::reply(read(request)?)?)?;
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(feature = "http")]
        Some("serve-http") => super::serve::http(&read(request)?),
        #[cfg(feature = "runtime")]
        Some("serve-local") => super::serve_local::local(&read_inline(request)?),
        #[cfg(feature = "mcp")]
        Some("serve-mcp-stdio") => super::serve_mcp::stdio(|| read_inline(request)),
        #[cfg(feature = "mcp")]
        Some("serve-mcp-http") => super::serve_mcp::http(&read(request)?),
        _ => {
            let _ = request;
            Err(format!(
                "this program does not know the action `{}`; it was built with skill-sdk {} and may lack a feature of \
                 it",
                action.display(),
                env!("CARGO_PKG_VERSION"),
            ))
        }
    }
}

/// Reads a request that may stand in the place of its path.
#[cfg(feature = "runtime")]
fn read_inline<T: DeserializeOwned>(request: &Path) -> Result<T, Refusal> {
    match request.to_str().filter(|text| text.starts_with('{')) {
        Some(json) => {
            serde_json::from_str(json).map_err(|error| format!("the request is not understood: {error}"))
        }
        None => read(request),
    }
}

/// Reads the request and removes its file: it may hold what only this program should see.
#[cfg(feature = "runtime")]
fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Refusal> {
    let text =
        fs::read(path).map_err(|error| format!("cannot read the request {}: {error}", path.display()))?;
    // A file that cannot be removed is the tool's to clean up.
    drop(fs::remove_file(path));
    serde_json::from_slice(&text)
        .map_err(|error| format!("the request {} is not understood: {error}", path.display()))
}

fn write(path: &Path, answer: &impl Serialize) -> Result<(), Refusal> {
    let text =
        serde_json::to_vec(answer).map_err(|error| format!("the answer cannot be written: {error}"))?;
    fs::write(path, text).map_err(|error| format!("cannot write the answer {}: {error}", path.display()))
}
