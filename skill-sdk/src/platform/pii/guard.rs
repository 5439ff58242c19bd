//! The guard: all patterns one after the other, each on what the last one left.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use fancy_regex::Regex;

use super::builtin::PATTERNS;

/// How often each kind was found, in the order of the names.
pub type Found = BTreeMap<Cow<'static, str>, usize>;

/// The longest name of a kind, in characters.
const MAX_KIND: usize = 40;

/// The kind that stands for a text that could not be searched.
const UNSEARCHED: &str = "unsearched";

/// A text without personal data, and what was in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redacted {
    /// The text, with a marker in place of each find.
    pub text: String,
    /// The kinds and how often each was found.
    pub found: Found,
}

/// Replaces personal data in `text`, with the patterns that [`add_pattern`] added.
///
/// ```
/// let redacted = skill_sdk::pii::redact("Позвоните Иванову И. И.: 8 (912) 345-67-89");
/// assert_eq!(redacted.text, "Позвоните [ПДн:фио]: [ПДн:телефон]");
/// assert_eq!(redacted.found["телефон"], 1);
/// ```
pub fn redact(text: &str) -> Redacted {
    installed().redact(text)
}

/// Adds a pattern to those that every text for a model is searched for, in this whole program.
///
/// `pattern` is a regular expression, with look-around, that is looked for after all others; `kind` is 1 to 40 letters,
/// digits, `-` or `_`. The pattern must not match the empty text. It is code of yours: a pattern that backtracks too much on
/// some text makes that whole text a marker. Call this where the program starts, or once in a test program.
///
/// ```
/// skill_sdk::pii::add_pattern("договор", r"\bД-\d{6}\b")?;
/// assert_eq!(skill_sdk::pii::redact("по Д-123456").text, "по [ПДн:договор]");
/// # Ok::<(), skill_sdk::pii::PatternError>(())
/// ```
pub fn add_pattern(kind: impl Into<String>, pattern: &str) -> Result<(), PatternError> {
    let kind = kind.into();
    let mut installed = INSTALLED.write().unwrap_or_else(PoisonError::into_inner);
    let is_known = |own: &Own| own.kind == kind && own.regex.as_str() == pattern;
    if !installed.own.iter().any(is_known) {
        *installed = installed.clone().with_pattern(kind, pattern)?;
    }
    Ok(())
}

static INSTALLED: LazyLock<RwLock<Guard>> = LazyLock::new(RwLock::default);

/// The guard of this program.
pub(crate) fn installed() -> Guard {
    let installed = INSTALLED.read().unwrap_or_else(PoisonError::into_inner);
    installed.clone()
}

/// The personal-data guard: the patterns that are always looked for, and patterns of authors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    own: Arc<[Own]>,
}

/// A pattern of an author.
#[derive(Debug, Clone)]
struct Own {
    kind: String,
    regex: Regex,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PatternError {}

impl Own {
    fn new(kind: String, pattern: &str) -> Result<Self, PatternError> {
        let allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if kind.is_empty() || !kind.chars().all(allowed) || kind.chars().count() > MAX_KIND {
            return Err(PatternError(format!(
                "the kind {kind:?} of a pattern is not 1 to {MAX_KIND} letters, digits, `-` or `_`"
            )));
        }
        let regex = Regex::new(pattern).map_err(|error| {
            PatternError(format!("the pattern of the kind `{kind}` is unusable: {error}"))
        })?;
        if regex.find("").map_or(true, |found| found.is_some()) {
            return Err(PatternError(format!(
                "the pattern of the kind `{kind}` matches the empty text: ask for at least one character"
            )));
        }
        Ok(Self { kind, regex })
    }
}

impl Guard {
    /// Adds a pattern of an author.
    pub(super) fn with_pattern(
        mut self,
        kind: impl Into<String>,
        pattern: &str,
    ) -> Result<Self, PatternError> {
        let mut own = self.own.to_vec();
        own.push(Own::new(kind.into(), pattern)?);
        self.own = own.into();
        Ok(self)
    }

    /// Replaces personal data in `text`.
    pub(crate) fn redact(&self, text: &str) -> Redacted {
        let mut found = Found::new();
        let text = self.replace(text, &mut found).into_owned();
        Redacted { text, found }
    }

    /// The same, without a copy of a text in which nothing is found, and with the counts added to `found`.
    pub(crate) fn replace<'t>(&self, text: &'t str, found: &mut Found) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for pattern in PATTERNS.iter() {
            let Some(places) = pattern.find_all(&text) else {
                return unsearched(found);
            };
            text = mark(text, Cow::Borrowed(pattern.kind), &places, found);
        }
        for Own { kind, regex } in self.own.iter() {
            let places = regex.find_iter(&*text).map(|found| Some(found.ok()?.range()));
            let Some(places) = places.collect::<Option<Vec<_>>>() else {
                return unsearched(found);
            };
            text = mark(text, Cow::Owned(kind.clone()), &places, found);
        }
        text
    }
}

/// The text with a marker in each place, which are counted.
fn mark<'t>(
    text: Cow<'t, str>,
    kind: Cow<'static, str>,
    places: &[Range<usize>],
    found: &mut Found,
) -> Cow<'t, str> {
    if places.is_empty() {
        return text;
    }
    let mut marked = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        marked.push_str(text.get(at..place.start).unwrap_or_default());
        marked.push_str(&marker(&kind));
        at = place.end;
    }
    marked.push_str(text.get(at..).unwrap_or_default());
    *found.entry(kind).or_default() += places.len();
    Cow::Owned(marked)
}

fn marker(kind: &str) -> String {
    format!("[ПДн:{kind}]")
}

/// A text of which nobody knows what is in it is all personal.
fn unsearched<'t>(found: &mut Found) -> Cow<'t, str> {
    *found.entry(Cow::Borrowed(UNSEARCHED)).or_default() += 1;
    Cow::Owned(marker(UNSEARCHED))
}
