//! The claims of a token: validated, and turned into the caller.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::error::AuthError;
use super::settings::AuthSettings;
use crate::context::Caller;

/// How far the clocks of the issuer and of the server may differ, in seconds.
pub const LEEWAY_SECONDS: i64 = 5;

type Claims = Map<String, Value>;

/// Whether a token that expires at `expires_at` has expired at `now`, both in seconds since 1970.
pub(super) fn is_expired(expires_at: i64, now: i64) -> bool {
    expires_at <= now.saturating_sub(LEEWAY_SECONDS)
}

/// The caller that the claims name, if they are valid for this server and at `now`.
pub(super) fn caller(claims: Claims, settings: &AuthSettings, now: i64) -> Result<Caller, AuthError> {
    let [expires_at, issued_at, not_before] =
        ["exp", "iat", "nbf"].map(|name| required(&claims, name, seconds));
    let (expires_at, issued_at, not_before) = (expires_at?, issued_at?, not_before?);
    if required(&claims, "iss", Value::as_str)? != settings.issuer {
        return Err(AuthError::invalid("the issuer is not the expected one"));
    }
    // A list never passes: a token for several services could be replayed from one to the other.
    if required(&claims, "aud", Some)?.as_str() != Some(&settings.audience) {
        return Err(AuthError::invalid(
            "the audience is not the expected one, or is a list",
        ));
    }
    if is_expired(expires_at, now) {
        return Err(expired());
    }
    for (name, time) in [("nbf", not_before), ("iat", issued_at)] {
        if time > now.saturating_add(LEEWAY_SECONDS) {
            return Err(AuthError::invalid(format!("the claim {name} is in the future")));
        }
    }
    let token_id = required(&claims, "jti", Value::as_str)?.to_owned();
    let credential_id = optional(&claims, "credential_id", Value::as_str)?.filter(|id| !id.is_empty());
    let credential_id = credential_id.unwrap_or(&token_id).to_owned();
    if credential_id.is_empty() {
        return Err(malformed("jti"));
    }
    // These describe the caller and decide nothing here: a malformed one is treated as absent.
    let text = |name: &str| {
        claims
            .get(name)?
            .as_str()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    Ok(Caller {
        tenant_id: required(&claims, "tenant_id", uuid)?,
        principal_id: required(&claims, "sub", uuid)?,
        principal_type: text("principal_type"),
        credential_id,
        audience: settings.audience.clone(),
        issuer: settings.issuer.clone(),
        token_id,
        scopes: optional(&claims, "scope", scopes)?.unwrap_or_default(),
        scope_ceiling: optional(&claims, "scope_ceiling", scopes)?,
        expires_at,
        issued_at,
        session_id: claims.get("session_id").and_then(uuid),
        auth_time: claims.get("auth_time").and_then(seconds),
        acr: text("acr"),
        claims,
    })
}

pub(super) fn expired() -> AuthError {
    AuthError::invalid("the token has expired")
}

fn malformed(name: &str) -> AuthError {
    AuthError::invalid(format!("the claim {name} has the wrong form"))
}

/// A claim; `None` when it is missing or null.
fn optional<'a, T>(
    claims: &'a Claims,
    name: &str,
    read: impl Fn(&'a Value) -> Option<T>,
) -> Result<Option<T>, AuthError> {
    match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or_else(|| malformed(name)),
    }
}

fn required<'a, T>(
    claims: &'a Claims,
    name: &str,
    read: impl Fn(&'a Value) -> Option<T>,
) -> Result<T, AuthError> {
    let missing = || AuthError::invalid(format!("the claim {name} is missing"));
    optional(claims, name, read)?.ok_or_else(missing)
}

/// The UUID in lower case with dashes.
fn uuid(value: &Value) -> Option<String> {
    Uuid::try_parse(value.as_str()?).ok().map(|uuid| uuid.to_string())
}

/// A number of seconds without its fraction.
fn seconds(value: &Value) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "cutting the fraction is meant, and a number beyond the range becomes its end"
    )]
    let whole = |seconds: f64| seconds as i64;
    value.as_i64().or_else(|| value.as_f64().map(whole))
}

/// Scopes: a list of strings, or one string with spaces between them.
fn scopes(value: &Value) -> Option<BTreeSet<String>> {
    let scopes: Vec<&str> = match value {
        Value::String(text) => text.split(' ').collect(),
        Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    let ambiguous = |c: char| c.is_whitespace() || c.is_control();
    if scopes.iter().any(|scope| scope.contains(ambiguous)) {
        return None;
    }
    let named = scopes.into_iter().filter(|scope| !scope.is_empty());
    Some(named.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_000_000;

    /// The caller of good claims with one change.
    fn with(name: &str, value: Value) -> Result<Caller, AuthError> {
        let mut claims = json!({
            "iss": "https://iam.test", "sub": "22222222-2222-4222-8222-222222222222",
            "tenant_id": "11111111-1111-4111-8111-111111111111", "aud": "acme-skills", "iat": NOW, "nbf": NOW,
            "exp": NOW + 300, "jti": "jti-1",
        });
        if value == json!("absent") {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value;
        }
        let settings = AuthSettings::new("https://iam.test", "acme-skills", "https://iam.test/jwks").unwrap();
        caller(claims.as_object().unwrap().clone(), &settings, NOW)
    }

    fn missing(name: &str) -> AuthError {
        AuthError::invalid(format!("the claim {name} is missing"))
    }

    fn in_future(name: &str) -> AuthError {
        AuthError::invalid(format!("the claim {name} is in the future"))
    }

    #[test]
    fn required_claims_have_to_be_there_in_their_form() {
        for name in ["iss", "sub", "aud", "tenant_id", "iat", "nbf", "exp", "jti"] {
            for absent in [json!("absent"), Value::Null] {
                assert_eq!(with(name, absent), Err(missing(name)), "{name}");
            }
        }
        for (name, value) in [
            ("iss", json!(["https://iam.test"])),
            ("sub", json!(7)),
            ("sub", json!("user-1")),
            ("tenant_id", json!("acme")),
            ("tenant_id", json!({})),
            ("jti", json!(7)),
            ("jti", json!("")),
            ("exp", json!("1000300")),
            ("exp", json!(true)),
            ("exp", json!([1_000_300])),
            ("iat", json!(false)),
            ("nbf", json!("0")),
            ("credential_id", json!(7)),
            ("scope", json!(7)),
            ("scope", json!({"a": true})),
            ("scope", json!(["a", 7])),
            ("scope", json!(["a b"])),
            ("scope", json!(["a\n"])),
            ("scope", json!("a b\n")),
            ("scope", json!("a\tb")),
            ("scope_ceiling", json!(["a\u{2028}"])),
            ("scope_ceiling", json!(true)),
        ] {
            assert_eq!(with(name, value.clone()), Err(malformed(name)), "{name} {value}");
        }
    }

    #[test]
    fn issuer_and_audience_are_equal_to_the_letter() {
        for issuer in ["https://iam.test/", "https://IAM.test", "", "https://iam.test\n"] {
            assert_eq!(
                with("iss", json!(issuer)),
                Err(AuthError::invalid("the issuer is not the expected one")),
                "{issuer:?}"
            );
        }
        for audience in [
            json!("Acme-Skills"),
            json!("acme-skills "),
            json!(["acme-skills"]),
            json!(["acme-skills", "other"]),
            json!({}),
            json!(1),
        ] {
            assert_eq!(
                with("aud", audience.clone()),
                Err(AuthError::invalid(
                    "the audience is not the expected one, or is a list"
                )),
                "{audience}"
            );
        }
    }

    #[test]
    fn times_have_five_seconds() {
        for (name, offset, result) in [
            ("exp", -4, None),
            ("exp", -5, Some(expired())),
            ("exp", i64::MIN + NOW, Some(expired())),
            ("nbf", 5, None),
            ("nbf", 6, Some(in_future("nbf"))),
            ("iat", 5, None),
            ("iat", 6, Some(in_future("iat"))),
            ("iat", i64::MAX - NOW, Some(in_future("iat"))),
        ] {
            let verdict = with(name, json!(NOW.saturating_add(offset))).err();
            assert_eq!(verdict, result, "{name} {offset}");
        }
        assert_eq!(with("exp", json!(1_000_000.9)).unwrap().expires_at, NOW);
        assert_eq!(with("exp", json!(1e300)).unwrap().expires_at, i64::MAX);
        assert_eq!(with("exp", json!(-1e300)), Err(expired()));
        assert_eq!(with("nbf", json!(u64::MAX)), Err(in_future("nbf")));
    }

    #[test]
    fn what_the_caller_knows() {
        let caller = with("sub", json!("22222222ABCD42228222222222222222")).unwrap();
        assert_eq!(caller.principal_id, "22222222-abcd-4222-8222-222222222222");
        assert_eq!(caller.credential_id, "jti-1");
        assert_eq!(caller.principal_type, None);
        assert_eq!(
            (&caller.session_id, caller.auth_time, &caller.acr),
            (&None, None, &None)
        );
        assert!(caller.scopes.is_empty() && caller.scope_ceiling.is_none());
        assert_eq!(caller.claims["aud"], "acme-skills");

        let named = with("principal_type", json!("agent")).unwrap();
        assert_eq!(named.principal_type.as_deref(), Some("agent"));
        assert_eq!(with("credential_id", json!("c")).unwrap().credential_id, "c");
        assert_eq!(with("credential_id", json!("")).unwrap().credential_id, "jti-1");
        assert_eq!(with("acr", json!("high")).unwrap().acr.as_deref(), Some("high"));
        assert_eq!(with("auth_time", json!(12.5)).unwrap().auth_time, Some(12));
        // Claims that decide nothing are dropped when they are of no use.
        for (name, value) in [
            ("principal_type", json!(7)),
            ("session_id", json!("s-1")),
            ("auth_time", json!("1")),
            ("acr", json!(1)),
        ] {
            assert!(with(name, value).is_ok(), "{name}");
        }
    }

    #[test]
    fn scopes_and_their_ceiling() {
        let names = |scopes: Value| -> Vec<String> {
            with("scope", scopes).unwrap().scopes.iter().cloned().collect()
        };
        assert_eq!(names(json!("a b  c a")), ["a", "b", "c"]);
        assert_eq!(names(json!(["b", "a", ""])), ["a", "b"]);
        assert_eq!(names(json!("")), [""; 0]);
        assert_eq!(names(Value::Null), [""; 0]);
        for (ceiling, length) in [
            (json!([]), Some(0)),
            (json!(""), Some(0)),
            (json!("a b"), Some(2)),
            (Value::Null, None),
        ] {
            let caller = with("scope_ceiling", ceiling).unwrap();
            let known = caller.scope_ceiling.as_ref();
            assert_eq!(known.map(BTreeSet::len), length);
        }
    }

    #[test]
    fn uuids() {
        const UUID: &str = "11111111-abcd-4111-8111-111111111111";
        for text in [
            UUID,
            "11111111-ABCD-4111-8111-111111111111",
            "11111111abcd41118111111111111111",
            "{11111111-abcd-4111-8111-111111111111}",
            "urn:uuid:11111111-abcd-4111-8111-111111111111",
        ] {
            assert_eq!(uuid(&json!(text)).as_deref(), Some(UUID), "{text}");
        }
        for text in [
            "",
            "acme",
            "11111111-abcd-4111-8111-11111111111",
            "11111111-abcd-4111-8111-111111111111\n",
            "11111111-abcd-4111-8111-11111111111g",
            "+1111111abcd41118111111111111111",
            "{11111111-abcd-4111-8111-111111111111",
            "--------------------------------",
        ] {
            assert_eq!(uuid(&json!(text)), None, "{text:?}");
        }
    }
}
