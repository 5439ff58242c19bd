//! Every recorded case of a service is replayed by some test, or it stands here with a reason.
//!
//! A test that replays cases says how many in its `REPLAYED` and fails when it replays another number. Here they are added up.

#![allow(clippy::unwrap_used, reason = "a panic of a test program is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use skill_sdk_tests::cases;

/// A file of cases, the tests that replay some of it, and the cases that nobody replays.
struct File {
    name: &'static str,
    replayed_by: &'static [&'static str],
    /// Why not, and which.
    left_out: &'static [(&'static str, &'static [&'static str])],
}

const FILES: [File; 6] = [
    File {
        name: "secrets.json",
        replayed_by: &["skill-sdk/src/context/secrets/tests/cases.rs"],
        left_out: &[],
    },
    File {
        name: "pii.json",
        replayed_by: &["skill-sdk/src/context/pii/tests.rs"],
        left_out: &[],
    },
    File {
        name: "claude_code.json",
        replayed_by: &[
            "skill-sdk/src/context/llm/answer/tests.rs",
            "tests/tests/llm/claude_cases.rs",
        ],
        left_out: &[],
    },
    File {
        name: "connections.json",
        replayed_by: &[
            "skill-sdk/src/context/connections/tests/cases.rs",
            "skill-sdk/src/testing/connections/cases.rs",
        ],
        left_out: &[(
            "a time below zero has no type here, and one over 60 seconds is 60 seconds",
            &["cache-bound-0", "cache-bound-2"],
        )],
    },
    File {
        name: "fakes.json",
        replayed_by: &["tests/tests/services/fakes.rs", "tests/tests/llm/fake.rs"],
        left_out: &[],
    },
    File {
        name: "context.json",
        replayed_by: &[
            "tests/tests/context_cases.rs",
            "skill-sdk/src/context/llm/tests.rs",
            "skill-sdk/src/context/core/tests/credentials.rs",
        ],
        left_out: &[
            (
                "amounts are numbers by their type",
                &["cost-string-amount", "cost-bool-amount"],
            ),
            (
                "settings are a shared reference, which nobody can assign through",
                &["settings-readonly"],
            ),
            (
                "exceptions with attributes are of the reference's language",
                &[
                    "from-exception-plain",
                    "from-exception-bad",
                    "from-exception-int",
                    "from-exception-truthy",
                ],
            ),
        ],
    },
];

/// What a test says of itself.
fn replayed(test: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(test);
    let source = fs::read_to_string(path).unwrap();
    let (_, rest) = source.split_once("const REPLAYED: usize = ").unwrap();
    rest.split(';').next().unwrap().parse().unwrap()
}

#[test]
fn every_case_is_replayed_or_left_out_for_a_reason() {
    let all = FILES.map(|file| (file.name, cases::load(file.name)));
    if all.iter().all(|(_, cases)| cases.is_empty()) {
        // They are not at hand, which loading them said.
        return;
    }
    for (file, (name, cases)) in FILES.into_iter().zip(all) {
        assert!(
            !cases.is_empty(),
            "{name}: the others are at hand, and this one is not"
        );
        let ids: BTreeSet<_> = cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids.len(), cases.len(), "{}: ids are unique", file.name);
        let left_out: Vec<_> = file.left_out.iter().flat_map(|(_, ids)| *ids).collect();
        for id in &left_out {
            assert!(ids.contains(**id), "{}: there is no {id}", file.name);
        }
        let all: usize = file.replayed_by.iter().map(|test| replayed(test)).sum();
        assert_eq!(all + left_out.len(), cases.len(), "{}", file.name);
    }
}
