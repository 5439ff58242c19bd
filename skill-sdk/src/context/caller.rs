//! The authenticated caller.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::error::SkillError;

/// An authenticated caller, as its token describes it.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Caller {
    /// The tenant: a UUID in lower case with dashes.
    pub tenant_id: String,
    /// The principal: the claim `sub`.
    pub principal_id: String,
    /// The kind of the principal, if the token contains it.
    pub principal_type: Option<String>,
    /// The credential: the claim `credential_id`, or `jti`.
    pub credential_id: String,
    /// The audience of the token.
    pub audience: String,
    /// The issuer of the token.
    pub issuer: String,
    /// The id of the token: the claim `jti`.
    pub token_id: String,
    /// The scopes of the token. Use [`has_scope`](Self::has_scope) to check one.
    pub scopes: BTreeSet<String>,
    /// The scope ceiling: the only scopes that the caller can have. `None` if the token has no ceiling, unlike an empty ceiling.
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
    /// All claims of the token, unchanged. They may contain personal data: do not log them.
    pub claims: Map<String, Value>,
}

impl Caller {
    /// A principal of a tenant, for tests: without scopes and ceiling, with a token that never expires.
    pub fn new(tenant_id: impl Into<String>, principal_id: impl Into<String>) -> Self {
        Self {
            tenant_id: tenant_id.into(),
            principal_id: principal_id.into(),
            expires_at: i64::MAX,
            ..Self::default()
        }
    }

    /// The effective scopes, in alphabetical order: those for which [`has_scope`](Self::has_scope) is true.
    pub fn effective_scopes(&self) -> impl Iterator<Item = &str> {
        let scopes = self.scopes.iter().map(String::as_str);
        scopes.filter(|scope| self.is_under_ceiling(scope))
    }

    /// Whether the caller has the scope: the token contains it and, if there is a ceiling, the ceiling contains it.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.contains(scope) && self.is_under_ceiling(scope)
    }

    fn is_under_ceiling(&self, scope: &str) -> bool {
        let ceiling = self.scope_ceiling.as_ref();
        ceiling.is_none_or(|ceiling| ceiling.contains(scope))
    }

    /// Requires one scope.
    ///
    /// ```
    /// use skill_sdk::{SkillContext, SkillError};
    ///
    /// fn only_for_writers(ctx: &SkillContext) -> Result<(), SkillError> {
    ///     // A server that does not authenticate has no caller: reject the call.
    ///     let Some(caller) = ctx.caller() else {
    ///         return Err(SkillError::terminal("insufficient_scope", "this skill needs an authenticated caller"));
    ///     };
    ///     caller.require_scope("claims:write")
    /// }
    /// # let _ = only_for_writers;
    /// ```
    ///
    /// # Errors
    ///
    /// `insufficient_scope` (terminal) if the caller does not have the scope.
    pub fn require_scope(&self, scope: &str) -> Result<(), SkillError> {
        self.require_all_scopes(&[scope])
    }

    /// Requires at least one of the scopes.
    ///
    /// # Errors
    ///
    /// `insufficient_scope` (terminal) if the caller has none of the scopes, or the list is empty.
    pub fn require_any_scope(&self, scopes: &[&str]) -> Result<(), SkillError> {
        if scopes.iter().any(|scope| self.has_scope(scope)) {
            return Ok(());
        }
        Err(insufficient("the caller needs one of the scopes", scopes))
    }

    /// Requires all of the scopes.
    ///
    /// # Errors
    ///
    /// `insufficient_scope` (terminal) if the caller lacks a scope, or the list is empty.
    pub fn require_all_scopes(&self, scopes: &[&str]) -> Result<(), SkillError> {
        if !scopes.is_empty() && scopes.iter().all(|scope| self.has_scope(scope)) {
            return Ok(());
        }
        Err(insufficient("the caller needs the scopes", scopes))
    }
}

fn insufficient(rule: &str, scopes: &[&str]) -> SkillError {
    SkillError::terminal("insufficient_scope", format!("{rule}: {}", scopes.join(", ")))
}

// Claims may contain personal data and must not be logged.
debug_fields!(Caller {
    tenant_id,
    principal_id,
    audience,
    scopes,
    scope_ceiling
});

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(scopes: &[&str], ceiling: Option<&[&str]>) -> Caller {
        let set = |scopes: &[&str]| scopes.iter().map(|&scope| scope.to_owned()).collect();
        let mut caller = Caller::new("t", "p");
        caller.scopes = set(scopes);
        caller.scope_ceiling = ceiling.map(set);
        caller.claims.insert("email".into(), "hunter2".into());
        caller
    }

    #[test]
    fn effective_scopes_are_under_the_ceiling() {
        let effective = |caller: &Caller| caller.effective_scopes().collect::<Vec<_>>().join(" ");
        assert_eq!(effective(&caller(&["b", "a"], None)), "a b");
        assert_eq!(effective(&caller(&["b", "a"], Some(&["b", "z"]))), "b");
        assert_eq!(effective(&caller(&["a"], Some(&[]))), "");
    }

    #[test]
    fn debug_does_not_show_claims() {
        assert!(!format!("{:?}", caller(&["a"], None)).contains("hunter2"));
    }

    #[test]
    fn an_empty_ceiling_removes_all_scopes() {
        assert!(caller(&["a"], None).has_scope("a"));
        assert!(!caller(&["a"], None).has_scope("b"));
        assert!(caller(&["a", "b"], Some(&["a"])).has_scope("a"));
        assert!(!caller(&["a", "b"], Some(&["a"])).has_scope("b"));
        assert!(!caller(&["a"], Some(&[])).has_scope("a"));
    }

    #[test]
    fn required_scopes() {
        let caller = caller(&["a", "b"], Some(&["a", "b", "c"]));
        assert!(caller.require_scope("a").is_ok());
        assert!(caller.require_any_scope(&["c", "b"]).is_ok());
        assert!(caller.require_all_scopes(&["a", "b"]).is_ok());
        for failed in [
            caller.require_scope("c"),
            caller.require_any_scope(&["c", "d"]),
            caller.require_any_scope(&[]),
            caller.require_all_scopes(&["a", "c"]),
            caller.require_all_scopes(&[]),
        ] {
            let error = failed.unwrap_err();
            assert_eq!(
                (error.code(), error.is_retryable()),
                ("insufficient_scope", false)
            );
        }
    }
}
