//! What `#[serde(…)]` and `#[schemars(…)]` on a parameter may say.
//!
//! The derives check it too. But they then derive nothing, and the compiler would add a second error, about a type that
//! the author never wrote. So what can be told by the word and the form of its value is told here.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

use crate::args::suggest::closest;
use crate::errors::Errors;

/// How a word is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `word`
    Alone,
    /// `word = "…"`
    Text,
    /// `word` or `word = "…"`
    AloneOrText,
    /// `word = …` with something in it that the derive knows.
    Other,
}

/// The words of serde for a field.
const SERDE: &[(&str, Form)] = &[
    ("alias", Form::Text),
    ("borrow", Form::AloneOrText),
    ("bound", Form::Other),
    ("default", Form::AloneOrText),
    ("deserialize_with", Form::Text),
    ("flatten", Form::Alone),
    ("getter", Form::Text),
    ("rename", Form::Other),
    ("serialize_with", Form::Text),
    ("skip", Form::Alone),
    ("skip_deserializing", Form::Alone),
    ("skip_serializing", Form::Alone),
    ("skip_serializing_if", Form::Text),
    ("with", Form::Text),
];

/// The words of schemars for a field, those of serde that it may override included.
const SCHEMARS: &[(&str, Form)] = &[
    ("bound", Form::Other),
    ("contains", Form::Other),
    ("default", Form::AloneOrText),
    ("description", Form::Other),
    ("email", Form::Alone),
    ("example", Form::Other),
    ("extend", Form::Other),
    ("flatten", Form::Alone),
    ("inner", Form::Other),
    ("ip", Form::Alone),
    ("ipv4", Form::Alone),
    ("ipv6", Form::Alone),
    ("length", Form::Other),
    ("pattern", Form::Other),
    ("range", Form::Other),
    ("regex", Form::Other),
    ("rename", Form::Other),
    ("required", Form::Alone),
    ("schema_with", Form::Text),
    ("skip", Form::Alone),
    ("skip_deserializing", Form::Alone),
    ("skip_serializing", Form::Alone),
    ("skip_serializing_if", Form::Text),
    ("title", Form::Other),
    ("transform", Form::Other),
    ("url", Form::Alone),
    ("with", Form::Text),
];

/// Checks the words of one attribute of a parameter, and those that a `#[cfg_attr(…)]` would put there.
pub(crate) fn check(meta: &Meta, errors: &mut Errors) {
    for (owner, known) in [("serde", SERDE), ("schemars", SCHEMARS)] {
        if !meta.path().is_ident(owner) {
            continue;
        }
        let Meta::List(list) = meta else {
            errors.at(
                meta,
                format!("`{owner}` needs words in parentheses: `#[{owner}(…)]`"),
            );
            continue;
        };
        match parsed(list.tokens.clone()) {
            Ok(words) => {
                for word in &words {
                    check_word(owner, known, word, errors);
                }
            }
            // schemars also knows `!word`, which is not valid syntax for a Rust attribute.
            Err(_) if owner == "schemars" => {}
            Err(error) => errors.at_span(error.span(), format!("`#[{owner}(…)]` cannot be read: {error}")),
        }
    }
}

/// The words of an attribute.
pub(crate) fn of(attribute: &Attribute) -> Vec<Meta> {
    let Meta::List(list) = &attribute.meta else {
        return Vec::new();
    };
    parsed(list.tokens.clone()).unwrap_or_default()
}

fn parsed(tokens: TokenStream) -> syn::Result<Vec<Meta>> {
    let words = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens)?;
    Ok(words.into_iter().collect())
}

fn check_word(owner: &str, known: &[(&str, Form)], word: &Meta, errors: &mut Errors) {
    let path = word.path().to_token_stream().to_string();
    let Some((_, form)) = known.iter().find(|(name, _)| *name == path) else {
        let names = || known.iter().map(|(name, _)| *name);
        let help = closest(&path, names()).map_or_else(
            || format!("it may have {}", list(names())),
            |meant| format!("did you mean `{meant}`?"),
        );
        let message = format!("unknown word `{path}` of `#[{owner}(…)]` on a parameter of a skill; {help}");
        errors.at(word.path(), message);
        return;
    };
    let expected = match form {
        Form::Alone => format!("`{path}`"),
        Form::Text => format!("`{path} = \"…\"`"),
        Form::AloneOrText => format!("`{path}` or `{path} = \"…\"`"),
        Form::Other => format!("`{path} = …` or `{path}(…)`"),
    };
    let fits = match word {
        Meta::Path(_) => matches!(form, Form::Alone | Form::AloneOrText),
        // schemars takes a path without quotes too.
        Meta::NameValue(pair) => match form {
            Form::Alone => false,
            Form::Text | Form::AloneOrText => owner == "schemars" || is_text(&pair.value),
            Form::Other => true,
        },
        Meta::List(_) => *form == Form::Other,
    };
    if !fits {
        errors.at(
            word,
            format!("`{path}` of `#[{owner}(…)]` must be written {expected}"),
        );
    }
}

fn is_text(value: &Expr) -> bool {
    matches!(value, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
        // What a macro makes of it is not known yet.
        || matches!(value, Expr::Macro(_) | Expr::Group(_))
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn messages(attribute: &Attribute) -> String {
        let mut errors = Errors::default();
        check(&attribute.meta, &mut errors);
        errors
            .into_tokens()
            .map(|tokens| tokens.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn what_the_derives_take_passes() {
        let good: [Attribute; 11] = [
            parse_quote!(#[serde(default)]),
            parse_quote!(#[serde(default = "five", rename = "in", alias = "a", alias = "b")]),
            parse_quote!(#[serde(rename(serialize = "a", deserialize = "b"))]),
            parse_quote!(#[serde(with = "module", flatten, skip_serializing_if = "Option::is_none")]),
            parse_quote!(#[serde()]),
            parse_quote!(#[schemars(range(min = 1, max = 5), length(equal = 3), inner(length(max = 2)))]),
            parse_quote!(#[schemars(extend("x-a" = 1, "x-b" = true), example = 5, title = "T")]),
            parse_quote!(#[schemars(with = "String", schema_with = "path::to", regex(pattern = "a"))]),
            parse_quote!(#[schemars(email)]),
            parse_quote!(#[schemars(!default)]),
            parse_quote!(#[doc = "words"]),
        ];
        for attribute in good {
            assert_eq!(messages(&attribute), "", "{}", attribute.to_token_stream());
        }
    }

    #[test]
    fn what_they_would_refuse_is_told_once() {
        let bad: [(Attribute, &str); 9] = [
            (parse_quote!(#[serde(defualt)]), "did you mean `default`?"),
            (parse_quote!(#[serde(colour)]), "it may have `alias`, `borrow`"),
            (
                parse_quote!(#[serde(deny_unknown_fields)]),
                "unknown word `deny_unknown_fields`",
            ),
            (
                parse_quote!(#[serde(rename)]),
                "`rename` of `#[serde(…)]` must be written `rename = …` or `rename(…)`",
            ),
            (
                parse_quote!(#[serde(default = 5)]),
                "must be written `default` or `default =",
            ),
            (
                parse_quote!(#[serde(flatten = "yes")]),
                "must be written `flatten`",
            ),
            (parse_quote!(#[serde]), "`serde` needs words in parentheses"),
            (parse_quote!(#[serde(default default)]), "expected `,`"),
            (parse_quote!(#[schemars(rnage(min = 1))]), "did you mean `range`?"),
        ];
        for (attribute, expected) in bad {
            let found = messages(&attribute).replace("\\\"", "\"");
            assert_eq!(found.matches("compile_error").count(), 1, "{found}");
            assert!(found.contains(expected), "{found}");
        }
    }
}
