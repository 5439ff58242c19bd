//! Recorded cases of PII redaction, and untrusted texts.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use super::fields::personal_fields;
use super::*;

/// Where the specification decides differently from the recording: the text here.
const DIFFERENT: &[(&str, &str)] = &[
    // A phone number followed by a full stop is redacted.
    ("p089", "Звоните [ПДн:телефон]."),
];

/// How many cases are replayed here; `tests/tests/replayed.rs` adds up.
const REPLAYED: usize = 77;

#[test]
fn recorded_cases() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/pii.json");
    let Ok(text) = fs::read_to_string(path) else {
        eprintln!("skipped: the recorded cases are not at hand (pii.json)");
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases.len(), REPLAYED);
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let (input, expect) = (&case["input"], &case["expect"]);
        let got = match id.split('-').next().unwrap() {
            "msg" => messages(input),
            "fields" => fields(input),
            _ => text_case(input),
        };
        let expect = match DIFFERENT.iter().find(|(different, _)| *different == id) {
            Some((_, text)) => json!({"text": text, "found": {"телефон": 1}}),
            None => expect.clone(),
        };
        if got != expect {
            wrong.push(format!("{id}: {got}, recorded {expect}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn text_case(input: &Value) -> Value {
    let Redacted { text, found } = redact(input["text"].as_str().unwrap());
    json!({"text": text, "found": found})
}

fn messages(input: &Value) -> Value {
    let mut all = Found::new();
    let mut clean = |value: &Value| json!(replace(value.as_str().unwrap(), &mut all));
    let system = clean(&input["system"]);
    let mut messages = input["messages"].clone();
    for message in messages.as_array_mut().unwrap() {
        message["content"] = clean(&message["content"]);
    }
    json!({"system": system, "messages": messages, "found": all})
}

fn fields(input: &Value) -> Value {
    let attributes = input["attributes"].as_object().unwrap();
    let schema = &input["schema"];
    json!({"result": strip_personal_fields(attributes, schema), "personal": personal_fields(schema)})
}

#[test]
fn more_of_each_kind() {
    let table = [
        ("+7 (912) 345-67-89", "[ПДн:телефон]"),
        ("8(912)3456789!", "[ПДн:телефон]!"),
        ("итог 8912345678.95", "итог 8912345678.95"),
        ("89123456789.50", "89123456789.50"),
        ("+7 912 345-67-89. Жду", "[ПДн:телефон]. Жду"),
        ("СНИЛС: 112-233-445 95.", "СНИЛС: [ПДн:снилс]."),
        ("ПАСПОРТ 45 08 №123456", "[ПДн:паспорт]"),
        (
            "паспорт, выданный в другом городе и году, 4508 123456",
            "паспорт, выданный в другом городе и году, 4508 123456",
        ),
        ("Иван Иванович Иванов и И.И.Петров", "[ПДн:фио] и [ПДн:фио]"),
        ("Иванов\nИван\tИванович", "[ПДн:фио]"),
        ("Римский-Корсаков Н. А.", "[ПДн:фио]"),
        ("г. Москва, ул. Ленина, д. 1", "г. Москва, ул. Ленина, д. 1"),
        ("[ПДн:фио] [ПДн:телефон]", "[ПДн:фио] [ПДн:телефон]"),
        // Footnotes, list numbers and fractions do not continue a number. Digits of other scripts do.
        ("89123456789¹", "[ПДн:телефон]¹"),
        ("①8 912 345-67-89", "①[ПДн:телефон]"),
        ("8 912 345-67-89½", "[ПДн:телефон]½"),
        ("8 912 345-67-89.½", "[ПДн:телефон].½"),
        ("112-233-445 95²", "[ПДн:снилс]²"),
        ("³112-233-445 95", "³[ПДн:снилс]"),
        ("паспорт 4508 123456¹", "[ПДн:паспорт]¹"),
        ("89123456789٣", "89123456789٣"),
        ("паспорт 4508 123456३", "паспорт 4508 123456३"),
        ("", ""),
    ];
    for (text, expected) in table {
        assert_eq!(redact(text).text, expected, "{text}");
    }
}

#[test]
fn nothing_is_found_twice() {
    let text = "Иванов И.И., паспорт 4508 123456, 8 912 345 67 89, i@i.ru, 112-233-445 95";
    let once = redact(text);
    let twice = redact(&once.text);
    assert_eq!((twice.text, twice.found), (once.text, BTreeMap::new()));
}

#[test]
fn long_hostile_texts_take_linear_time() {
    const LENGTH: usize = 50_000;
    for piece in [
        "a.",
        "a@",
        "a@b.",
        "@",
        "а",
        "Аа",
        "Аа ",
        "А.",
        "А. А. ",
        "8 ",
        "8",
        "+7(",
        "паспорт ",
        "паспорт 4508 ",
        "112-233-",
        "Иванов Иван ",
        "Ич ",
        " ",
        "\u{a0}",
        "-",
        "é",
        "Аа-Аа ",
    ] {
        let text = piece.repeat(LENGTH / piece.len());
        let (half, _) = text.split_at(text.len() / piece.len() / 2 * piece.len());
        let time = |text: &str| {
            let start = Instant::now();
            redact(text);
            start.elapsed()
        };
        time(half);
        let (short, long) = (time(half), time(&text));
        // Twice the length in quadratic time would be four times as long; a busy machine is given much more than that.
        assert!(
            long.as_millis() < 2000 || long < short * 12,
            "{piece:?}: {short:?}, twice as long {long:?}"
        );
        assert!(long.as_secs() < 60, "{piece:?}: {long:?}");
    }
}

#[test]
fn patterns_of_authors_come_last_and_are_checked() {
    add_pattern("договор", r"(?<!\w)Д-\d{6}(?!\d)").unwrap();
    let redacted = redact("Д-123456 от a@b.ru, Д-1234567");
    assert_eq!(redacted.text, "[ПДн:договор] от [ПДн:email], Д-1234567");
    assert_eq!(json!(redacted.found), json!({"email": 1, "договор": 1}));
    for (kind, pattern, why) in [
        ("", "a", "must be 1 to 40"),
        ("a b", "a", "must be 1 to 40"),
        ("a]", "a", "must be 1 to 40"),
        ("a", "(", "is invalid"),
        ("a", "b*", "matches the empty string"),
    ] {
        let error = add_pattern(kind, pattern).unwrap_err();
        assert!(error.to_string().contains(why), "{kind} {pattern}: {error}");
    }
}

#[test]
fn a_pattern_that_gives_up_hides_the_whole_text() {
    add_pattern("x", r"(?:a+)+(?!.)b").unwrap();
    let text = "a".repeat(5000) + "c";
    assert_eq!(redact(&text).text, "[ПДн:unsearched]");
}

#[test]
fn a_pattern_of_the_program_holds_everywhere() {
    add_pattern("табель", r"\bТН-\d{5}\b").unwrap();
    add_pattern("табель", r"\bТН-\d{5}\b").unwrap();
    assert_eq!(redact("ТН-12345").text, "[ПДн:табель]");
    assert_eq!(redact("ТН-12345").found["табель"], 1);
}
