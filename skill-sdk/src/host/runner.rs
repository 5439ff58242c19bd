//! The program's side of the protocol: one action, its request from a file, its answer into a file.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
#[cfg(feature = "runtime")]
use serde::de::DeserializeOwned;

#[cfg(feature = "http")]
use super::protocol::SERVE_HTTP;
#[cfg(feature = "mcp-http")]
use super::protocol::SERVE_MCP_HTTP;
#[cfg(feature = "mcp")]
use super::protocol::SERVE_MCP_STDIO;
use super::protocol::{DESCRIBE, feature_of};
#[cfg(feature = "runtime")]
use super::protocol::{INVOKE, SERVE_LOCAL};
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
        Some(DESCRIBE) => {
            write(out, &describe::envelope())?;
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(feature = "runtime")]
        Some(INVOKE) => {
            write(out, &super::invoke::reply(read(request)?)?)?;
            Ok(ExitCode::SUCCESS)
        }
        #[cfg(feature = "http")]
        Some(SERVE_HTTP) => super::serve::http(&read(request)?),
        #[cfg(feature = "runtime")]
        Some(SERVE_LOCAL) => super::serve_local::local(&read_inline(request)?),
        #[cfg(feature = "mcp")]
        Some(SERVE_MCP_STDIO) => super::serve_mcp::stdio(|| read_inline(request)),
        #[cfg(feature = "mcp-http")]
        Some(SERVE_MCP_HTTP) => super::serve_mcp_http::http(&read(request)?),
        _ => {
            // Nobody else reads it, and it may hold what only this program should see.
            drop(fs::remove_file(request));
            let action = action.to_string_lossy();
            Err(match feature_of(&action) {
                Some(feature) => format!(
                    "this program was built without the feature `{feature}` of skill-sdk, which `{action}` needs"
                ),
                None => format!(
                    "this program does not know the action `{action}`; it was built with skill-sdk {}",
                    env!("CARGO_PKG_VERSION"),
                ),
            })
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
