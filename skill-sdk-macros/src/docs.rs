//! The doc comment of a function as a list of expressions.
//!
//! A line may be a literal or something only the compiler can read (`#[doc = include_str!("skill.md")]`), so the lines are handed
//! to the library as they are, and the library finds the first paragraph.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Meta};

use crate::attributes;

/// Whether the attribute is a doc comment, in any of its spellings but `#[doc(…)]`.
pub(crate) fn is_comment(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::NameValue(meta) if meta.path.is_ident("doc"))
}

/// The lines of the doc comment, each an expression of type `&'static str`, perhaps behind a `#[cfg]`.
pub(crate) fn lines(attributes: &[Attribute]) -> Vec<TokenStream> {
    let mut lines = Vec::new();
    for attribute in attributes {
        match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("doc") => lines.push(meta.value.to_token_stream()),
            // An attribute below `#[skill]` has not been evaluated yet.
            Meta::List(_) => {
                let Some((predicate, parts)) = attributes::conditional(attribute) else {
                    continue;
                };
                for part in parts {
                    if let Meta::NameValue(meta) = part
                        && meta.path.is_ident("doc")
                    {
                        let line = &meta.value;
                        lines.push(quote!(#[cfg(#predicate)] #line));
                    }
                }
            }
            _ => {}
        }
    }
    lines
}
