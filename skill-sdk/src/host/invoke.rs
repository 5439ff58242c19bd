//! `invoke`: one call.

use std::fs;
use std::io::Read;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::args::InvokeArgs;
use super::command::{Failure, exit, output};
use super::logging::{self, LogFormat};
use super::serve::{no_skills, start};
use super::signals::stop_signal;
use super::stdio;
use crate::context::Environment;
use crate::contract::json as checked_json;
use crate::error::SkillError;
use crate::pipeline::{Call, CallOutcome, Meta};

/// The protocol that the context of such a call names.
const PROTOCOL: &str = "local";

/// How long a blocking skill may go on after Ctrl-C, to put things in order.
const CLEAN_UP: Duration = Duration::from_secs(5);

/// Calls the skill with this ref and prints how it ended. `stdin` is read when an argument is `-`.
pub(super) fn invoke(reference: &str, args: &InvokeArgs, stdin: &mut dyn Read) -> Result<u8, Failure> {
    let (inputs, meta) = call_of(args, stdin)?;
    let (code, document) = match stdio::aside(|| run(reference, inputs, meta))? {
        Ok(outcome) => match outcome.into_document() {
            Ok(document) => (exit::GOOD, document),
            Err(document) => (exit::NO, document),
        },
        Err(code) => {
            let error = SkillError::retryable("cancelled", "the call was cancelled by a signal");
            (code, json!({"error": error}).to_string())
        }
    };
    output::print(&output::indented(&document))?;
    Ok(code)
}

fn call_of(args: &InvokeArgs, stdin: &mut dyn Read) -> Result<(String, Meta), Failure> {
    if is_stdin(&args.input) && args.settings.as_deref().is_some_and(is_stdin) {
        return Err(
            Failure::usage("`--input -` and `--settings -` cannot both read standard input")
                .help("put one of them into a file and name it with @FILE"),
        );
    }
    let mut meta = Meta::new(PROTOCOL);
    meta.idempotency_key.clone_from(&args.idempotency_key);
    if let Some(argument) = &args.settings {
        let text = object("--settings", argument, stdin)?;
        if let Value::Object(values) =
            checked_json::parse(text.as_bytes()).map_err(|error| not_json("--settings", &error))?
        {
            meta.settings = values;
        }
    }
    if !args.env.is_empty() {
        meta.environment = Environment::overlay(args.env.clone());
    }
    Ok((object("--input", &args.input, stdin)?, meta))
}

/// The outcome, or the exit code for the signal that cancelled the call.
fn run(reference: &str, inputs: String, meta: Meta) -> Result<Result<CallOutcome, u8>, Failure> {
    let skills = start(LogFormat::Text, &[reference.to_owned()])?;
    let skill = skills.get(reference).ok_or_else(no_skills)?;
    let runtime = Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Failure::usage(format_args!("cannot start the runtime: {error}")))?;
    let stop = stop_signal(Duration::ZERO, || ())?;
    let ended = runtime.block_on(async {
        tokio::select! {
            biased;
            outcome = skills.call(skill, Call::json(inputs, meta)) => Ok(outcome),
            code = stop => Err(code),
        }
    });
    match ended {
        // A blocking skill that is over its time must not hold up the end of the program.
        Ok(_) => runtime.shutdown_background(),
        Err(_) => runtime.shutdown_timeout(CLEAN_UP),
    }
    logging::finish();
    Ok(ended)
}

/// Other tools that take files with `@` take the second form.
fn is_stdin(argument: &str) -> bool {
    matches!(argument, "-" | "@-")
}

/// The text of a JSON object.
fn object(flag: &str, argument: &str, stdin: &mut dyn Read) -> Result<String, Failure> {
    let path = argument.strip_prefix('@');
    let text = if is_stdin(argument) {
        let mut text = String::new();
        stdin.read_to_string(&mut text).map(|_| text)
    } else if let Some(path) = path {
        fs::read_to_string(path)
    } else {
        Ok(argument.to_owned())
    };
    let place = path.unwrap_or(argument);
    let text =
        text.map_err(|error| Failure::usage(format_args!("{flag}: could not read `{place}`: {error}")))?;
    // As far as a server looks at it before the call.
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(json) if json.get().starts_with('{') => Ok(text),
        Ok(_) => Err(Failure::usage(format_args!("{flag} must be a JSON object"))),
        Err(error) => Err(not_json(flag, &error)),
    }
}

fn not_json(flag: &str, error: &serde_json::Error) -> Failure {
    Failure::usage(format_args!("{flag} is not JSON: {error}"))
        .help("write JSON in quotes of the shell, name a file with @FILE, or read standard input with -")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(input: &str) -> InvokeArgs {
        InvokeArgs {
            input: input.to_owned(),
            settings: None,
            idempotency_key: None,
            env: Vec::new(),
        }
    }

    #[test]
    fn input_comes_from_three_places() {
        let directory = std::env::temp_dir().join(format!("skill-sdk-invoke-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("input.json");
        fs::write(&file, r#"{"from": "file"}"#).unwrap();
        let at_file = format!("@{}", file.display());
        for (argument, expected) in [
            (r#"{"from": "argument"}"#, "argument"),
            (at_file.as_str(), "file"),
            ("-", "stdin"),
            ("@-", "stdin"),
        ] {
            let (inputs, _) = call_of(&args(argument), &mut br#"{"from": "stdin"}"#.as_slice()).unwrap();
            assert_eq!(inputs, format!(r#"{{"from": "{expected}"}}"#));
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_is_not_a_json_object_is_refused() {
        for (argument, expected) in [
            ("", "is not JSON"),
            ("{", "line 1 column 1"),
            ("[]", "must be a JSON object"),
            ("null", "must be a JSON object"),
            ("@/no/such/file", "could not read `/no/such/file`"),
            ("-", "must be a JSON object"),
        ] {
            let failure = call_of(&args(argument), &mut b"1".as_slice()).unwrap_err();
            assert!(failure.to_string().contains(expected), "{failure}");
        }
        for (input, settings) in [("-", "-"), ("@-", "-"), ("-", "@-")] {
            let both = InvokeArgs {
                settings: Some(settings.to_owned()),
                ..args(input)
            };
            assert!(call_of(&both, &mut b"{}".as_slice()).is_err());
        }
    }
}
