//! The outside of a token: where it stands in the request, its three parts, its header.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::refusal::Reason;

/// The longest token that is looked at, in bytes.
pub const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// The token in the value of a header `Authorization`.
pub(super) fn bearer(authorization: &[u8]) -> Result<&str, Reason> {
    let text = std::str::from_utf8(authorization).map_err(|_| Reason::NotBearer)?;
    let (scheme, token) = text.split_once(' ').ok_or(Reason::NotBearer)?;
    let token = token.trim_ascii();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(Reason::NotBearer);
    }
    if token.len() > MAX_TOKEN_BYTES {
        return Err(Reason::TooLong);
    }
    Ok(token)
}

/// A token whose signature is still to be checked.
pub(super) struct Unverified<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key_id: String,
    /// What is signed: header and claims as they are written.
    pub(super) message: &'a str,
    pub(super) claims: &'a str,
    pub(super) signature: &'a str,
}

/// Whoever has a token is its caller, so nothing of it is printed.
impl fmt::Debug for Unverified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unverified")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// The members of a header that decide something.
#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default, deserialize_with = "present")]
    crit: bool,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

impl<'a> Unverified<'a> {
    /// Reads the header, and refuses all algorithms but three before any key is looked for.
    pub(super) fn read(token: &'a str) -> Result<Self, Reason> {
        let (message, signature) = token.rsplit_once('.').ok_or(Reason::NotThreeParts)?;
        let (header, claims) = message.split_once('.').ok_or(Reason::NotThreeParts)?;
        if claims.contains('.') || signature.is_empty() {
            return Err(Reason::NotThreeParts);
        }
        let header = decode(header).ok_or(Reason::Header)?;
        // A list would be taken for the members in their order.
        if !header.trim_ascii_start().starts_with(b"{") {
            return Err(Reason::Header);
        }
        let header: Header = serde_json::from_slice(&header).map_err(|_| Reason::Header)?;
        let algorithm = match header.alg.as_str() {
            "RS256" => Algorithm::RS256,
            "RS384" => Algorithm::RS384,
            "RS512" => Algorithm::RS512,
            _ => return Err(Reason::Algorithm),
        };
        if header.crit {
            return Err(Reason::Critical);
        }
        Ok(Self {
            algorithm,
            key_id: header.kid.ok_or(Reason::NoKeyId)?,
            message,
            claims,
            signature,
        })
    }
}

/// Decodes one part of a token.
pub(super) fn decode(part: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_token_stands() {
        for good in ["Bearer t", "bearer t", "BEARER   t  ", "Bearer t\t"] {
            assert_eq!(bearer(good.as_bytes()), Ok("t"), "{good:?}");
        }
        // What stands behind the scheme is judged as a token.
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
            assert_eq!(bearer(bad.as_bytes()), Err(Reason::NotBearer), "{bad:?}");
        }
        assert_eq!(bearer(b"Bearer \xff"), Err(Reason::NotBearer));
        let long = format!("Bearer {}", "a".repeat(MAX_TOKEN_BYTES + 1));
        assert_eq!(bearer(long.as_bytes()), Err(Reason::TooLong));
    }

    #[test]
    fn headers() {
        let read = |header: &str| {
            let token = format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header));
            Unverified::read(&token).map(|token| (token.algorithm, token.key_id.clone()))
        };
        assert_eq!(
            read(r#"{"alg":"RS384","kid":"k","typ":"at+jwt","x":1}"#),
            Ok((Algorithm::RS384, "k".to_owned()))
        );
        for (header, reason) in [
            (r#"{"alg":"none","kid":"k"}"#, Reason::Algorithm),
            (r#"{"alg":"None","kid":"k"}"#, Reason::Algorithm),
            (r#"{"alg":"HS256","kid":"k"}"#, Reason::Algorithm),
            (r#"{"alg":"ES256","kid":"k"}"#, Reason::Algorithm),
            (r#"{"alg":"PS256","kid":"k"}"#, Reason::Algorithm),
            (r#"{"alg":"rs256","kid":"k"}"#, Reason::Algorithm),
            (r#"{"alg":"RS256 ","kid":"k"}"#, Reason::Algorithm),
            (r#"{"alg":["RS256"],"kid":"k"}"#, Reason::Header),
            (r#"{"alg":null,"kid":"k"}"#, Reason::Header),
            (r#"{"alg":"RS256","alg":"RS256","kid":"k"}"#, Reason::Header),
            (r#"{"kid":"k"}"#, Reason::Header),
            (r#"["RS256","k"]"#, Reason::Header),
            (r#"{"alg":"RS256","kid":7}"#, Reason::Header),
            (r#"{"alg":"RS256"}"#, Reason::NoKeyId),
            (r#"{"alg":"RS256","kid":null}"#, Reason::NoKeyId),
            (
                r#"{"alg":"RS256","kid":"k","crit":["b64"],"b64":false}"#,
                Reason::Critical,
            ),
            (r#"{"alg":"RS256","kid":"k","crit":[]}"#, Reason::Critical),
            (r#"{"alg":"RS256","kid":"k","crit":null}"#, Reason::Critical),
            ("", Reason::Header),
            ("x", Reason::Header),
        ] {
            assert_eq!(read(header), Err(reason), "{header}");
        }
    }

    #[test]
    fn nothing_of_a_token_is_printed() {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS384","kid":"hunter2"}"#);
        let token = format!("{header}.aHVudGVyMg.hunter2");
        let printed = format!("{:?}", Unverified::read(&token).unwrap());
        for part in ["hunter2", "aHVudGVyMg", header.as_str()] {
            assert!(!printed.contains(part), "{printed}");
        }
    }

    #[test]
    fn parts() {
        for token in ["", "a", "a.b", "a.b.c.d", "e30.e30.", "..", "a b.c"] {
            assert_eq!(
                Unverified::read(token).unwrap_err(),
                Reason::NotThreeParts,
                "{token}"
            );
        }
        for token in ["e30=.e30.AA", "e+0.e30.AA", "\u{e9}.b.c", ".e30.AA"] {
            assert_eq!(Unverified::read(token).unwrap_err(), Reason::Header, "{token}");
        }
    }
}
