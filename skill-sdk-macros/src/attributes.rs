//! Attributes below the macro's own, also those inside of a `#[cfg_attr(…)]`, which is not evaluated yet.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

/// The predicate of a `#[cfg_attr(…)]`, and what it would put in its place.
pub(crate) fn conditional(attribute: &Attribute) -> Option<(Meta, Vec<Meta>)> {
    if !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    let parts = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let mut parts = parts.ok()?.into_iter();
    Some((parts.next()?, parts.collect()))
}

/// What a `#[cfg_attr(…)]` would put in its place.
pub(crate) fn inside(attribute: &Attribute) -> Vec<Meta> {
    conditional(attribute).map_or_else(Vec::new, |(_, metas)| metas)
}

/// The attributes for which `choose` has a content, with that content and under their conditions.
pub(crate) fn chosen(
    attributes: &[Attribute],
    choose: impl Fn(&Meta) -> Option<TokenStream>,
) -> Vec<TokenStream> {
    let mut found = Vec::new();
    for attribute in attributes {
        if let Some(content) = choose(&attribute.meta) {
            found.push(quote!(#[#content]));
        }
        if let Some((predicate, metas)) = conditional(attribute) {
            let contents = metas.iter().filter_map(&choose);
            found.extend(contents.map(|content| quote!(#[cfg_attr(#predicate, #content)])));
        }
    }
    found
}

/// The attributes that decide whether the function exists: what is generated exists with it.
pub(crate) fn conditions(attributes: &[Attribute]) -> Vec<TokenStream> {
    chosen(attributes, |meta| {
        meta.path().is_ident("cfg").then(|| quote!(#meta))
    })
}

/// Lets the generated items call a function that is deprecated for others.
pub(crate) fn deprecated(attributes: &[Attribute]) -> Vec<TokenStream> {
    chosen(attributes, |meta| {
        meta.path()
            .is_ident("deprecated")
            .then(|| quote!(allow(deprecated)))
    })
}

/// `#[doc(hidden)]` of the function.
pub(crate) fn hidden(attributes: &[Attribute]) -> Vec<TokenStream> {
    let is_hidden = |meta: &Meta| {
        let words = match meta {
            Meta::List(list) if list.path.is_ident("doc") => list
                .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                .unwrap_or_default(),
            _ => Punctuated::new(),
        };
        words.iter().any(|word| word.path().is_ident("hidden"))
    };
    chosen(attributes, |meta| is_hidden(meta).then(|| quote!(doc(hidden))))
}

/// The attributes without those called `name`.
pub(crate) fn without(attributes: &[Attribute], name: &str) -> Vec<TokenStream> {
    let is_other = |meta: &Meta| !meta.path().is_ident(name);
    let kept = |attribute: &Attribute| match conditional(attribute) {
        Some((predicate, metas)) => {
            let others: Vec<_> = metas.into_iter().filter(is_other).collect();
            (!others.is_empty()).then(|| quote!(#[cfg_attr(#predicate, #(#others),*)]))
        }
        None => is_other(&attribute.meta).then(|| quote!(#attribute)),
    };
    attributes.iter().filter_map(kept).collect()
}
