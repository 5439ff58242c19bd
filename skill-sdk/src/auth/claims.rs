//! From the claims of a token whose signature is good to the caller.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::refusal::Reason;
use super::settings::AuthSettings;
use super::{token, uuid};
use crate::context::{Caller, CallerClaims, PrincipalType};
use crate::contract::json;

/// How far the clocks of the issuer and of the host may differ, in seconds.
pub const LEEWAY_SECONDS: i64 = 5;

/// Whether a token that expires at `expires_at` is over at `now`, both in seconds since 1970.
pub(super) fn is_expired(expires_at: i64, now: i64) -> bool {
    expires_at <= now.saturating_sub(LEEWAY_SECONDS)
}

/// The caller that the claims speak of, if they are for this host and for now.
pub(super) fn caller(part: &str, settings: &AuthSettings, now: i64) -> Result<Caller, Reason> {
    let text = token::decode(part).ok_or(Reason::Claims)?;
    let Ok(Value::Object(claims)) = json::parse(&text) else {
        return Err(Reason::Claims);
    };
    let expires_at = time(&claims, "exp")?;
    let issued_at = time(&claims, "iat")?;
    let not_before = time(&claims, "nbf")?;
    if text_of(&claims, "iss")? != settings.issuer {
        return Err(Reason::Issuer);
    }
    // A list never passes: a token for several services could be replayed from one to the other.
    match required(&claims, "aud")? {
        Value::String(audience) if *audience == settings.audience => {}
        _ => return Err(Reason::Audience),
    }
    if is_expired(expires_at, now) {
        return Err(Reason::Expired);
    }
    for (name, time) in [("nbf", not_before), ("iat", issued_at)] {
        if time > now.saturating_add(LEEWAY_SECONDS) {
            return Err(Reason::NotYet(name));
        }
    }
    let token_id = text_of(&claims, "jti")?.to_owned();
    let credential_id = match claims.get("credential_id") {
        None | Some(Value::Null) => token_id.clone(),
        Some(Value::String(id)) if id.is_empty() => token_id.clone(),
        Some(Value::String(id)) => id.clone(),
        Some(_) => return Err(Reason::Form("credential_id")),
    };
    if credential_id.is_empty() {
        return Err(Reason::Form("jti"));
    }
    Ok(Caller::new(CallerClaims {
        tenant_id: id(&claims, "tenant_id")?,
        principal_id: id(&claims, "sub")?,
        principal_type: match optional_text(&claims, "principal_type") {
            Some(kind) => PrincipalType::Named(kind),
            None => PrincipalType::Unknown,
        },
        credential_id,
        audience: settings.audience.clone(),
        issuer: settings.issuer.clone(),
        token_id,
        scopes: scopes(&claims, "scope")?.unwrap_or_default(),
        scope_ceiling: scopes(&claims, "scope_ceiling")?,
        expires_at,
        issued_at,
        // These say something about the caller and decide nothing here: one of a wrong form is as good as none.
        session_id: optional_text(&claims, "session_id").and_then(|id| uuid::normalized(&id)),
        auth_time: claims.get("auth_time").and_then(seconds),
        acr: optional_text(&claims, "acr"),
        claims,
    }))
}

fn required<'a>(claims: &'a Map<String, Value>, name: &'static str) -> Result<&'a Value, Reason> {
    match claims.get(name) {
        None | Some(Value::Null) => Err(Reason::Missing(name)),
        Some(value) => Ok(value),
    }
}

fn text_of<'a>(claims: &'a Map<String, Value>, name: &'static str) -> Result<&'a str, Reason> {
    required(claims, name)?.as_str().ok_or(Reason::Form(name))
}

fn optional_text(claims: &Map<String, Value>, name: &str) -> Option<String> {
    let text = claims.get(name)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn id(claims: &Map<String, Value>, name: &'static str) -> Result<String, Reason> {
    uuid::normalized(text_of(claims, name)?).ok_or(Reason::Form(name))
}

fn time(claims: &Map<String, Value>, name: &'static str) -> Result<i64, Reason> {
    seconds(required(claims, name)?).ok_or(Reason::Form(name))
}

/// A number of seconds; what is behind the point does not count.
fn seconds(value: &Value) -> Option<i64> {
    let Value::Number(number) = value else {
        return None;
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "cutting the fraction is meant, and a number beyond the range becomes its end"
    )]
    number.as_i64().or_else(|| {
        number
            .as_f64()
            .filter(|seconds| seconds.is_finite())
            .map(|seconds| seconds as i64)
    })
}

/// Scopes: a list of texts, or one text with spaces between them. `None` when there is no such claim.
fn scopes(claims: &Map<String, Value>, name: &'static str) -> Result<Option<BTreeSet<String>>, Reason> {
    let scopes: Vec<&str> = match claims.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.split(' ').collect(),
        Some(Value::Array(items)) => items
            .iter()
            .map(Value::as_str)
            .collect::<Option<_>>()
            .ok_or(Reason::Form(name))?,
        Some(_) => return Err(Reason::Form(name)),
    };
    let ambiguous = |c: char| c.is_whitespace() || c.is_control();
    if scopes.iter().any(|scope| scope.contains(ambiguous)) {
        return Err(Reason::Form(name));
    }
    Ok(Some(
        scopes
            .into_iter()
            .filter(|scope| !scope.is_empty())
            .map(str::to_owned)
            .collect(),
    ))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_000_000;

    /// The caller of good claims with one change.
    fn with(name: &str, value: Value) -> Result<Caller, Reason> {
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
        of(&claims.to_string())
    }

    fn of(claims: &str) -> Result<Caller, Reason> {
        let settings = AuthSettings::new("https://iam.test", "acme-skills", "https://iam.test/jwks").unwrap();
        caller(&URL_SAFE_NO_PAD.encode(claims), &settings, NOW)
    }

    #[test]
    fn required_claims_have_to_be_there_in_their_form() {
        for name in ["iss", "sub", "aud", "tenant_id", "iat", "nbf", "exp", "jti"] {
            for absent in [json!("absent"), Value::Null] {
                assert_eq!(with(name, absent), Err(Reason::Missing(name)), "{name}");
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
            assert_eq!(
                with(name, value.clone()),
                Err(Reason::Form(name)),
                "{name} {value}"
            );
        }
    }

    #[test]
    fn issuer_and_audience_are_equal_to_the_letter() {
        for issuer in ["https://iam.test/", "https://IAM.test", "", "https://iam.test\n"] {
            assert_eq!(with("iss", json!(issuer)), Err(Reason::Issuer), "{issuer:?}");
        }
        for audience in [
            json!("Acme-Skills"),
            json!("acme-skills "),
            json!(["acme-skills"]),
            json!(["acme-skills", "other"]),
            json!({}),
            json!(1),
        ] {
            assert_eq!(with("aud", audience.clone()), Err(Reason::Audience), "{audience}");
        }
    }

    #[test]
    fn times_have_five_seconds() {
        for (name, offset, result) in [
            ("exp", -4, None),
            ("exp", -5, Some(Reason::Expired)),
            ("exp", i64::MIN + NOW, Some(Reason::Expired)),
            ("nbf", 5, None),
            ("nbf", 6, Some(Reason::NotYet("nbf"))),
            ("iat", 5, None),
            ("iat", 6, Some(Reason::NotYet("iat"))),
            ("iat", i64::MAX - NOW, Some(Reason::NotYet("iat"))),
        ] {
            let verdict = with(name, json!(NOW.saturating_add(offset))).err();
            assert_eq!(verdict, result, "{name} {offset}");
        }
        assert_eq!(with("exp", json!(1_000_000.9)).unwrap().expires_at(), NOW);
        assert_eq!(with("exp", json!(1e300)).unwrap().expires_at(), i64::MAX);
        assert_eq!(with("exp", json!(-1e300)), Err(Reason::Expired));
        assert_eq!(with("nbf", json!(u64::MAX)), Err(Reason::NotYet("nbf")));
    }

    #[test]
    fn what_the_caller_knows() {
        let caller = with("sub", json!("22222222ABCD42228222222222222222")).unwrap();
        assert_eq!(caller.principal_id(), "22222222-abcd-4222-8222-222222222222");
        assert_eq!(caller.credential_id(), "jti-1");
        assert_eq!(caller.principal_type(), &PrincipalType::Unknown);
        assert_eq!(
            (caller.session_id(), caller.auth_time(), caller.acr()),
            (None, None, None)
        );
        assert!(caller.scopes().is_empty() && caller.scope_ceiling().is_none());
        assert_eq!(caller.token_claims()["aud"], "acme-skills");

        let named = with("principal_type", json!("agent")).unwrap();
        assert_eq!(named.principal_type(), &PrincipalType::Named("agent".into()));
        assert_eq!(with("credential_id", json!("c")).unwrap().credential_id(), "c");
        assert_eq!(with("credential_id", json!("")).unwrap().credential_id(), "jti-1");
        assert_eq!(with("acr", json!("high")).unwrap().acr(), Some("high"));
        assert_eq!(with("auth_time", json!(12.5)).unwrap().auth_time(), Some(12));
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
            with("scope", scopes).unwrap().scopes().iter().cloned().collect()
        };
        assert_eq!(names(json!("a b  c a")), ["a", "b", "c"]);
        assert_eq!(names(json!(["b", "a", ""])), ["a", "b"]);
        assert_eq!(names(json!("")), [""; 0]);
        assert_eq!(names(Value::Null), [""; 0]);
        assert_eq!(
            with("scope_ceiling", json!([]))
                .unwrap()
                .scope_ceiling()
                .unwrap()
                .len(),
            0
        );
        assert_eq!(
            with("scope_ceiling", json!(""))
                .unwrap()
                .scope_ceiling()
                .unwrap()
                .len(),
            0
        );
        assert_eq!(
            with("scope_ceiling", json!("a b"))
                .unwrap()
                .scope_ceiling()
                .unwrap()
                .len(),
            2
        );
        assert!(
            with("scope_ceiling", Value::Null)
                .unwrap()
                .scope_ceiling()
                .is_none()
        );
    }

    #[test]
    fn claims_are_an_object() {
        for claims in [
            "",
            "x",
            "[]",
            "null",
            "{} {}",
            r#"{"$serde_json::private::RawValue": "{}"}"#,
        ] {
            assert_eq!(of(claims), Err(Reason::Claims), "{claims}");
        }
        let settings = AuthSettings::new("i", "a", "u").unwrap();
        assert_eq!(caller("e30=", &settings, NOW), Err(Reason::Claims));
    }
}
