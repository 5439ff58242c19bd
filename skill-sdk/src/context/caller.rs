//! Who calls, as the host verified it.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::error::SkillError;

/// What kind of principal calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrincipalType {
    /// The kind that the token names.
    Named(String),
    /// The token names none.
    Unknown,
}

/// A caller whose token the host verified.
#[derive(Clone, PartialEq)]
pub struct Caller(CallerClaims);

/// What a verified token says about the caller.
#[derive(Clone, PartialEq)]
pub struct CallerClaims {
    /// The tenant.
    pub tenant_id: String,
    /// The principal: the claim `sub`.
    pub principal_id: String,
    /// What kind of principal it is.
    pub principal_type: PrincipalType,
    /// The credential: the claim `credential_id`, or `jti`.
    pub credential_id: String,
    /// The audience of the token.
    pub audience: String,
    /// The issuer of the token.
    pub issuer: String,
    /// The id of the token: the claim `jti`.
    pub token_id: String,
    /// The scopes of the token.
    pub scopes: BTreeSet<String>,
    /// The scopes that the caller can have at most; `None` when the token declares no ceiling, which differs from an
    /// empty one.
    pub scope_ceiling: Option<BTreeSet<String>>,
    /// When the token expires, in seconds since 1970.
    pub expires_at: i64,
    /// When the token was issued, in seconds since 1970.
    pub issued_at: i64,
    /// The session.
    pub session_id: Option<String>,
    /// When the caller logged in, in seconds since 1970.
    pub auth_time: Option<i64>,
    /// The class of the login.
    pub acr: Option<String>,
    /// All claims of the token.
    pub claims: Map<String, Value>,
}

impl Caller {
    /// The caller with the claims of a token that was verified.
    pub fn new(claims: CallerClaims) -> Self {
        Self(claims)
    }

    /// What the token says.
    pub fn claims(&self) -> &CallerClaims {
        &self.0
    }

    /// The tenant.
    pub fn tenant_id(&self) -> &str {
        &self.0.tenant_id
    }

    /// The principal.
    pub fn principal_id(&self) -> &str {
        &self.0.principal_id
    }

    /// Whether the caller has the scope: it is among its scopes and, when a ceiling is declared, under the ceiling.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.scopes.contains(scope)
            && self
                .0
                .scope_ceiling
                .as_ref()
                .is_none_or(|ceiling| ceiling.contains(scope))
    }

    /// Fails with the code `insufficient_scope` unless the caller has one of the scopes.
    pub fn require_scope(&self, any_of: &[&str]) -> Result<(), SkillError> {
        if any_of.iter().any(|scope| self.has_scope(scope)) {
            return Ok(());
        }
        Err(SkillError::terminal(
            "insufficient_scope",
            format!("the caller needs one of the scopes: {}", any_of.join(", ")),
        ))
    }
}

/// Ids only: claims may hold personal data.
impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for CallerClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerClaims")
            .field("tenant_id", &self.tenant_id)
            .field("principal_id", &self.principal_id)
            .field("audience", &self.audience)
            .field("scopes", &self.scopes)
            .field("scope_ceiling", &self.scope_ceiling)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(scopes: &[&str], ceiling: Option<&[&str]>) -> Caller {
        let set = |scopes: &[&str]| scopes.iter().map(|&scope| scope.to_owned()).collect();
        Caller::new(CallerClaims {
            tenant_id: "t".into(),
            principal_id: "p".into(),
            principal_type: PrincipalType::Unknown,
            credential_id: "c".into(),
            audience: "a".into(),
            issuer: "i".into(),
            token_id: "j".into(),
            scopes: set(scopes),
            scope_ceiling: ceiling.map(set),
            expires_at: 2,
            issued_at: 1,
            session_id: None,
            auth_time: None,
            acr: None,
            claims: Map::new(),
        })
    }

    #[test]
    fn a_ceiling_cuts_scopes_also_when_it_is_empty() {
        assert!(caller(&["a"], None).has_scope("a"));
        assert!(!caller(&["a"], None).has_scope("b"));
        assert!(caller(&["a", "b"], Some(&["a"])).has_scope("a"));
        assert!(!caller(&["a", "b"], Some(&["a"])).has_scope("b"));
        assert!(!caller(&["a"], Some(&[])).has_scope("a"));
    }

    #[test]
    fn one_of_the_scopes_is_enough() {
        assert!(caller(&["b"], None).require_scope(&["a", "b"]).is_ok());
        let error = caller(&["c"], None).require_scope(&["a", "b"]).unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("insufficient_scope", false)
        );
    }
}
