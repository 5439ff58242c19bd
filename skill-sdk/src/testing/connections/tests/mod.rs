//! What the fake does not take, and the recorded cases.

mod cases;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{FakeConnection, FakeConnections};
use crate::error::panic_text;

/// What a test does to the connections.
type Change = fn(&FakeConnections);

#[test]
fn a_key_that_is_not_there_is_a_mistake_of_the_test() {
    let connections = FakeConnections::new();
    connections.add("mail");
    connections.add(FakeConnection::new("crm"));
    let changes: [Change; 4] = [
        |connections| connections.rotate("crn"),
        |connections| connections.revoke("crn"),
        |connections| connections.expire("crn"),
        |connections| connections.refuse("crn", 404),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let payload = catch_unwind(AssertUnwindSafe(|| change(&connections))).unwrap_err();
        let text = panic_text(payload.as_ref());
        assert_eq!(
            text, "there is no connection `crn`; there are: crm, mail",
            "{number}"
        );
    }
    assert_eq!(connections.token("crm").as_deref(), Some("t-1"));
}
