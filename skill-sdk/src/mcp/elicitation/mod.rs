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
use serde_json::value::RawValue;

pub(super) use self::peer::{AskingPeer, Peer};
pub(super) use self::rounds::{Asked, Rounds};
pub(super) use self::state::StateKey;
use crate::context::InputKind;

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Capabilities {
    form: bool,
    sampling: bool,
    roots: bool,
}

impl Capabilities {
    /// Parses them. A capability that is not understood is ignored.
    pub(super) fn read(raw: Option<&RawValue>) -> Self {
        #[derive(Deserialize)]
        struct Read<'a> {
            #[serde(borrow, default)]
            elicitation: Option<&'a RawValue>,
            #[serde(borrow, default)]
            sampling: Option<&'a RawValue>,
            #[serde(borrow, default)]
            roots: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Modes<'a> {
            #[serde(borrow, default)]
            form: Option<&'a RawValue>,
            #[serde(borrow, default)]
            url: Option<&'a RawValue>,
        }
        let Some(read) = raw.and_then(|raw| serde_json::from_str::<Read<'_>>(raw.get()).ok()) else {
            return Self::default();
        };
        let is_object = |raw: Option<&RawValue>| raw.is_some_and(|raw| raw.get().starts_with('{'));
        // Without modes it is forms.
        let modes = read
            .elicitation
            .and_then(|raw| serde_json::from_str::<Modes<'_>>(raw.get()).ok());
        Self {
            form: modes.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
            sampling: is_object(read.sampling),
            roots: is_object(read.roots),
        }
    }

    pub(super) fn has(self, kind: InputKind) -> bool {
        match kind {
            InputKind::Form => self.form,
            InputKind::Sample => self.sampling,
            InputKind::Roots => self.roots,
        }
    }

    /// Whether the client can be asked for anything.
    pub(super) fn any(self) -> bool {
        self.form || self.sampling || self.roots
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
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            let found = Capabilities::read(Some(&raw));
            let kinds = [InputKind::Form, InputKind::Sample, InputKind::Roots].map(|kind| found.has(kind));
            assert_eq!(kinds, [form, sampling, roots], "{text}");
            assert_eq!(found.any(), form || sampling || roots);
        }
        assert!(!Capabilities::read(None).any());
    }
}
