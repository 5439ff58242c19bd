//! The personal-data guard: personal data in a text is replaced before the text leaves the program.
//!
//! Every text that goes to a language model passes it by itself. The functions are public for texts that leave in other
//! ways. What is found becomes `[ПДн:<kind>]`. The kinds, in the order of matching:
//!
//! | kind | what | example |
//! |---|---|---|
//! | `снилс` | a number of the pension fund | `112-233-445 95` |
//! | `паспорт` | series and number of a passport, near the word `паспорт` or `серия` | `паспорт 4508 123456` |
//! | `телефон` | a number with `+7` or `8` | `8 (912) 345-67-89` |
//! | `email` | an address in Latin letters | `ivan@example.com` |
//! | `фио` | a name with a patronymic, or a surname with two initials | `Иванов И. И.` |
//!
//! Tax numbers, accounts, sums, codes and dates stay. Texts of any length are read in linear time. What is found is never
//! logged: only kinds and counts are.
//!
//! - `builtin`: the patterns of the kinds above
//! - `guard`: puts them one after the other, with patterns of authors
//! - `fields`: attributes that a schema marks as personal

mod builtin;
mod fields;
mod guard;
#[cfg(test)]
mod tests;

pub use self::fields::strip_personal_fields;
pub use self::guard::{Found, PatternError, Redacted, add_pattern, redact};
pub(crate) use self::guard::{Guard, installed};
