//! The table of routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{OriginalUri, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Map, Value, json};

use super::auth::Caller;
use super::invoke::invoke;
use super::{HttpServer, answer, openapi, operations};

/// The routes of the HTTP protocol of skills, to serve or to mount into an own application.
///
/// The answers to unknown paths and methods are part of it as long as it is not merged with routes that have their own.
///
/// Every handler but those of `/healthz` and `/readyz` takes a `Caller` first, or asks for the caller itself: that is how a token is asked for. A method that
/// a path does not have is answered without one: the paths are the same on every host.
pub fn router(host: HttpServer) -> Router {
    let probes = operations::routes(host.service());
    let document = Arc::new(openapi::document(host.service().skills(), !host.is_anonymous()));
    let document = async move |_: Caller, url: OriginalUri| openapi_document(&url, &document);
    let metrics = if host.0.public_metrics {
        get(|State(http): State<HttpServer>| async move { operations::metrics(http.service()) })
    } else {
        get(metrics)
    };
    let post_only = |method: Method| async move { answer::method_not_allowed("POST", &method) };
    let get_only = |method: Method| async move { answer::method_not_allowed("GET,HEAD", &method) };
    Router::new()
        .route("/skills/{reference}", post(invoke).fallback(post_only))
        .route("/skills", get(list).fallback(get_only))
        .route("/openapi.json", get(document).fallback(get_only))
        .route("/metrics", metrics.fallback(get_only))
        .fallback(not_found)
        .with_state(host)
        .merge(probes)
}

/// The prefix under which this router is nested.
fn prefix<'a>(url: &'a OriginalUri, path: &str) -> &'a str {
    url.path().strip_suffix(path).unwrap_or_default()
}

fn openapi_document(url: &OriginalUri, document: &Map<String, Value>) -> Response {
    let prefix = prefix(url, "/openapi.json");
    let server = if prefix.is_empty() { "/" } else { prefix };
    let mut document = document.clone();
    document.insert("servers".into(), json!([{"url": server}]));
    answer::json(StatusCode::OK, Value::Object(document).to_string().into_bytes())
}

async fn list(_: Caller, State(http): State<HttpServer>, url: OriginalUri) -> Response {
    let prefix = prefix(&url, "/skills");
    let skills = http.service().skills().iter().map(|runnable| {
        let skill = runnable.skill();
        let path = format!("{prefix}{}", path_of(skill.reference()));
        json!({"ref": skill.reference(), "name": skill.name(), "version": skill.version(), "path": path})
    });
    let listing = json!({"skills": skills.collect::<Vec<_>>()});
    answer::json(StatusCode::OK, listing.to_string().into_bytes())
}

/// The path of a skill. A ref may hold characters that mean something else in a URL.
pub(crate) fn path_of(reference: &str) -> String {
    let mut path = "/skills/".to_owned();
    for character in reference.chars() {
        if character.is_ascii_control() || "\"#%'<>?[\\]^`{|}".contains(character) {
            path.push_str(&format!("%{:02X}", u32::from(character)));
        } else {
            path.push(character);
        }
    }
    path
}

async fn metrics(_: Caller, State(http): State<HttpServer>) -> Response {
    operations::metrics(http.service())
}

async fn not_found(_: Caller, uri: Uri) -> Response {
    let message = format!("there is nothing at {}", answer::cut(uri.path()));
    answer::refusal(StatusCode::NOT_FOUND, "not_found", message)
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn paths_are_urls() {
        assert_eq!(path_of("git.merge@2"), "/skills/git.merge@2");
        assert_eq!(
            path_of("a?b#c%d\"é|<b>@1"),
            "/skills/a%3Fb%23c%25d%22é%7C%3Cb%3E@1"
        );
    }
}
