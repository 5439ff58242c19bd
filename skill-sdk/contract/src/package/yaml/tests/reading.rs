//! What the reader accepts and rejects, and the place of each error.

use serde_json::{Value, json};

use super::super::{MAX_BYTES, MAX_DEPTH, read};

#[test]
fn good_files_are_read() {
    let cases: [(&[u8], Value); 13] = [
        (b"a: 1\n", json!({"a": 1})),
        (b"\xEF\xBB\xBFa: 1\n", json!({"a": 1})),
        (b"a: 1\r\nb:\r\n- x\r\n", json!({"a": 1, "b": ["x"]})),
        (b"# c\n---\na: 1 # d\n...\n", json!({"a": 1})),
        (
            b"{\"a\": [1, 2.5, null, true, \"x\\u0041\\/\"]}",
            json!({"a": [1, 2.5, null, true, "xA/"]}),
        ),
        (b"{\n\t\"a\": {\"b\": []}\n}\n", json!({"a": {"b": []}})),
        (b"a: >-\n  b\n  c\nd: |\n  e\n", json!({"a": "b c", "d": "e\n"})),
        (b"a: y\nn: -\xD0\x96\n", json!({"a": "y", "n": "-Ж"})),
        (b"a:\nb: ~\n", json!({"a": null, "b": null})),
        (
            b"a: 100000000000000000000\n",
            json!({"a": 100_000_000_000_000_000_000.0}),
        ),
        (
            b"a: 18446744073709551615\nb: -9223372036854775808\n",
            json!({"a": u64::MAX, "b": i64::MIN}),
        ),
        (b"a: 1.0e+20\nb: -1.5E-3\n", json!({"a": 1e20, "b": -0.0015})),
        (
            b"a: \"\\U0001F642\"\nb: '\xF0\x9F\x99\x82'\n",
            json!({"a": "🙂", "b": "🙂"}),
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(
            read(bytes).as_ref(),
            Ok(&expected),
            "{}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn every_error_says_what_and_where() {
    let cases: [(&[u8], &str); 31] = [
        (b"", "line 1, column 1: the file holds no document"),
        (
            b"# only\n# comments\n",
            "line 1, column 1: the file holds no document",
        ),
        (b"a: [1\n", "not YAML: "),
        (b"a: 1\n b: 2\n", "line 2, column "),
        (b"a: 'x\n", "not YAML: "),
        (b"\ta: 1\n", "line 1, column 2: not YAML: a tab indents"),
        (b"a:\n\tb: 1\n", "line 2, column "),
        (b"a:\n- 1\n-\t2\n", "line 3, column 3: not YAML: a tab indents"),
        (
            b"a: 1\n---\nb: 1\n",
            "line 2, column 1: a second document starts here",
        ),
        (b"a: 1\n---\n", "line 2, column 1: a second document starts here"),
        (
            b"\xFF\xFE\xFA",
            "line 1, column 1: the file is not UTF-8 at byte 0",
        ),
        (
            b"a: 1\nb: \xFF\n",
            "line 2, column 4: the file is not UTF-8 at byte 8",
        ),
        (b"a: 1\nb: \x01\n", "line 2, column 4: the character U+0001"),
        (b"a: \"\xE2\x80\xA8\"\n", "line 1, column 5: the character U+2028"),
        (b"# \xC2\x85 a: 1\n", "line 1, column 3: the character U+0085"),
        (
            b"a: 1\n\xEF\xBB\xBFb: 1\n",
            "line 2, column 1: the character U+FEFF",
        ),
        (b"a: &x 1\n", "line 1, column 7: anchors (`&name`) are rejected"),
        (
            b"a: &x [1]\nb: *x\n",
            "line 1, column 7: anchors (`&name`) are rejected",
        ),
        (b"b: *x\n", "line 1, column 4: aliases (`*name`) are rejected"),
        (b"a: !mine 1\n", "line 1, column 4: the tag \"!mine\" is rejected"),
        (
            b"a: !!python/object:x.y {}\n",
            "the tag \"!!python/object:x.y\" is rejected",
        ),
        (
            b"a: 1\nb: 2\n\"a\": 3\n",
            "line 3, column 1: the key \"a\" is already in this mapping, on line 1, column 1",
        ),
        (
            b"x:\n  - {a: 1, a: 2}\n",
            "line 2, column 12: the key \"a\" is already in this mapping, on line 2, column 6",
        ),
        (
            b"1: a\n",
            "line 1, column 1: the key 1 is not text to every YAML reader: quote it ('1')",
        ),
        (b"on: a\n", "the key on is not text to every YAML reader"),
        (b"<<: {a: 1}\n", "the key << is not text"),
        (b"? [a]\n: 1\n", "line 1, column 3: a list or mapping as a key"),
        (
            b"a: 2026-01-01\n",
            "line 1, column 4: YAML 1.1 and YAML 1.2 readers may take 2026-01-01 for different values",
        ),
        (
            b"a: [yes]\n",
            "line 1, column 5: YAML 1.1 and YAML 1.2 readers may take yes",
        ),
        (
            b"a: .nan\n",
            "line 1, column 4: YAML 1.1 and YAML 1.2 readers may take .nan",
        ),
        (b"a: 1.0e+999\n", "readers may take 1.0e+999 for different values"),
    ];
    for (bytes, expected) in cases {
        let error = read(bytes)
            .expect_err(&String::from_utf8_lossy(bytes))
            .to_string();
        assert!(
            error.contains(expected),
            "{:?}: {error}",
            String::from_utf8_lossy(bytes)
        );
        assert!(error.starts_with("line "), "no place: {error}");
    }
}

#[test]
fn size_and_depth_are_bounded() {
    let mut big = vec![b'#'; MAX_BYTES];
    assert_eq!(
        read(&big).unwrap_err().to_string(),
        "line 1, column 1: the file holds no document"
    );
    big.push(b'#');
    let error = read(&big).unwrap_err().to_string();
    assert_eq!(
        error,
        "the file is larger than 8 MiB, the most a package file may have"
    );

    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(nested(MAX_DEPTH).as_bytes()).is_ok());
    let error = read(nested(MAX_DEPTH + 1).as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "line 1, column 65: the document is deeper than 64 levels");
    for depth in [10_000, 1_000_000] {
        let error = read(nested(depth).as_bytes()).unwrap_err().to_string();
        assert!(
            error.ends_with("the document is deeper than 64 levels"),
            "{error}"
        );
    }
    let block = "- ".repeat(100_000);
    assert!(
        read(block.as_bytes())
            .unwrap_err()
            .to_string()
            .contains("deeper than 64 levels")
    );
}

#[test]
fn an_expansion_bomb_is_rejected_at_its_first_anchor() {
    let mut bomb = String::from("a0: &a0 [x, x]\n");
    for level in 1..30 {
        let line = format!("a{level}: &a{level} [*a{below}, *a{below}]\n", below = level - 1);
        bomb.push_str(&line);
    }
    assert!(
        read(bomb.as_bytes())
            .unwrap_err()
            .to_string()
            .contains("anchors (`&name`) are rejected")
    );
}

#[test]
fn texts_of_the_file_are_shortened_and_escaped_in_messages() {
    let key = "k".repeat(500);
    let error = read(format!("{key}: 1\n{key}: 2\n").as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.len() < 200, "{error}");
    let error = read(b"\"\\e[31m\": 1\n\"\\e[31m\": 2\n").unwrap_err().to_string();
    assert!(!error.contains('\u{1b}') && error.contains("\\u001b"), "{error}");
}
