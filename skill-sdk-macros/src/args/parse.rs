//! Walks the tokens of `#[skill(…)]`: the name, then `key = value` in any order.
//!
//! A mistake ends the argument it is in, never the walk.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, Lit, LitStr, Token};

use super::keys::{self, KEYS, Key};
use super::{Args, Chosen, value};
use crate::errors::Errors;
use crate::rules;

/// Reads the arguments. What is wrong goes to `errors`; everything that is right is in the result.
pub(crate) fn parse(attribute: TokenStream, errors: &mut Errors) -> Args {
    let mut reader = Reader {
        args: Args::default(),
        given: Vec::new(),
        named: false,
        errors,
    };
    let walk = |input: ParseStream<'_>| {
        while !input.is_empty() {
            reader.argument(input);
            reader.comma(input);
        }
        Ok(())
    };
    // The walk consumes every token, so nothing is left for the parser itself to complain about.
    if let Err(error) = walk.parse2(attribute) {
        reader.errors.add(error);
    }
    reader.finish()
}

struct Reader<'a> {
    args: Args,
    /// Keys that were given, or were meant to be.
    given: Vec<&'static str>,
    /// Whether there was something where the name belongs.
    named: bool,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    /// Reads one argument. Afterwards the input is at a comma, at its end, or at something unexpected.
    fn argument(&mut self, input: ParseStream<'_>) {
        if input.peek(Token![,]) {
            self.errors
                .at_span(input.span(), "an argument is missing before this `,`");
        } else if input.peek(Ident::peek_any) {
            self.key_and_value(input);
        } else if let Ok(literal) = input.parse::<Lit>() {
            self.name(&literal);
        } else {
            self.errors
                .at_span(input.span(), "expected the name of the skill or `key = value`");
            skip(input);
        }
    }

    fn name(&mut self, literal: &Lit) {
        let Lit::Str(text) = literal else {
            self.named |= self.given.is_empty();
            let message = "the name of a skill must be a string, such as `\"git.merge\"`";
            return self.errors.at(literal, message);
        };
        if self.named {
            return self.errors.at(
                text,
                "the skill has a name already; write other arguments as `key = value`",
            );
        }
        self.named = true;
        if !self.given.is_empty() {
            self.errors.at(
                text,
                "the name of the skill must come first, before all `key = value`",
            );
        }
        match rules::name(&text.value()) {
            Ok(()) => self.args.name = Some(text.clone()),
            Err(reason) => self.errors.at(text, reason),
        }
    }

    fn key_and_value(&mut self, input: ParseStream<'_>) {
        let Ok(word) = input.call(Ident::parse_any) else {
            return skip(input);
        };
        let written = word.unraw().to_string();
        if written == "name" {
            self.named = true;
            self.errors.at(
                &word,
                "the name must come first, without a key: `#[skill(\"git.merge\", …)]`",
            );
            return skip(input);
        }
        let Some(key) = keys::find(&written) else {
            if !self.named && self.given.is_empty() && !input.peek(Token![=]) {
                self.named = true;
                let message =
                    "the name of a skill must be a string: write it in quotes, such as `\"git.merge\"`";
                self.errors.at(&word, message);
                return skip(input);
            }
            self.unknown(&word, &written);
            return skip(input);
        };
        if self.given.contains(&key.name) {
            self.errors.at(&word, format!("`{}` is given twice", key.name));
            return skip(input);
        }
        self.given.push(key.name);
        match value_of(&word, key, input) {
            Ok(value) => (key.read)(key, value::plain(value), &mut self.args, self.errors),
            Err(error) => {
                self.errors.add(error);
                skip(input);
            }
        }
    }

    fn unknown(&mut self, word: &Ident, written: &str) {
        let message = if let Some(key) = keys::meant(written) {
            self.given.push(key.name);
            format!(
                "unknown argument `{written}` in `#[skill]`; did you mean `{}`?",
                key.name
            )
        } else {
            let all: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            format!(
                "unknown argument `{written}` in `#[skill]`; expected one of: {}",
                all.join(", ")
            )
        };
        self.errors.at(word, message);
    }

    fn comma(&mut self, input: ParseStream<'_>) {
        if input.is_empty() || input.parse::<Token![,]>().is_ok() {
            return;
        }
        self.errors
            .at_span(input.span(), "expected `,` before the next argument");
        if !input.peek(Ident::peek_any) {
            skip(input);
            // Nothing more to say about a comma that now follows.
            input.parse::<Token![,]>().ok();
        }
    }

    /// Names what is missing, and what contradicts each other.
    fn finish(self) -> Args {
        let mut missing: Vec<String> = Vec::new();
        if !self.named {
            missing.push("a name".into());
        }
        let lacks = |key: &&Key| key.required && !self.given.contains(&key.name);
        missing.extend(KEYS.iter().filter(lacks).map(|key| format!("`{}`", key.name)));
        if !missing.is_empty() {
            let message = format!(
                "`#[skill]` lacks {}; the smallest valid attribute is `{}`",
                missing.join(", "),
                smallest(self.args.name.as_ref()),
            );
            self.errors.at_span(Span::call_site(), message);
        }
        repeated_writes(&self.args, self.errors);
        self.args
    }
}

/// The value after the `=` of a key.
fn value_of(word: &Ident, key: &Key, input: ParseStream<'_>) -> syn::Result<Expr> {
    let needs = || format!("`{0}` needs a value: write `{0} = {1}`", key.name, key.example);
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(word, needs()));
    }
    if input.parse::<Token![=]>().is_err() {
        let message = format!("expected `=`: write `{} = {}`", key.name, key.example);
        return Err(syn::Error::new(input.span(), message));
    }
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new_spanned(word, needs()));
    }
    let at = input.span();
    input.parse().map_err(|_| {
        syn::Error::new(
            at,
            format!("this is not a value: write `{} = {}`", key.name, key.example),
        )
    })
}

/// Leaves the input at the next comma, or at its end.
fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) && input.parse::<TokenTree>().is_ok() {}
}

/// The attribute with nothing but what is required.
fn smallest(name: Option<&LitStr>) -> String {
    let name = name.map_or_else(
        || "\"git.merge\"".to_owned(),
        |name| name.to_token_stream().to_string(),
    );
    let required = KEYS
        .iter()
        .filter(|key| key.required)
        .map(|key| format!("{} = {}", key.name, key.example));
    let parts: Vec<String> = [name].into_iter().chain(required).collect();
    format!("#[skill({})]", parts.join(", "))
}

/// A repeated external write without a key is a second external effect.
fn repeated_writes(args: &Args, errors: &mut Errors) {
    let word = |chosen: &Option<Chosen>| chosen.as_ref().map_or("none", |chosen| chosen.word);
    if let Some((attempts, _)) = &args.retry
        && let Err(reason) = rules::safe_retries(
            word(&args.side_effects),
            word(&args.idempotency),
            attempts.number.into(),
        )
    {
        errors.at_span(attempts.span, reason);
    }
}
