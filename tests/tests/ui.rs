//! Compiler messages for invalid skills (`ui/`, one behavior per file), and valid skills (`pass/`).
//!
//! `TRYBUILD=overwrite cargo test --test ui` regenerates the messages. They depend on the toolchain in
//! `rust-toolchain.toml`: other compiler versions word their own parts differently.

mod pass;

#[test]
fn messages_match() {
    let cases = trybuild::TestCases::new();
    for folder in ["args", "shape", "types", "docs", "recovery"] {
        cases.compile_fail(format!("tests/ui/{folder}/*.rs"));
    }
}

/// Cases in which one mistake leads to several errors, with the reason.
const SEVERAL: &[(&str, usize)] = &[
    // Several mistakes.
    ("recovery/five_mistakes_at_once", 5),
    ("recovery/mistakes_in_arguments_and_parameters", 4),
    ("recovery/body_is_checked_when_the_attribute_is_wrong", 2),
    ("types/two_wrong_parameters", 2),
    ("types/error_and_output_are_wrong", 2),
    // Three errors of the macro and one of the compiler.
    ("shape/variadic", 4),
    // The compiler does not know the attribute either.
    ("shape/unknown_attribute_on_a_parameter", 2),
    // An error of the parser.
    ("recovery/half_written_body", 3),
];

#[test]
fn one_mistake_is_one_error() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui");
    let mut checked = 0;
    for folder in std::fs::read_dir(root).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "stderr") {
                continue;
            }
            let name = path.strip_prefix(root).unwrap().with_extension("");
            let expected = SEVERAL
                .iter()
                .find(|(case, _)| name == std::path::Path::new(case));
            let text = std::fs::read_to_string(&path).unwrap();
            let errors = text.lines().filter(|line| line.starts_with("error")).count();
            assert_eq!(
                errors,
                expected.map_or(1, |(_, several)| *several),
                "{}",
                name.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 200, "only {checked} messages were found");
}
