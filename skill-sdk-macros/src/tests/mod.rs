//! The macros without a compiler: every message with the token it points at, and the expansions as they are reviewed.

mod arguments;
mod editor;
mod explained;
mod failures;
mod implementations;
mod reference;
mod shapes;
mod snapshots;
mod states;
mod values;

use proc_macro2::{TokenStream, TokenTree};

/// The function of every test that is not about functions.
const FUNCTION: &str = "async fn merge(inputs: MergeIn) -> MergeOut { MergeOut }";

/// Arguments of a skill that has nothing wrong.
const GOOD: &str = r#""git.merge", version = "1", side_effects = "none", risk = "low""#;

/// Where an error of the macro points when it points at the attribute.
const ATTRIBUTE: &str = "#[]";

fn tokens(source: &str) -> TokenStream {
    source.parse().unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn skill(attribute: &str, item: &str) -> TokenStream {
    crate::expand::expand(tokens(attribute), tokens(item))
}

/// Each `compile_error!`: the first token that it points at, and its text.
fn errors(expansion: TokenStream) -> Vec<(String, String)> {
    let tokens: Vec<TokenTree> = expansion.into_iter().collect();
    let is = |token: &TokenTree, word: &str| token.to_string() == word;
    let error = |window: &[TokenTree]| {
        let [name, bang, TokenTree::Group(text)] = window else {
            return None;
        };
        let text: syn::LitStr = syn::parse2(text.stream())
            .ok()
            .filter(|_| is(name, "compile_error") && is(bang, "!"))?;
        let place = name.span().source_text().filter(|place| !place.is_empty());
        Some((place.unwrap_or_else(|| ATTRIBUTE.to_owned()), text.value()))
    };
    tokens.windows(3).filter_map(error).collect()
}

/// Compares errors with `(token, message)` pairs, in order.
#[track_caller]
fn assert_errors(found: &[(String, String)], expected: &[(&str, &str)], about: &str) {
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(place, text)| (place.as_str(), text.as_str()))
        .collect();
    assert_eq!(found, expected, "\n{about}\nfound: {found:#?}");
}

/// Checks the errors of `#[skill(attribute)] item`, and that the function is still there, so that the rest of a program compiles.
#[track_caller]
fn refused(attribute: &str, item: &str, expected: &[(&str, &str)]) {
    let expansion = skill(attribute, item);
    assert!(
        expansion.to_string().contains("fn "),
        "the function is gone: {attribute} {item}"
    );
    assert!(
        !expansion.to_string().contains("__sdk"),
        "half of an expansion: {attribute} {item}"
    );
    assert_errors(
        &errors(expansion),
        expected,
        &format!("#[skill({attribute})] {item}"),
    );
}

#[track_caller]
fn accepted(attribute: &str, item: &str) {
    let expansion = skill(attribute, item);
    assert_errors(
        &errors(expansion.clone()),
        &[],
        &format!("#[skill({attribute})] {item}"),
    );
    syn::parse2::<syn::File>(expansion).unwrap_or_else(|error| panic!("{attribute} {item}: {error}"));
}
