//! The page `docs/reference/provider-rules.md` has a row for every rule, in their order.

use std::fs;
use std::path::Path;

use super::{Severity, all_rules};

#[test]
fn the_page_lists_every_rule() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/provider-rules.md");
    let page = fs::read_to_string(path).unwrap();
    // A bar in a cell is written `\|`.
    let rows: Vec<Vec<String>> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .map(|row| row.replace("\\|", "\0"))
        .map(|row| row.split(" | ").map(|cell| cell.replace('\0', "|")).collect())
        .collect();
    let rules: Vec<_> = all_rules().collect();
    assert_eq!(rows.len(), rules.len());
    for (row, rule) in rows.iter().zip(rules) {
        let [id, summary, severity, remedy, source] = row.as_slice() else {
            panic!("{row:?}");
        };
        let expected = if rule.severity == Severity::Error {
            "error"
        } else {
            "warning"
        };
        assert_eq!(id.trim_end_matches('`'), rule.id);
        assert_eq!(
            (severity.as_str(), remedy.as_str()),
            (expected, rule.remedy),
            "{}",
            rule.id
        );
        assert!(summary.ends_with('.') && source.ends_with(". |"), "{}", rule.id);
    }
}
