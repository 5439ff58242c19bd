//! Emitter and reader together: what is written is read back, by us and by others.

mod emitting;
mod foreign;
mod reading;
mod round_trip;
mod scalars;

use serde_json::Value;

/// A file of the recorded cases; none, with a word on stderr, when the cases are not there.
fn recorded(file: &str) -> Option<Value> {
    let path = format!("{}/../../../shared/cases/{file}", env!("CARGO_MANIFEST_DIR"));
    match std::fs::read(&path) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).expect("recorded cases are JSON")),
        Err(error) => {
            eprintln!("skipped: the recorded cases are not at {path}: {error}");
            None
        }
    }
}

/// The recorded scalars as mappings `{v: <value>}`, beside the reference's text of each.
fn recorded_values() -> Vec<(String, Value, String)> {
    let Some(file) = recorded("yaml_scalars.json") else {
        return Vec::new();
    };
    file["cases"]
        .as_array()
        .expect("cases is a list")
        .iter()
        // Infinity is not JSON, and one case records an alias, which we never write.
        .filter(|case| {
            case["input"]
                .get("value")
                .is_some_and(|v| v.get("$nonfinite").is_none())
        })
        .map(|case| {
            let id = case["id"].as_str().expect("id").to_owned();
            let text = case["expect"]["yaml"].as_str().expect("yaml").to_owned();
            (id, serde_json::json!({"v": case["input"]["value"]}), text)
        })
        .collect()
}

/// Strings that trip some reader, as values and as keys.
fn tricky_strings() -> Vec<String> {
    let mut list: Vec<String> = TRICKY.iter().map(|text| (*text).to_owned()).collect();
    for length in [127, 128, 129, 1023, 1024, 1025, 1300] {
        list.push("x".repeat(length));
        list.push("Ж".repeat(length));
        list.push("'".repeat(length));
        list.push(format!("{}: b", "x".repeat(length)));
        list.push("word ".repeat(length / 5));
    }
    list
}

const TRICKY: &[&str] = &[
    "",
    "\t\\uda",
    " ",
    "  a",
    "a ",
    "y",
    "Y",
    "n",
    "N",
    "yes",
    "no",
    "On",
    "OFF",
    "true",
    "TRUE",
    "null",
    "NULL",
    "~",
    "nUlL",
    "<<",
    "=",
    "1",
    "-1",
    "+1",
    "01",
    "017",
    "0o17",
    "0x1f",
    "-0x1f",
    "0b1",
    "1_000",
    "1e3",
    "1.e3",
    "1.0e3",
    "1.0e+3",
    "1E400",
    ".5",
    "-.5",
    "5.",
    ".",
    "..",
    "...",
    "... a",
    "-",
    "--",
    "---",
    "--- a",
    "- a",
    "-a",
    "?",
    "? a",
    "?a",
    ":",
    ":a",
    ": a",
    "a:",
    "a: b",
    "a:b",
    "a #b",
    "a#b",
    "#a",
    "12:30:45",
    "1:30",
    "1:99",
    "190:20:30.5",
    "2026-01-01",
    "2026-1-2",
    "2026-01-02 03:04",
    "2026-01-02 03:04:05",
    "2026-01-02T03:04:05Z",
    "2026-01-02t03:04:05.1 +01:30",
    ".inf",
    "-.INF",
    ".nan",
    "+.inf",
    "inf",
    "nan",
    "[a",
    "{a",
    "]",
    "}",
    ",a",
    "a, b",
    "&a",
    "*a",
    "!a",
    "|",
    "|a",
    ">",
    ">-",
    "'",
    "''",
    "'a'",
    "\"",
    "\"a\"",
    "%a",
    "@a",
    "`a",
    "\\",
    "\\n",
    "a\\b",
    "a\"b",
    "it's",
    "a\nb",
    "a\nb\n",
    "a\n\n",
    "\na",
    "\n\na",
    "\n",
    "\n\n",
    " a\nb",
    "a\n b",
    "a \nb",
    "a\n \nb",
    "\ta\nb",
    "a\n\tb",
    "a\tb\nc",
    "a\t\nb",
    "\t",
    "a\tb",
    "a\n---\nb",
    "a\n...\n",
    "a\n# b\n",
    "# a\nb",
    "- a\n- b",
    "a: b\nc: d",
    "\r",
    "a\rb",
    "\r\n",
    "a\r\nb",
    "\0",
    "\u{1}",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{80}",
    "\u{85}",
    "a\u{85}b",
    "a\u{85}\nb",
    "\u{9f}",
    "\u{a0}",
    "\u{a0}a\nb",
    "\u{2028}",
    "a\u{2028}b",
    "a\u{2029}\nb",
    "\u{feff}",
    "\u{feff}a",
    "a\u{feff}b",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{fdd0}",
    "\u{1fffe}",
    "\u{10ffff}",
    "\u{202e}abc",
    "\u{2066}a\u{2069}",
    "\u{200b}",
    "\u{e0001}",
    "Ёж",
    "Ёж\nи ёж\n",
    "🙂",
    "🙂\nb",
    "日本語: テスト",
    "http://x/y?z=1#f",
    "^[a-z]+$",
    "${VAR}/skills/a@1",
    "key: [1, 2]",
    "a  b",
    "a   \n",
];
