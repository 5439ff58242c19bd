//! Artifacts over real HTTP.

use std::time::{Duration, Instant};

use skill_sdk::artifacts::MAX_ARTIFACT_BYTES;

use super::faulty_server::Reply;
use super::mock_platform::{Fault, Platform};
use super::{context, within};

/// The SHA-256 of `hello`.
const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

fn put(platform: &Platform, data: &[u8], etag: Option<&str>) {
    let etag = etag.map(str::to_owned);
    platform
        .state()
        .artifacts
        .insert("a-1".to_owned(), (data.to_vec(), etag));
}

#[tokio::test]
async fn an_artifact_has_bytes_media_type_and_hash() {
    let platform = Platform::start().await;
    let context = context(platform.variables());
    let tagged = [
        None,
        Some(format!("\"sha256:{HELLO}\"")),
        Some(format!("W/\"sha256:{}\"", HELLO.to_uppercase())),
        Some("\"another-kind\"".to_owned()),
    ];
    for etag in tagged {
        put(&platform, b"hello", etag.as_deref());
        let artifact = context.artifacts().read("a-1").await.unwrap();
        assert_eq!(artifact.data, b"hello");
        assert_eq!(
            (artifact.media_type.as_str(), artifact.sha256.as_str()),
            ("text/csv", HELLO)
        );
        assert_eq!(artifact.text().unwrap(), "hello");
        assert!(!format!("{artifact:?}").contains("hello"));
    }
    put(&platform, b"hellO", Some(&format!("\"sha256:{HELLO}\"")));
    let error = context.artifacts().read("a-1").await.unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("content_integrity_failed", false)
    );
    put(&platform, b"\xff", None);
    let error = context.artifacts().read("a-1").await.unwrap().text().unwrap_err();
    assert_eq!(error.code(), "artifact_not_text");
    let error = context.artifacts().read("a-2").await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("not_found", false));
    assert_eq!(platform.seen("exchange").len(), 1, "one token for all requests");
}

#[tokio::test]
async fn too_large_responses_are_not_read_to_the_end() {
    let platform = Platform::start().await;
    let too_large = u64::try_from(MAX_ARTIFACT_BYTES).unwrap() + 1;
    platform.add_faults(
        "/artifacts/",
        [
            Fault::Instead(Reply::Announce(too_large)),
            Fault::Instead(Reply::Flood),
        ],
    );
    let context = context(platform.variables());
    for _ in 0..2 {
        let error = context.artifacts().read("a-1").await.unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("artifact_too_large", false)
        );
    }
    platform.add_faults("/context/recall", [Fault::Instead(Reply::Flood)]);
    let query = skill_sdk::knowledge::RecallQuery::new("w");
    let error = context.knowledge().recall(&query).await.unwrap_err();
    assert_eq!(error.code(), "core_answer_too_large");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let platform = Platform::start().await;
    let elsewhere = Reply::Http {
        status: 307,
        headers: vec![("location", "/elsewhere".to_owned())],
        body: Vec::new(),
    };
    platform.add_faults("/artifacts/", [Fault::Instead(elsewhere)]);
    let error = context(platform.variables())
        .artifacts()
        .read("a-1")
        .await
        .unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("core_error", false));
    assert!(platform.seen("/elsewhere").is_empty());
}

#[tokio::test]
async fn reads_are_retried_until_the_end_of_the_call() {
    let platform = Platform::start().await;
    put(&platform, b"hello", None);
    // A truncated response, then a closed connection.
    platform.add_faults(
        "/artifacts/",
        [Fault::Instead(Reply::Announce(10)), Fault::Instead(Reply::Drop)],
    );
    let started = Instant::now();
    context(platform.variables())
        .artifacts()
        .read("a-1")
        .await
        .unwrap();
    assert!(started.elapsed() >= Duration::from_millis(1500), "0.5 s and 1 s");
    assert_eq!(platform.seen("/artifacts/").len(), 3);

    platform.add_faults("/artifacts/", [Fault::Instead(Reply::Hang)]);
    let short = within(platform.variables(), Some(Duration::from_millis(100)));
    let error = short.artifacts().read("a-1").await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
}

#[tokio::test]
async fn an_api_key_works_without_an_iam() {
    let platform = Platform::start().await;
    put(&platform, b"hello", None);
    let key = |key| platform.variables_with(&[("CONTROL_PLANE_IAM_URL", ""), ("CONTROL_PLANE_API_KEY", key)]);
    context(key("key-visible-1\n"))
        .artifacts()
        .read("a-1")
        .await
        .unwrap();
    let error = context(key("key-visible-2"))
        .artifacts()
        .read("a-1")
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("invalid_credentials", false)
    );
    let error = context(key("")).artifacts().read("a-1").await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("config_missing", true));
    // A key that is not a valid header value.
    let error = context(key("a\u{7}b")).artifacts().read("a-1").await.unwrap_err();
    assert_eq!(error.code(), "core_error");
    assert!(platform.seen("exchange").is_empty());
}

#[tokio::test]
async fn the_token_can_be_in_the_credentials_file() {
    use std::os::unix::fs::PermissionsExt;

    let platform = Platform::start().await;
    put(&platform, b"hello", None);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("iam/credentials.json");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    let iam = platform
        .variables()
        .into_iter()
        .find(|(name, _)| name == "CONTROL_PLANE_IAM_URL");
    let account = format!("{}|t-1|p-1", iam.unwrap().1);
    let content = serde_json::json!({account: {"token": super::mock_platform::PLATFORM_TOKEN}});
    std::fs::write(&path, content.to_string()).unwrap();
    let config = folder.path().to_str().unwrap();
    let variables = || {
        platform.variables_with(&[
            ("IAM_PLATFORM_ACCESS_TOKEN", ""),
            ("IAM_PRINCIPAL", "p-1"),
            ("XDG_CONFIG_HOME", config),
        ])
    };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let error = context(variables()).artifacts().read("a-1").await.unwrap_err();
    assert_eq!(error.code(), "iam_credentials_file_permissions");
    // The file is read again, because no token has been accepted yet.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    context(variables()).artifacts().read("a-1").await.unwrap();
}

#[tokio::test]
async fn an_unreachable_core_is_retryable() {
    let platform = Platform::start().await;
    // A port that was free a moment ago.
    let free = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let nowhere = format!("http://{free}");
    for (variable, code) in [
        ("CONTROL_PLANE_URL", "core_unavailable"),
        ("CONTROL_PLANE_IAM_URL", "iam_unreachable"),
    ] {
        let variables = platform.variables_with(&[(variable, &nowhere)]);
        let error = context(variables).artifacts().read("a-1").await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, true));
    }
}
