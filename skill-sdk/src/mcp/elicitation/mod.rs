//! Elicitation: questions of a skill to the client during a call.
//!
//! In the revisions with `initialize` the server sends a request to the client, and the call waits for the response: [`Peer`].
//! In a stateless revision the call ends with its questions, and the client calls again with the answers and with a state that
//! the server signed: [`Rounds`].

mod check;
mod peer;
mod rounds;
mod state;

use serde::Deserialize;
use serde::de::IgnoredAny;

pub(super) use self::peer::{AskingPeer, Peer};
pub(super) use self::rounds::Rounds;
pub(super) use self::state::StateKey;
use super::protocol::lenient;
use crate::context::InputKind;

/// What a client can be asked for. A capability that is not understood is ignored.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Capabilities {
    #[serde(deserialize_with = "lenient")]
    elicitation: Option<Modes>,
    #[serde(deserialize_with = "lenient")]
    sampling: Option<Object>,
    #[serde(deserialize_with = "lenient")]
    roots: Option<Object>,
}

/// The modes of elicitation. Without modes it is forms.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Modes {
    form: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Object {}

impl Capabilities {
    pub(super) fn has(self, kind: InputKind) -> bool {
        match kind {
            InputKind::Form => self
                .elicitation
                .is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
            InputKind::Sample => self.sampling.is_some(),
            InputKind::Roots => self.roots.is_some(),
        }
    }

    /// Whether the client can be asked for anything.
    pub(super) fn any(self) -> bool {
        [InputKind::Form, InputKind::Sample, InputKind::Roots]
            .into_iter()
            .any(|kind| self.has(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_can_do() {
        for (text, form, sampling, roots) in [
            ("{}", false, false, false),
            (r#"{"elicitation": {}}"#, true, false, false),
            (
                r#"{"elicitation": {"form": {}}, "roots": {"listChanged": true}}"#,
                true,
                false,
                true,
            ),
            (
                r#"{"elicitation": {"url": {}}, "sampling": {}}"#,
                false,
                true,
                false,
            ),
            (r#"{"elicitation": {"url": {}, "form": {}}}"#, true, false, false),
            (
                r#"{"elicitation": null, "sampling": true, "roots": 1}"#,
                false,
                false,
                false,
            ),
            ("[]", false, false, false),
        ] {
            let found = serde_json::from_str::<Capabilities>(text).unwrap();
            let kinds = [InputKind::Form, InputKind::Sample, InputKind::Roots].map(|kind| found.has(kind));
            assert_eq!(kinds, [form, sampling, roots], "{text}");
            assert_eq!(found.any(), form || sampling || roots);
        }
    }
}
