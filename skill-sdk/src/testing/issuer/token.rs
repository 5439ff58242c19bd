//! Builds tokens.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::TestIssuer;

/// A token of a [`TestIssuer`]. It is valid unless a method changes it.
#[derive(Debug, Clone)]
#[must_use = "`sign` or `authorization` creates the token"]
pub struct TestToken<'a> {
    issuer: &'a TestIssuer,
    header: Map<String, Value>,
    claims: Map<String, Value>,
    signer: Option<String>,
    tampered: bool,
}

impl<'a> TestToken<'a> {
    pub(super) fn good(issuer: &'a TestIssuer) -> Self {
        let now = now();
        let mut token = Self {
            issuer,
            header: Map::new(),
            claims: Map::new(),
            signer: None,
            tampered: false,
        };
        let (key, _) = issuer.key(None);
        for (name, value) in [("alg", "RS256"), ("kid", &key), ("typ", "JWT")] {
            token = token.header(name, value);
        }
        for (name, value) in [
            ("iss", issuer.issuer()),
            ("aud", issuer.audience()),
            ("sub", &uuid()),
            ("tenant_id", &uuid()),
            ("jti", &uuid()),
            ("principal_type", "agent"),
        ] {
            token = token.claim(name, value);
        }
        for name in ["iat", "nbf"] {
            token = token.claim(name, now);
        }
        token.claim("exp", now + 300)
    }

    /// Sets a claim.
    pub fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims.insert(name.to_owned(), value.into());
        self
    }

    /// Removes a claim.
    pub fn without(mut self, name: &str) -> Self {
        self.claims.shift_remove(name);
        self
    }

    /// Sets a field of the header.
    pub fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.header.insert(name.to_owned(), value.into());
        self
    }

    /// Removes a field of the header.
    pub fn without_header(mut self, name: &str) -> Self {
        self.header.shift_remove(name);
        self
    }

    /// Sets the scopes of the caller.
    pub fn scopes<'s>(self, scopes: impl IntoIterator<Item = &'s str>) -> Self {
        self.claim("scope", scopes.into_iter().collect::<Vec<_>>())
    }

    /// Sets the scope ceiling of the caller.
    pub fn scope_ceiling<'s>(self, scopes: impl IntoIterator<Item = &'s str>) -> Self {
        self.claim("scope_ceiling", scopes.into_iter().collect::<Vec<_>>())
    }

    /// Sets the principal, which must be a UUID for a valid token.
    pub fn principal(self, id: &str) -> Self {
        self.claim("sub", id)
    }

    /// Sets the expiry, in seconds from now; a negative number is in the past. The token is issued now, and at least 60 s before
    /// its expiry.
    pub fn expires_in(self, seconds: i64) -> Self {
        let expires_at = now().saturating_add(seconds);
        let issued_at = now().min(expires_at.saturating_sub(60));
        self.claim("exp", expires_at)
            .claim("iat", issued_at)
            .claim("nbf", issued_at)
    }

    /// Sets the algorithm. The RS family gives valid signatures, `none` gives no signature, the HS family uses the public key as its
    /// secret. Other names give a signature of RS256.
    pub fn algorithm(self, name: &str) -> Self {
        self.header("alg", name)
    }

    /// Sets the id of the key in the header only.
    pub fn key_id(self, id: &str) -> Self {
        self.header("kid", id)
    }

    /// Signs with that key of the issuer. The header does not change.
    pub fn signed_by(mut self, id: &str) -> Self {
        self.signer = Some(id.to_owned());
        self
    }

    /// Changes the claims after signing.
    pub fn tampered(mut self) -> Self {
        self.tampered = true;
        self
    }

    /// The token.
    ///
    /// # Panics
    ///
    /// If the issuer does not have the key of [`signed_by`](Self::signed_by).
    pub fn sign(&self) -> String {
        let part = |members: &Map<String, Value>| URL_SAFE_NO_PAD.encode(json!(members).to_string());
        let header = part(&self.header);
        let message = format!("{header}.{}", part(&self.claims));
        let (_, key) = self.issuer.key(self.signer.as_deref());
        let algorithm = self.header.get("alg").and_then(Value::as_str);
        let signature = key.sign(algorithm.unwrap_or_default(), message.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature);
        if !self.tampered {
            return format!("{message}.{signature}");
        }
        let mut claims = self.claims.clone();
        claims.insert("tampered".to_owned(), true.into());
        format!("{header}.{}.{signature}", part(&claims))
    }

    /// The value of the header `Authorization` with the token.
    ///
    /// # Panics
    ///
    /// As [`sign`](Self::sign).
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.sign())
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// A random UUID.
#[expect(clippy::expect_used, reason = "a test without random numbers should stop")]
fn uuid() -> String {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).expect("the system has random numbers");
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}
