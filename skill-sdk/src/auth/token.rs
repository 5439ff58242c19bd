//! The form of a token: its place in the request, its header, its signature.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::{Map, Value};

use super::error::AuthError;
use crate::contract::json;

/// The longest token that is accepted, in bytes.
pub const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// The token in the value of a header `Authorization`.
pub(super) fn bearer(authorization: &[u8]) -> Result<&str, AuthError> {
    let text = std::str::from_utf8(authorization).unwrap_or_default();
    let token = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim_ascii(),
        _ => "",
    };
    match token.len() {
        0 => Err(AuthError::invalid(
            "the header Authorization holds no bearer token",
        )),
        length if length > MAX_TOKEN_BYTES => Err(AuthError::invalid("the token is too long")),
        _ => Ok(token),
    }
}

/// The header of a token whose signature is still to be verified, and the id of the key that signed it.
///
/// All algorithms but three are rejected here, before any key is looked up.
pub(super) fn header(token: &str) -> Result<(Algorithm, String), AuthError> {
    let header = jsonwebtoken::decode_header(token).map_err(|error| match error.kind() {
        ErrorKind::InvalidToken => AuthError::invalid("the token does not have three parts"),
        _ => AuthError::invalid("the header of the token is not readable"),
    })?;
    if !matches!(header.alg, Algorithm::RS256 | Algorithm::RS384 | Algorithm::RS512) {
        return Err(AuthError::invalid("the algorithm must be RS256, RS384 or RS512"));
    }
    if header.crit.is_some() {
        return Err(AuthError::invalid(
            "the header of the token has critical extensions, which are not supported",
        ));
    }
    match header.kid {
        Some(key_id) => Ok((header.alg, key_id)),
        None => Err(AuthError::invalid("the header of the token names no key")),
    }
}

/// The claims of the token if its signature is valid. The claims are still to be validated.
///
/// `jsonwebtoken::decode` with its `Validation` is not used: it accepts a list in `aud`, does not validate `iat`, and takes the
/// time from the system, so that no test could set it.
pub(super) fn verify(
    token: &str,
    algorithm: Algorithm,
    key: &DecodingKey,
) -> Result<Map<String, Value>, AuthError> {
    let (message, signature) = token.rsplit_once('.').unwrap_or_default();
    let verified = jsonwebtoken::crypto::verify(signature, message.as_bytes(), key, algorithm);
    if !matches!(verified, Ok(true)) {
        return Err(AuthError::invalid("the signature is not valid"));
    }
    let (_, claims) = message.split_once('.').unwrap_or_default();
    let claims = URL_SAFE_NO_PAD.decode(claims).unwrap_or_default();
    match json::parse(&claims) {
        Ok(Value::Object(claims)) => Ok(claims),
        _ => Err(AuthError::invalid("the claims are not a JSON object")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason<T>(result: Result<T, AuthError>) -> String {
        result.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn where_the_token_stands() {
        for good in ["Bearer t", "bearer t", "BEARER   t  ", "Bearer t\t"] {
            assert_eq!(bearer(good.as_bytes()), Ok("t"), "{good:?}");
        }
        // Everything after the scheme is validated as a token.
        assert_eq!(bearer(b"Bearer a b"), Ok("a b"));
        for bad in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer\tt",
            "Basic t",
            "t",
            " Bearer t",
            "Bearer: t",
        ] {
            assert!(
                reason(bearer(bad.as_bytes())).contains("no bearer token"),
                "{bad:?}"
            );
        }
        assert!(reason(bearer(b"Bearer \xff")).contains("no bearer token"));
        let long = format!("Bearer {}", "a".repeat(MAX_TOKEN_BYTES + 1));
        assert!(reason(bearer(long.as_bytes())).contains("too long"));
    }

    #[test]
    fn headers() {
        let read = |header: &str| {
            let token = format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header));
            super::header(&token)
        };
        let good = read(r#"{"alg":"RS384","kid":"k","typ":"at+jwt","x":1}"#);
        assert_eq!(good, Ok((Algorithm::RS384, "k".to_owned())));
        for (header, expected) in [
            (r#"{"alg":"none","kid":"k"}"#, "readable"),
            (r#"{"alg":"None","kid":"k"}"#, "readable"),
            (r#"{"alg":"HS256","kid":"k"}"#, "algorithm"),
            (r#"{"alg":"ES256","kid":"k"}"#, "algorithm"),
            (r#"{"alg":"PS256","kid":"k"}"#, "algorithm"),
            (r#"{"alg":"rs256","kid":"k"}"#, "readable"),
            (r#"{"alg":"RS256 ","kid":"k"}"#, "readable"),
            (r#"{"alg":["RS256"],"kid":"k"}"#, "readable"),
            (r#"{"alg":null,"kid":"k"}"#, "readable"),
            (r#"{"alg":"RS256","alg":"RS256","kid":"k"}"#, "readable"),
            (r#"{"kid":"k"}"#, "readable"),
            (r#"["RS256","k"]"#, "readable"),
            (r#"{"alg":"RS256","kid":7}"#, "readable"),
            (r#"{"alg":"RS256"}"#, "names no key"),
            (r#"{"alg":"RS256","kid":null}"#, "names no key"),
            (
                r#"{"alg":"RS256","kid":"k","crit":["b64"],"b64":false}"#,
                "critical",
            ),
            (r#"{"alg":"RS256","kid":"k","crit":[]}"#, "critical"),
            ("", "readable"),
            ("x", "readable"),
        ] {
            assert!(reason(read(header)).contains(expected), "{header}");
        }
    }

    #[test]
    fn parts() {
        for token in ["", "a", "a.b", "a b.c"] {
            assert!(reason(header(token)).contains("three parts"), "{token}");
        }
        for token in [
            "..",
            "a.b.c.d",
            "e30=.e30.AA",
            "e+0.e30.AA",
            "\u{e9}.b.c",
            ".e30.AA",
        ] {
            assert!(reason(header(token)).contains("readable"), "{token}");
        }
    }
}
