//! The policy of a skill: closed sets of words, and how often a call may be tried.

use serde::{Deserialize, Serialize};

/// An enum whose variants are words of the contract.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All words, in order.
            pub(crate) const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word in the contract.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

words! {
    /// What a skill does to the world outside.
    SideEffects {
        /// Nothing: the outputs depend on the inputs alone.
        None = "none",
        /// It reads something outside.
        ExternalRead = "external_read",
        /// It changes something outside.
        ExternalWrite = "external_write",
    }
}

words! {
    /// How much harm a wrong call can do.
    Risk {
        /// Little or none.
        Low = "low",
        /// Some, and it can be undone.
        Medium = "medium",
        /// Much, or it cannot be undone.
        High = "high",
    }
}

words! {
    /// Whether a retry of a call has a second effect.
    Idempotency {
        /// The skill uses the idempotency key of the call: a retry with the same key has no second effect.
        Required = "required",
        /// A retry with the same inputs has no second effect.
        Natural = "natural",
        /// A retry may have a second effect.
        None = "none",
    }
}

/// How often a caller may try, and how long it waits in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// Attempts in all, from 1 to 10.
    pub max_attempts: u32,
    /// Seconds between two attempts, from 0 to 3600.
    pub backoff_seconds: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written_alike() {
        for word in SideEffects::WORDS {
            let read: SideEffects = serde_json::from_value((*word).into()).unwrap();
            assert_eq!(read.as_str(), *word);
            assert_eq!(serde_json::to_value(read).unwrap(), *word);
        }
        assert!(serde_json::from_value::<Risk>("hgih".into()).is_err());
    }
}
