//! Unknown keys, and the recorded cases.

mod cases;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{FakeConnection, FakeConnections};
use crate::error::panic_text;

/// A change of a connection.
type Change = fn(&FakeConnections);

#[test]
fn an_unknown_key_panics() {
    let connections = FakeConnections::new();
    connections.add("mail");
    connections.add(FakeConnection::new("crm"));
    let changes: [Change; 4] = [
        |connections| connections.rotate("crn"),
        |connections| connections.revoke("crn"),
        |connections| connections.expire("crn"),
        |connections| connections.reject("crn", 404),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let payload = catch_unwind(AssertUnwindSafe(|| change(&connections))).unwrap_err();
        let text = panic_text(payload.as_ref());
        assert_eq!(text, "unknown connection `crn`; known: crm, mail", "{number}");
    }
    assert_eq!(connections.token("crm").as_deref(), Some("t-1"));
}
