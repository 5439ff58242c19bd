//! PII redaction: personal data in a text is replaced before the text leaves the process.
//!
//! Every text for a language model is redacted. The functions are public for texts that leave the process in other ways. The
//! built-in patterns find data of persons in Russia, and email addresses. A find becomes `[ПДн:<kind>]`. The kinds, in the
//! order of matching:
//!
//! | kind | what | example |
//! |---|---|---|
//! | `снилс` | insurance number of the pension fund | `112-233-445 95` |
//! | `паспорт` | series and number of a passport, near the word `паспорт` or `серия` | `паспорт 4508 123456` |
//! | `телефон` | phone number with `+7` or `8` | `8 (912) 345-67-89` |
//! | `email` | email address in Latin letters | `ivan@example.com` |
//! | `фио` | name with a patronymic, or surname with two initials | `Иванов И. И.` |
//!
//! Tax numbers, account numbers, sums, codes and dates are kept. The search takes linear time. Logs contain the kinds and
//! their counts, never the finds.
//!
//! ```
//! let redacted = skill_sdk::pii::redact("Пишите на ivan@example.com");
//! assert_eq!(redacted.text, "Пишите на [ПДн:email]");
//! ```
//!
//! Guide: `docs/guides/language-models.md`.
//!
//! - `builtin`: the patterns of the kinds above
//! - `redact`: applies them, and the patterns of authors
//! - `fields`: attributes that a schema marks as personal

mod builtin;
mod fields;
mod redact;
#[cfg(test)]
mod tests;

pub use self::fields::strip_personal_fields;
pub(crate) use self::redact::replace;
pub use self::redact::{Found, PatternError, Redacted, add_pattern, redact};
