//! The file of credentials.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::super::identity::platform_token;
use super::super::settings::{CoreSettings, IamSettings};
use crate::environment::Environment;

fn settings(config_home: Option<&Path>, principal: Option<&str>) -> IamSettings {
    IamSettings {
        url: "https://iam.test".to_owned(),
        tenant: Some("tenant".to_owned()),
        audience: String::new(),
        scopes: Vec::new(),
        token: None,
        mode: None,
        principal: principal.map(str::to_owned),
        file: config_home.map(|config| config.join("iam/credentials.json")),
    }
}

/// A directory with the file in it.
fn folder(content: &str, mode: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("iam/credentials.json");
    fs::create_dir(folder.path().join("iam")).unwrap();
    fs::write(&path, content).unwrap();
    set_mode(&path, mode);
    folder
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}

/// The token or the code.
fn outcome(settings: &IamSettings) -> Result<String, String> {
    match platform_token(settings) {
        Ok(token) => Ok(token.expose().to_owned()),
        Err(failure) => Err(failure.code().to_owned()),
    }
}

#[test]
fn entries_and_principals() {
    let two = json!({
        "https://iam.test|tenant|p-1": {"token": "one"},
        "https://iam.test|tenant|p-2": {"token": "two\n", "principalId": "p-2"},
        "https://iam.test|tenant|p-3": {"token": ""},
        "https://iam.test|other|p-1": {"token": "other"},
    });
    let one = json!({"https://iam.test|tenant|p-1": {"token": "one"}, "https://iam.test|tenant": {"token": "plain"}});
    let plain = json!({"https://iam.test|tenant": {"token": "plain", "principalId": "p-1"}});
    let nobody = json!({"https://iam.test|tenant": {"token": "plain"}});
    let none = json!({"https://iam.test/|tenant|p-1": {"token": "x"}, "https://iam.test|tenant|p-1": "text"});
    let table: [(&Value, Option<&str>, Result<&str, &str>); 12] = [
        (&two, None, Err("iam_credential_ambiguous")),
        (&two, Some("p-1"), Ok("one")),
        (&two, Some("p-2"), Ok("two")),
        (&two, Some("p-3"), Err("iam_not_authenticated")),
        (&two, Some("p-4"), Err("iam_not_authenticated")),
        (&one, None, Ok("one")),
        (&one, Some("p-1"), Ok("one")),
        (&plain, None, Ok("plain")),
        (&plain, Some("p-1"), Ok("plain")),
        (&plain, Some("p-2"), Err("iam_not_authenticated")),
        (&nobody, Some("p-2"), Ok("plain")),
        (&none, None, Err("iam_not_authenticated")),
    ];
    for (document, principal, expected) in table {
        let folder = folder(&document.to_string(), 0o600);
        let got = outcome(&settings(Some(folder.path()), principal));
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(got, expected, "{document} {principal:?}");
    }
}

#[test]
fn files_that_are_not_used() {
    let missing = tempfile::tempdir().unwrap();
    assert_eq!(
        outcome(&settings(Some(missing.path()), None)).unwrap_err(),
        "iam_not_authenticated"
    );
    assert_eq!(
        outcome(&settings(None, None)).unwrap_err(),
        "iam_not_authenticated"
    );
    for content in ["", "secret-text", "[]", "\"secret-text\""] {
        let folder = folder(content, 0o600);
        let failure = platform_token(&settings(Some(folder.path()), None)).unwrap_err();
        assert_eq!(failure.code(), "iam_credentials_file_unreadable", "{content}");
        assert!(!format!("{failure:?}").contains("secret-text"), "{content}");
    }
    let large = folder(&format!("{{\"a\": \"{}\"}}", "x".repeat(1024 * 1024)), 0o600);
    let code = outcome(&settings(Some(large.path()), None)).unwrap_err();
    assert_eq!(code, "iam_credentials_file_unreadable");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("iam/credentials.json")).unwrap();
    let code = outcome(&settings(Some(folder.path()), None)).unwrap_err();
    assert_eq!(code, "iam_credentials_file_unreadable");
}

#[cfg(unix)]
#[test]
fn others_may_not_read_it() {
    let content = json!({"https://iam.test|tenant|p-1": {"token": "one"}}).to_string();
    for (mode, ok) in [
        (0o600, true),
        (0o400, true),
        (0o640, false),
        (0o604, false),
        (0o644, false),
        (0o620, false),
        (0o700, false),
        (0o666, false),
    ] {
        let folder = folder(&content, mode);
        let expected = if ok {
            Ok("one".to_owned())
        } else {
            Err("iam_credentials_file_permissions".to_owned())
        };
        assert_eq!(
            outcome(&settings(Some(folder.path()), None)),
            expected,
            "{mode:o}"
        );
    }
}

#[test]
fn without_xdg_it_is_below_the_home_directory() {
    let file = |variables: &[(&str, &str)]| {
        let core = [
            ("CONTROL_PLANE_URL", "http://core"),
            ("CONTROL_PLANE_IAM_URL", "http://iam"),
        ];
        let all = core.iter().chain(variables);
        let all = all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings =
            CoreSettings::read(&Environment::from_vars(all)).unwrap_or_else(|error| panic!("{error}"));
        settings.iam.and_then(|iam| iam.file)
    };
    assert_eq!(file(&[]), None);
    let (home, config) = (("HOME", "/home/a"), ("XDG_CONFIG_HOME", "/config"));
    assert_eq!(
        file(&[home]).unwrap(),
        Path::new("/home/a/.config/iam/credentials.json")
    );
    assert_eq!(
        file(&[home, config]).unwrap(),
        Path::new("/config/iam/credentials.json")
    );
}

#[test]
fn the_tenant_says_whose_credential_is_meant() {
    let settings = IamSettings {
        tenant: None,
        ..settings(None, None)
    };
    assert_eq!(outcome(&settings).unwrap_err(), "iam_tenant_required");
}
