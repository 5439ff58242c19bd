//! Every reason for a rejection is logged and documented.

use std::collections::BTreeSet;

use skill_sdk::auth::{AuthError, MAX_TOKEN_BYTES};
use skill_sdk::testing::{KeysAnswer, TestIssuer};
use skill_sdk_tests::log;
use tracing::{Instrument as _, Level};

use super::{docs, verifier_with_clock};

#[expect(clippy::too_many_lines, reason = "it is one table")]
#[tokio::test]
async fn every_reason_is_logged_and_documented() {
    log::capture();
    let issuer = TestIssuer::start();
    issuer.add_key();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let good = issuer.token();
    let unsigned = good.sign();
    let (message, _) = unsigned.rsplit_once('.').unwrap();
    let token = |token: &skill_sdk::testing::TestToken<'_>| Some(token.authorization());
    let text = |text: &str| Some(text.to_owned());
    let cases = [
        (None, "the header Authorization is missing"),
        (
            text("Basic abc"),
            "the header Authorization holds no bearer token",
        ),
        (
            Some(format!("Bearer {}", "a".repeat(MAX_TOKEN_BYTES + 1))),
            "the token is too long",
        ),
        (text("Bearer abc"), "the token does not have three parts"),
        (text("Bearer a.b.c"), "the header of the token is not readable"),
        (
            token(&good.clone().algorithm("none").header("x", 1)),
            "the header of the token is not readable",
        ),
        (
            token(&good.clone().algorithm("HS256")),
            "the algorithm must be RS256, RS384 or RS512",
        ),
        (
            token(&good.clone().header("crit", vec!["x"])),
            "the header of the token has critical extensions, which are not supported",
        ),
        (
            token(&good.clone().without_header("kid")),
            "the header of the token names no key",
        ),
        (
            token(&good.clone().key_id("k9")),
            "the key is not among those of the issuer",
        ),
        (token(&good.clone().signed_by("k2")), "the signature is not valid"),
        (Some(format!("Bearer {message}.AA")), "the signature is not valid"),
        (token(&good.clone().without("jti")), "the claim jti is missing"),
        (
            token(&good.clone().claim("sub", "somebody")),
            "the claim sub has the wrong form",
        ),
        (
            token(&good.clone().claim("iss", "x")),
            "the issuer is not the expected one",
        ),
        (
            token(&good.clone().claim("aud", vec!["skills"])),
            "the audience is not the expected one, or is a list",
        ),
        (token(&good.clone().expires_in(-60)), "the token has expired"),
        (
            token(&good.clone().claim("nbf", 9_999_999_999_i64)),
            "the claim nbf is in the future",
        ),
    ];
    let mut seen = BTreeSet::new();
    for (index, (authorization, reason)) in cases.iter().enumerate() {
        // The log is rate-limited to this many rejections per second.
        clock.age_keys(1);
        let id = format!("reason-{index}");
        let span = tracing::info_span!("test", invocation_id = id);
        let verdict = verifier
            .authenticate(authorization.as_deref().map(str::as_bytes))
            .instrument(span)
            .await;
        assert_eq!(verdict.map(drop), Err(AuthError::InvalidToken((*reason).into())));
        let events = log::of_call(&id);
        let refusals: Vec<_> = events
            .iter()
            .filter(|event| event.message() == "authentication failed")
            .collect();
        assert_eq!(refusals.len(), 1, "{reason}: {events:?}");
        assert_eq!(
            (refusals[0].field("reason"), refusals[0].level),
            (*reason, Level::INFO)
        );
        seen.insert((*reason).to_owned());
    }

    clock.age_keys(1);
    for _ in 0..50 {
        let span = tracing::info_span!("test", invocation_id = "reason-many");
        let authorization = Some(&b"Bearer abc"[..]);
        let verdict = verifier.authenticate(authorization).instrument(span).await;
        assert!(verdict.is_err());
    }
    assert_eq!(log::of_call("reason-many").len(), 10);
    clock.age_keys(1);

    issuer.answer_with(KeysAnswer::Closed);
    clock.age_keys(3601);
    let authorization = good.authorization();
    let span = tracing::info_span!("test", invocation_id = "reason-keys");
    let verdict = verifier
        .authenticate(Some(authorization.as_bytes()))
        .instrument(span)
        .await;
    assert_eq!(verdict.map(drop), Err(AuthError::VerificationUnavailable));
    let events = log::of_call("reason-keys");
    let omitted = events
        .iter()
        .find(|event| event.message().contains("not in the log"));
    assert_eq!(omitted.unwrap().field("omitted"), "40");
    let refused = events.last().unwrap();
    assert_eq!(
        (refused.field("reason"), refused.level),
        ("the keys of the issuer are not available", Level::WARN)
    );
    seen.insert(refused.field("reason").to_owned());

    let explained = docs::column("reason");
    for reason in &seen {
        let fits = |row: &String| {
            let mut parts = row.split('…');
            let (start, end) = (parts.next().unwrap(), parts.next().unwrap_or_default());
            reason.starts_with(start) && reason.ends_with(end) && (row.contains('…') || row == reason)
        };
        assert!(explained.iter().any(fits), "not documented: {reason}");
    }
}
