//! Signing keys: rotation, outages of the issuer, and when keys are fetched.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use skill_sdk::auth::MAX_JWKS_BYTES;
use skill_sdk::context::States;
use skill_sdk::http::{HttpServer, ServeOptions, serve};
use skill_sdk::mcp::McpServer;
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk::pipeline::SkillSet;
use skill_sdk::skill;
use skill_sdk::testing::{KeysAnswer, TestIssuer};

use super::verifier_with_clock;

/// Does nothing.
#[skill("auth.nothing", version = "1", side_effects = "none", risk = "low")]
async fn nothing() {}

/// Verifies a token and returns the error code.
macro_rules! check {
    ($verifier:expr, $authorization:expr) => {
        $verifier
            .authenticate(Some($authorization.as_bytes()))
            .await
            .map(drop)
            .map_err(|error| error.code())
    };
}

const INVALID: Result<(), &str> = Err("invalid_token");
const UNAVAILABLE: Result<(), &str> = Err("verification_unavailable");

#[tokio::test]
async fn a_new_key_works_at_once_and_a_removed_key_until_the_next_fetch() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let old = issuer.token().authorization();
    assert_eq!(check!(verifier, old), Ok(()));
    assert_eq!(issuer.rotate(), "k2");
    let new = issuer.token().authorization();
    // The last fetch was just now.
    assert_eq!(check!(verifier, new), INVALID);
    clock.age_keys(9);
    assert_eq!(check!(verifier, new), INVALID);
    assert_eq!(issuer.fetches(), 1);
    clock.age_keys(1);
    assert_eq!(check!(verifier, new), Ok(()));
    assert_eq!(check!(verifier, old), Ok(()));
    assert_eq!(issuer.fetches(), 2);

    issuer.serve_keys(["k2"]);
    clock.age_keys(300);
    assert_eq!(check!(verifier, old), Ok(()), "keys are fresh for 300 s");
    clock.age_keys(1);
    assert_eq!(
        check!(verifier, old),
        INVALID,
        "the token was cached and its key was removed"
    );
    assert_eq!(check!(verifier, new), Ok(()));
    assert_eq!(issuer.fetches(), 3);
}

#[tokio::test]
async fn replacing_a_key_under_its_id_invalidates_its_tokens() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let old = issuer.token().authorization();
    assert_eq!(check!(verifier, old), Ok(()));
    issuer.serve_keys([issuer.add_key().as_str()]);
    let mut document = issuer.jwks();
    document["keys"][0]["kid"] = "k1".into();
    issuer.answer_with(KeysAnswer::Text(document.to_string()));
    clock.age_keys(301);
    assert_eq!(check!(verifier, old), INVALID);
    let new = issuer.token().signed_by("k2").authorization();
    assert_eq!(check!(verifier, new), Ok(()));
}

#[tokio::test]
async fn cached_keys_survive_an_outage_of_one_hour() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let token = issuer.token().expires_in(10_000).authorization();
    assert_eq!(check!(verifier, token), Ok(()));
    for (answer, fetches) in [
        (KeysAnswer::Closed, 2),
        (KeysAnswer::Status(500), 3),
        (KeysAnswer::Status(404), 4),
        (KeysAnswer::Redirect, 5),
        (KeysAnswer::Text("{}".to_owned()), 6),
        (KeysAnswer::Text(r#"{"keys": []}"#.to_owned()), 7),
        (KeysAnswer::Text(" ".repeat(MAX_JWKS_BYTES + 1)), 8),
    ] {
        issuer.answer_with(answer.clone());
        clock.age_keys(if fetches == 2 { 301 } else { 10 });
        for _ in 0..3 {
            assert_eq!(check!(verifier, token), Ok(()), "{answer:?}");
        }
        // A key that is unknown now may be published later. The token is rejected without another fetch.
        assert_eq!(
            check!(verifier, issuer.token().key_id("k9").authorization()),
            INVALID
        );
        assert_eq!(issuer.fetches(), fetches, "{answer:?}");
    }
    clock.age_keys(3600 - 361);
    assert_eq!(check!(verifier, token), Ok(()), "an hour");
    clock.age_keys(1);
    for _ in 0..3 {
        assert_eq!(check!(verifier, token), UNAVAILABLE);
    }
    assert_eq!(
        check!(verifier, issuer.token().key_id("k9").authorization()),
        UNAVAILABLE
    );
    // Defects that need no key are reported during an outage as well.
    assert_eq!(check!(verifier, "Bearer abc"), INVALID);
    assert_eq!(
        check!(verifier, issuer.token().algorithm("HS256").authorization()),
        INVALID
    );

    issuer.answer_with(KeysAnswer::Keys);
    clock.age_keys(10);
    assert_eq!(check!(verifier, token), Ok(()));
}

#[tokio::test]
async fn unknown_keys_do_not_flood_the_issuer() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    for round in 1..4 {
        for attempt in 0..50 {
            let token = issuer.token().key_id(&format!("x{attempt}")).authorization();
            assert_eq!(check!(verifier, token), INVALID);
        }
        assert_eq!(issuer.fetches(), round);
        clock.age_keys(10);
    }
}

#[tokio::test]
async fn a_fresh_key_triggers_no_fetch() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let known = issuer.token().expires_in(10_000).authorization();
    assert_eq!(check!(verifier, known), Ok(()));
    // Anyone can send a token that names a key which does not exist.
    let unknown = issuer.token().key_id("x").tampered().authorization();
    issuer.answer_with(KeysAnswer::Closed);
    let mut fetches = 1;
    for _ in 0..29 {
        clock.age_keys(10);
        assert_eq!(check!(verifier, known), Ok(()));
        assert_eq!(
            issuer.fetches(),
            fetches,
            "a caller with a cached key triggers no fetch"
        );
        assert_eq!(check!(verifier, unknown), INVALID);
        fetches += 1;
        assert_eq!(issuer.fetches(), fetches);
    }
    // During an outage cached keys keep their age: they are fetched again 300 s after the last successful fetch.
    clock.age_keys(11);
    assert_eq!(check!(verifier, known), Ok(()));
    assert_eq!(issuer.fetches(), fetches + 1);
}

#[tokio::test]
async fn a_dropped_server_stops_fetching_keys() {
    let issuer = TestIssuer::start();
    issuer.answer_with(KeysAnswer::Closed);
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for mcp in [false, true] {
        let host = SkillSet::with_states([nothing::SKILL], States::default()).unwrap();
        let (verifier, options) = (issuer.verifier(), ServeOptions::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stop = std::future::pending();
        let serving = tokio::spawn(async move {
            if mcp {
                let mcp = McpHttpServer::new(McpServer::new(host).unwrap(), verifier);
                skill_sdk::mcp::http::serve(mcp, listener, options, stop).await
            } else {
                serve(HttpServer::new(host, verifier), listener, options, stop).await
            }
        });
        // Wait until it serves.
        while tasks() <= before + 1 {
            tokio::task::yield_now().await;
        }
        serving.abort();
        assert!(serving.await.unwrap_err().is_cancelled());
        let gone = async {
            while tasks() > before {
                tokio::task::yield_now().await;
            }
        };
        let gone = tokio::time::timeout(std::time::Duration::from_secs(20), gone).await;
        assert!(gone.is_ok(), "{} tasks go on (mcp: {mcp})", tasks() - before);
    }
}

#[test]
fn a_stopped_runtime_does_not_block_other_runtimes() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    let (sender, asked) = std::sync::mpsc::channel();
    let own = verifier.clone();
    std::thread::spawn(move || {
        let _entered = handle.enter();
        sender.send(own.is_ready())
    });
    let ready = asked.recv_timeout(std::time::Duration::from_secs(20));
    assert_eq!(ready, Ok(false), "fetching keys stops");
    // A verifier in a live runtime fetches them.
    clock.age_keys(10);
    let token = issuer.token().authorization();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    assert_eq!(runtime.block_on(async { check!(verifier, token) }), Ok(()));
}

#[tokio::test]
async fn a_rejected_algorithm_triggers_no_fetch() {
    let issuer = TestIssuer::start();
    let (verifier, _) = verifier_with_clock(&issuer);
    for algorithm in [
        "none", "HS256", "HS384", "HS512", "ES256", "PS256", "EdDSA", "rs256", "",
    ] {
        let token = issuer.token().algorithm(algorithm).authorization();
        assert_eq!(check!(verifier, token), INVALID, "{algorithm}");
    }
    assert!(verifier.authenticate(None).await.is_err());
    assert_eq!(issuer.fetches(), 0);
    for algorithm in ["RS256", "RS384", "RS512"] {
        let token = issuer.token().algorithm(algorithm).authorization();
        assert_eq!(check!(verifier, token), Ok(()), "{algorithm}");
    }
}

#[tokio::test]
async fn a_cached_token_expires() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let token = issuer.token().expires_in(300).authorization();
    assert_eq!(check!(verifier, token), Ok(()));
    clock.age_tokens(303);
    assert_eq!(check!(verifier, token), Ok(()), "the leeway");
    clock.age_tokens(3);
    assert_eq!(check!(verifier, token), INVALID);
}

#[tokio::test]
async fn invalid_tokens_are_rejected() {
    let issuer = TestIssuer::start();
    issuer.add_key();
    let (verifier, _) = verifier_with_clock(&issuer);
    let good = issuer.token();
    assert_eq!(check!(verifier, good.authorization()), Ok(()));
    for (what, token) in [
        ("tampered", good.clone().tampered()),
        ("signed by another key", good.clone().signed_by("k2")),
        (
            "of another issuer",
            good.clone().claim("iss", "https://other.test"),
        ),
        ("for another audience", good.clone().claim("aud", "other")),
        ("for a list", good.clone().claim("aud", vec!["skills"])),
        ("expired", good.clone().expires_in(-10)),
        ("of the future", good.clone().claim("nbf", 9_999_999_999_i64)),
        ("without tenant", good.clone().without("tenant_id")),
        (
            "with a critical extension",
            good.clone().header("crit", vec!["b64"]),
        ),
        ("without a key", good.clone().without_header("kid")),
    ] {
        assert_eq!(check!(verifier, token.authorization()), INVALID, "{what}");
    }
    // A part of a cached token is rejected, and so is a cached token with a suffix.
    let token = good.authorization();
    assert_eq!(check!(verifier, token[..token.len() - 4].to_owned()), INVALID);
    assert_eq!(check!(verifier, format!("{token}.")), INVALID);
    assert_eq!(check!(verifier, format!("{token}=")), INVALID);
}

#[tokio::test]
async fn changing_any_character_invalidates_a_token() {
    let issuer = TestIssuer::start();
    let (verifier, _) = verifier_with_clock(&issuer);
    let good = issuer.token().authorization();
    assert_eq!(check!(verifier, good), Ok(()));
    for at in "Bearer ".len()..good.len() {
        for other in ["A", "-", ".", " ", "", "é"] {
            let changed = format!("{}{other}{}", &good[..at], &good[at + 1..]);
            // White space at the end is not part of the token.
            if changed.trim_end() != good {
                assert_eq!(check!(verifier, changed), INVALID, "{at} {other:?}");
            }
        }
    }
    assert_eq!(check!(verifier, good), Ok(()));
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tokens_stay_valid_while_other_keys_rotate() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let token = issuer.token().authorization();
    assert_eq!(check!(verifier, token), Ok(()));
    let stop = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (verifier, token, stop) = (verifier.clone(), token.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut checks = 0_u32;
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(check!(verifier, token), Ok(()));
                    checks += 1;
                    tokio::task::yield_now().await;
                }
                checks
            })
        })
        .collect();
    let other = issuer.add_key();
    for round in 0..20 {
        if round % 2 == 0 {
            issuer.serve_keys(["k1", &other]);
        } else {
            issuer.serve_keys(["k1"]);
        }
        clock.age_keys(301);
        let verdict = check!(
            verifier,
            issuer.token().key_id(&other).signed_by(&other).authorization()
        );
        // Another task may be the one that waits for the new JWKS.
        assert!(matches!(verdict, Ok(()) | INVALID));
    }
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        assert!(caller.await.unwrap() > 0);
    }
}
