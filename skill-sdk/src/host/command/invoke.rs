//! `invoke`: the request of one call from the arguments, and its answer.

use std::fs;
use std::io::Read;

use serde_json::Value;

use super::{Failure, exit, output};
use crate::contract::json;
use crate::host::args::InvokeArgs;
use crate::host::protocol::{InvokeReply, InvokeRequest, SkillEntry};

/// The request of one call. `stdin` is read when an argument is `-`.
pub fn request(
    skill: &SkillEntry,
    args: &InvokeArgs,
    stdin: &mut dyn Read,
) -> Result<InvokeRequest, Failure> {
    if is_stdin(&args.input) && args.settings.as_deref().is_some_and(is_stdin) {
        return Err(
            Failure::usage("`--input -` and `--settings -` cannot both read standard input")
                .help("put one of them into a file and name it with @FILE"),
        );
    }
    let settings = match &args.settings {
        Some(text) => Some(object("--settings", text, stdin)?),
        None => None,
    };
    Ok(InvokeRequest {
        reference: skill.reference.clone(),
        inputs: object("--input", &args.input, stdin)?,
        settings,
        idempotency_key: args.idempotency_key.clone(),
        env: args.env.clone(),
    })
}

/// Prints the answer and says the exit code of the command.
pub fn finish(reply: &InvokeReply) -> Result<u8, Failure> {
    output::print(&output::json(&reply.document)?)?;
    Ok(if reply.ok { exit::GOOD } else { exit::NO })
}

/// Other tools that take files with `@` take the second form.
fn is_stdin(argument: &str) -> bool {
    matches!(argument, "-" | "@-")
}

fn object(flag: &str, argument: &str, stdin: &mut dyn Read) -> Result<Value, Failure> {
    let (place, text) = if is_stdin(argument) {
        let mut text = String::new();
        stdin
            .read_to_string(&mut text)
            .map_err(|error| Failure::usage(format!("{flag}: could not read standard input: {error}")))?;
        ("standard input".to_owned(), text)
    } else if let Some(path) = argument.strip_prefix('@') {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{flag}: could not read `{path}`: {error}")))?;
        (format!("`{path}`"), text)
    } else {
        ("the argument".to_owned(), argument.to_owned())
    };
    let value = json::parse(text.as_bytes()).map_err(|error| {
        Failure::usage(format!("{flag}: {place} is not JSON: {error}"))
            .help("write JSON in quotes of the shell, name a file with @FILE, or read standard input with -")
    })?;
    let kind = match value {
        Value::Object(_) => return Ok(value),
        Value::Array(_) => "an array",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "a boolean",
        Value::Null => "null",
    };
    Err(Failure::usage(format!(
        "{flag}: {place} must be a JSON object, and it is {kind}"
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::select::tests::skill;
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
        let skill = skill("a.a@1", "x::a");
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
            let made = request(&skill, &args(argument), &mut br#"{"from": "stdin"}"#.as_slice()).unwrap();
            assert_eq!(made.inputs, json!({"from": expected}));
            assert_eq!(made.reference, "a.a@1");
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_is_not_a_json_object_is_refused() {
        let skill = skill("a.a@1", "x::a");
        for (argument, expected) in [
            ("", "is not JSON"),
            ("{", "line 1 column 1"),
            ("[]", "it is an array"),
            ("null", "it is null"),
            ("@/no/such/file", "could not read `/no/such/file`"),
            ("-", "standard input must be a JSON object, and it is a number"),
        ] {
            let failure = request(&skill, &args(argument), &mut b"1".as_slice()).unwrap_err();
            assert!(failure.to_string().contains(expected), "{failure}");
            assert_eq!(failure.code(), exit::USAGE);
        }
        for (input, settings) in [("-", "-"), ("@-", "-"), ("-", "@-")] {
            let both = InvokeArgs {
                settings: Some(settings.to_owned()),
                ..args(input)
            };
            assert!(request(&skill, &both, &mut b"{}".as_slice()).is_err());
        }
    }
}
