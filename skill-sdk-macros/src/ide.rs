//! What an editor completes and shows inside of `#[skill(…)]`.
//!
//! rust-analyzer knows nothing of the arguments of a macro, but it knows paths. It sets `cfg(rust_analyzer)`, and for it alone
//! the words of the attribute are in `use` items whose paths lead into modules of the library (`__private::ide`), named and
//! documented by the table of arguments. It maps the word under the cursor to its place in such a path, completes what the
//! module holds, and shows the documentation of what the path means. No compiler sees any of this.
//!
//! The tokens may be unfinished. They are read without a grammar: nothing here can fail.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::Path;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};

use crate::args::keys;
use crate::args::words::Words;
use crate::expand;

/// The statement for rust-analyzer, for an item that allows `unexpected_cfgs`: a crate need not know this condition.
pub(crate) fn hints(attribute: &TokenStream) -> TokenStream {
    let mut keys = Vec::new();
    let mut values = Vec::new();
    let mut sdk = None;
    for argument in split(attribute.clone()) {
        let Some(key) = argument.key else { continue };
        if key == "crate" {
            sdk = whole_path.parse2(argument.value.into_iter().collect()).ok();
        } else if let Some(known) = keys::find(&key.unraw().to_string()) {
            words(&[known.name], known.words, argument.value, &mut values);
        }
        keys.push(key);
    }
    let keys = used(&[], keys);
    let sdk = expand::sdk(sdk.as_ref());
    quote! {
        #[cfg(rust_analyzer)]
        // The imports are there to be looked at, not to be used.
        #[allow(unused_imports)]
        {
            use #sdk::__private::ide as __ide;
            #keys
            #(#values)*
        }
    }
}

/// `key = value`, or what there is of it.
struct Argument {
    key: Option<Ident>,
    value: Vec<TokenTree>,
}

/// The arguments between commas. The first word is the key, and what is behind the first `=` is the value.
fn split(tokens: TokenStream) -> Vec<Argument> {
    let all: Vec<TokenTree> = flat(tokens).collect();
    let is = |token: &TokenTree, what| matches!(token, TokenTree::Punct(punct) if punct.as_char() == what);
    all.split(|token| is(token, ','))
        .map(|part| {
            let equals = part.iter().position(|token| is(token, '='));
            let (before, behind) = part.split_at(equals.unwrap_or(part.len()));
            Argument {
                key: before.iter().find_map(word),
                value: behind.iter().skip(1).cloned().collect(),
            }
        })
        .collect()
}

/// The tokens without the invisible groups that `macro_rules!` puts around what it passes on.
fn flat(tokens: TokenStream) -> Box<dyn Iterator<Item = TokenTree>> {
    Box::new(tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat(group.stream()),
        other => Box::new(std::iter::once(other)),
    }))
}

fn word(token: &TokenTree) -> Option<Ident> {
    match token {
        TokenTree::Ident(ident) => Some(ident.clone()),
        _ => None,
    }
}

/// The words of a value: a word of its own, the parts in parentheses, or both, as in `http("…", audience = "…")`.
fn words(place: &[&str], known: Words, value: Vec<TokenTree>, uses: &mut Vec<TokenStream>) {
    if known.is_empty() {
        return;
    }
    let keys_of = |group: &Group| {
        let parts = split(group.stream());
        parts.into_iter().filter_map(|part| part.key).collect()
    };
    let mut value = value.into_iter();
    match value.next() {
        Some(TokenTree::Ident(written)) => {
            let member = known.iter().find(|member| written == member.name);
            uses.push(used(place, vec![written]));
            if let (Some(member), Some(TokenTree::Group(parts))) = (member, value.next()) {
                let place: Vec<&str> = place.iter().copied().chain([member.name]).collect();
                uses.push(used(&place, keys_of(&parts)));
            }
        }
        Some(TokenTree::Group(parts)) => uses.push(used(place, keys_of(&parts))),
        None => uses.push(used(place, Vec::new())),
        Some(_) => {}
    }
}

/// The `use` of all words below the modules of `place`, but for keywords, which cannot be there.
///
/// It is generated also before the first word: rust-analyzer compares the expansion with one that has a word at the cursor,
/// and must find itself at the same place in both.
fn used(place: &[&str], words: Vec<Ident>) -> TokenStream {
    let place = place.iter().map(|module| format_ident!("{module}"));
    let words = words
        .into_iter()
        .filter(|word| syn::parse2::<Ident>(TokenTree::from(word.clone()).into()).is_ok());
    quote!(use __ide #(::#place)*::{ #(#words as _),* };)
}

/// A path, and the unfinished text behind it.
fn whole_path(input: ParseStream<'_>) -> syn::Result<Path> {
    let path = input.call(Path::parse_mod_style)?;
    input.parse::<TokenStream>()?;
    Ok(path)
}
