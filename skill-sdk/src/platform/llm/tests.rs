//! The model that the environment configures.

use std::fs;

use serde_json::Value;

use super::LlmClient;
use super::openai::{OpenAi, OpenAiSettings};
use crate::environment::Environment;

fn environment<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Environment {
    Environment::from_vars(
        variables
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    )
}

const SERVER: [(&str, &str); 3] = [
    ("SKILL_LLM_BASE_URL", "https://llm/v1/"),
    ("SKILL_LLM_API_KEY", "hunter2"),
    ("SKILL_LLM_MODELS", "a,b"),
];

/// How many cases are replayed here; `tests/tests/replayed.rs` adds up.
const REPLAYED: usize = 6;

#[test]
fn recorded_choices() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/context.json");
    let Ok(text) = fs::read_to_string(path) else {
        eprintln!("skipped: the recorded cases are not at hand (context.json)");
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let cases = document["cases"].as_array().unwrap();
    let mut replayed = 0;
    for case in cases {
        let id = case["id"].as_str().unwrap();
        if !id.starts_with("provider-") {
            continue;
        }
        replayed += 1;
        let variables = case["input"]["env"].as_object().unwrap();
        let environment = environment(
            variables
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str().unwrap())),
        );
        let expect = &case["expect"];
        match LlmClient::of_environment(&environment) {
            Ok(_) => {
                let settings = OpenAiSettings::read(&environment).unwrap();
                assert_eq!(expect["client"], "openai", "{id}");
                let recorded = &expect["kwargs"];
                assert_eq!(recorded["base_url"], settings.base_url, "{id}");
                assert_eq!(recorded["api_key"], settings.key.expose(), "{id}");
                assert_eq!(recorded["models"], serde_json::json!(settings.models), "{id}");
            }
            Err(error) => {
                assert_eq!(expect["error"]["code"], error.code(), "{id}");
                assert_eq!(expect["error"]["retryable"], error.is_retryable(), "{id}");
                assert_eq!(error.details(), None, "{id}");
            }
        }
    }
    assert_eq!(replayed, REPLAYED);
}

#[test]
fn invalid_variables_are_named() {
    type Row = (
        &'static [(&'static str, &'static str)],
        &'static str,
        &'static str,
    );
    let table: &[Row] = &[
        (
            &[("SKILL_LLM_PROVIDER", "gemini")],
            "llm_not_configured",
            "`gemini`",
        ),
        (
            &[("SKILL_LLM_API_KEY", "k"), ("SKILL_LLM_MODELS", "m")],
            "llm_not_configured",
            "SKILL_LLM_BASE_URL is not set;",
        ),
        (
            &[
                ("SKILL_LLM_PROVIDER", " Claude-Code "),
                ("SKILL_LLM_TIMEOUT_SECONDS", "soon"),
            ],
            "llm_not_configured",
            "SKILL_LLM_TIMEOUT_SECONDS",
        ),
    ];
    for (variables, code, part) in table {
        let error = LlmClient::of_environment(&environment(variables.iter().copied())).unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            (*code, true),
            "{variables:?}"
        );
        assert!(error.message().contains(part), "{error}");
    }
    for timeout in ["soon", "0", "-1", "NaN", "inf", "1e9", "86401"] {
        let variables = SERVER.into_iter().chain([("SKILL_LLM_TIMEOUT_SECONDS", timeout)]);
        let error = LlmClient::of_environment(&environment(variables)).unwrap_err();
        assert_eq!(error.code(), "llm_not_configured", "{timeout}");
        assert!(error.message().contains("SKILL_LLM_TIMEOUT_SECONDS"), "{error}");
    }
    for timeout in ["", " 2.5 ", "86400"] {
        let variables = SERVER.into_iter().chain([("SKILL_LLM_TIMEOUT_SECONDS", timeout)]);
        assert!(
            LlmClient::of_environment(&environment(variables)).is_ok(),
            "{timeout}"
        );
    }
}

#[test]
fn the_error_of_an_invalid_address_does_not_show_it() {
    for url in ["llm/v1", "ftp://llm", "https://user:hunter3@llm/v1", "https://"] {
        let mut variables = SERVER;
        variables[0].1 = url;
        let error = LlmClient::of_environment(&environment(variables)).unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("llm_not_configured", true),
            "{url}"
        );
        assert!(error.message().contains("SKILL_LLM_BASE_URL"), "{error}");
        assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
    }
    let mut variables = SERVER;
    variables[1].1 = "hunter2\nx: y";
    let error = LlmClient::of_environment(&environment(variables)).unwrap_err();
    assert!(error.message().contains("SKILL_LLM_API_KEY"), "{error}");
    assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
}

#[test]
fn debug_does_not_show_the_key() {
    let environment = environment(SERVER);
    let settings = OpenAiSettings::read(&environment).unwrap();
    let client = LlmClient::of_environment(&environment).unwrap();
    let openai = OpenAi::from_settings(settings.clone()).unwrap();
    for shown in [
        format!("{settings:?}"),
        format!("{client:?}"),
        format!("{openai:?}"),
    ] {
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
