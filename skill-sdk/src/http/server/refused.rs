//! Requests that are no HTTP are refused by hyper itself, without a body. They get the envelope of all errors here.

use axum::http::StatusCode;

use crate::error::SkillError;
use crate::http::answer::document;

/// The answer in place of one that hyper wrote for a request that it could not read; `None` for any other bytes.
pub(super) fn in_own_words(bytes: &[u8]) -> Option<Vec<u8>> {
    // Nearly all answers end with a body, so this is one comparison.
    if !bytes.ends_with(b"\r\n\r\n") || bytes.len() > 300 {
        return None;
    }
    let head = std::str::from_utf8(bytes).ok()?;
    let status = head.strip_prefix("HTTP/1.1 4")?.get(..2)?;
    let has = |header: &str| head.lines().any(|line| line.eq_ignore_ascii_case(header));
    let typed = head
        .lines()
        .any(|line| line.to_ascii_lowercase().starts_with("content-type:"));
    if !has("content-length: 0") || typed {
        return None;
    }
    let (status, error) = match status {
        "00" => (
            StatusCode::BAD_REQUEST,
            SkillError::terminal("bad_request", "the request is not HTTP that can be read"),
        ),
        "14" => (
            StatusCode::URI_TOO_LONG,
            SkillError::terminal("uri_too_long", "the path of the request is too long"),
        ),
        "31" => (
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            SkillError::terminal(
                "headers_too_large",
                "the request has too many headers, or they are too long",
            ),
        ),
        _ => return None,
    };
    let body = document(&error);
    let head = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        status.as_str(),
        status.canonical_reason().unwrap_or_default(),
        body.len()
    );
    Some([head.into_bytes(), body].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_without_a_body_get_one() {
        for (status, code) in [
            ("400 Bad Request", "bad_request"),
            ("414 URI Too Long", "uri_too_long"),
            ("431 Request Header Fields Too Large", "headers_too_large"),
        ] {
            let head = format!(
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\ndate: Mon, 30 Nov 2026 00:00:00 GMT\r\n\r\n"
            );
            let own = String::from_utf8(in_own_words(head.as_bytes()).unwrap()).unwrap();
            let (head, body) = own.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{head}");
            assert!(
                head.ends_with(&format!("content-length: {}", body.len())),
                "{head}"
            );
            assert!(
                body.starts_with(&format!("{{\"error\":{{\"code\":\"{code}\"")),
                "{body}"
            );
        }
    }

    #[test]
    fn other_bytes_are_left_alone() {
        for bytes in [
            "",
            "\r\n\r\n",
            "HTTP/1.1 4",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}",
        ] {
            assert_eq!(in_own_words(bytes.as_bytes()), None, "{bytes:?}");
        }
    }
}
