//! The life of keys: rotation, outages, and who asks for them.

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

use super::clocked;

/// Does nothing.
#[skill("auth.nothing", version = "1", side_effects = "none", risk = "low")]
async fn nothing() {}

/// Verifies a token; gives the error code.
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
async fn a_new_key_counts_as_soon_as_somebody_asks_and_an_old_one_until_the_next_look() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
    let old = issuer.token().authorization();
    assert_eq!(check!(verifier, old), Ok(()));
    assert_eq!(issuer.rotate(), "k2");
    let new = issuer.token().authorization();
    // Somebody asked for keys just now.
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
    assert_eq!(check!(verifier, old), Ok(()), "300 seconds are fresh");
    clock.age_keys(1);
    assert_eq!(
        check!(verifier, old),
        INVALID,
        "the token was remembered and its key is gone"
    );
    assert_eq!(check!(verifier, new), Ok(()));
    assert_eq!(issuer.fetches(), 3);
}

#[tokio::test]
async fn a_key_that_changes_under_its_id_takes_its_tokens_along() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
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
async fn an_outage_is_survived_for_an_hour_and_not_longer() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
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
        // A key that is unknown now may be a good one of later: it is refused, and asks no more often.
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
    // What can be said without keys is said.
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
async fn unknown_keys_do_not_make_a_flood() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
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
async fn a_key_that_is_known_and_fresh_asks_for_nothing_whoever_else_does() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
    let known = issuer.token().expires_in(10_000).authorization();
    assert_eq!(check!(verifier, known), Ok(()));
    // Anybody can write a token that names a key which does not exist.
    let unknown = issuer.token().key_id("x").tampered().authorization();
    issuer.answer_with(KeysAnswer::Closed);
    let mut fetches = 1;
    for _ in 0..29 {
        clock.age_keys(10);
        assert_eq!(check!(verifier, known), Ok(()));
        assert_eq!(
            issuer.fetches(),
            fetches,
            "a caller with a known key asks for none"
        );
        assert_eq!(check!(verifier, unknown), INVALID);
        fetches += 1;
        assert_eq!(issuer.fetches(), fetches);
    }
    // Those of an outage are as old as they are: 300 seconds after the last good fetch they are looked for again.
    clock.age_keys(11);
    assert_eq!(check!(verifier, known), Ok(()));
    assert_eq!(issuer.fetches(), fetches + 1);
}

#[tokio::test]
async fn a_server_that_is_dropped_asks_for_no_more_keys() {
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
        // Until it serves.
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
fn a_runtime_that_is_gone_stops_nobody() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
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
    assert_eq!(ready, Ok(false), "asking for keys ends");
    // A runtime that lives fetches them.
    clock.age_keys(10);
    let token = issuer.token().authorization();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    assert_eq!(runtime.block_on(async { check!(verifier, token) }), Ok(()));
}

#[tokio::test]
async fn what_is_refused_for_its_algorithm_asks_for_no_keys() {
    let issuer = TestIssuer::start();
    let (verifier, _) = clocked(&issuer);
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
async fn a_token_that_is_remembered_still_expires() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
    let token = issuer.token().expires_in(300).authorization();
    assert_eq!(check!(verifier, token), Ok(()));
    clock.age_tokens(303);
    assert_eq!(check!(verifier, token), Ok(()), "the leeway");
    clock.age_tokens(3);
    assert_eq!(check!(verifier, token), INVALID);
}

#[tokio::test]
async fn spoiled_tokens() {
    let issuer = TestIssuer::start();
    issuer.add_key();
    let (verifier, _) = clocked(&issuer);
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
    // Half of a remembered token is no token, and neither is one with something behind it.
    let token = good.authorization();
    assert_eq!(check!(verifier, token[..token.len() - 4].to_owned()), INVALID);
    assert_eq!(check!(verifier, format!("{token}.")), INVALID);
    assert_eq!(check!(verifier, format!("{token}=")), INVALID);
}

#[tokio::test]
async fn no_character_of_a_token_may_change() {
    let issuer = TestIssuer::start();
    let (verifier, _) = clocked(&issuer);
    let good = issuer.token().authorization();
    assert_eq!(check!(verifier, good), Ok(()));
    for at in "Bearer ".len()..good.len() {
        for other in ["A", "-", ".", " ", "", "é"] {
            let changed = format!("{}{other}{}", &good[..at], &good[at + 1..]);
            // White space at the end is none of the token's.
            if changed.trim_end() != good {
                assert_eq!(check!(verifier, changed), INVALID, "{at} {other:?}");
            }
        }
    }
    assert_eq!(check!(verifier, good), Ok(()));
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tokens_of_a_key_that_stays_get_in_while_others_come_and_go() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
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
        // Somebody else may be the one who waits for the new document.
        assert!(matches!(verdict, Ok(()) | INVALID));
    }
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        assert!(caller.await.unwrap() > 0);
    }
}
