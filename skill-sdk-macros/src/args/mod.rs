//! The arguments of `#[skill(…)]`.
//!
//! [`keys`] is the one table of arguments, and [`words`] are the words of their values; [`parse`] walks the tokens
//! by it; [`value`] and [`implementation`] turn one value into its type and check it; [`suggest`] finds what a misspelt word
//! meant.

pub(crate) mod implementation;
pub(crate) mod keys;
pub(crate) mod parse;
pub(crate) mod suggest;
pub(crate) mod value;
pub(crate) mod words;

use proc_macro2::{Ident, Span};
use syn::{Expr, LitStr, Path};

use self::implementation::Implementation;

/// What the attribute says. Whatever was not given, or was wrong, is `None`.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) name: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) side_effects: Option<Chosen>,
    pub(crate) risk: Option<Chosen>,
    pub(crate) idempotency: Option<Chosen>,
    pub(crate) timeout: Option<Whole>,
    pub(crate) retry: Option<(Whole, Whole)>,
    pub(crate) description: Option<Expr>,
    pub(crate) permissions: Option<Vec<LitStr>>,
    pub(crate) preconditions: Option<Vec<Expr>>,
    pub(crate) postconditions: Option<Vec<Expr>>,
    pub(crate) cost_model: Option<CostModel>,
    pub(crate) implementation: Option<Implementation>,
    pub(crate) inputs_schema: Option<Json>,
    pub(crate) outputs_schema: Option<Json>,
    pub(crate) examples: Option<Json>,
    pub(crate) title: Option<Expr>,
    pub(crate) tags: Option<Vec<LitStr>>,
    pub(crate) secrets: Option<Vec<LitStr>>,
    pub(crate) config: Option<Vec<LitStr>>,
    pub(crate) allowed_hosts: Option<Vec<LitStr>>,
    pub(crate) deprecated: Option<Expr>,
    pub(crate) sdk: Option<Path>,
}

/// A member of a set: the word of the contract and the variant of the library's enum.
pub(crate) struct Chosen {
    pub(crate) word: &'static str,
    pub(crate) variant: Ident,
}

/// A whole number and where it was written.
#[derive(Clone, Copy)]
pub(crate) struct Whole {
    pub(crate) number: u32,
    pub(crate) span: Span,
}

/// What one unit of work costs.
pub(crate) struct CostModel {
    pub(crate) unit: LitStr,
    pub(crate) estimate: Option<f64>,
}

/// A JSON value that is known when the program is compiled.
pub(crate) enum Json {
    /// The path of a `.json` file next to the manifest.
    File(LitStr),
    /// An expression that can be serialized.
    Value(Box<Expr>),
}
