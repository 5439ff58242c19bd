//! `#[derive(SkillFailure)]`: the errors of a skill as codes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Data, DeriveInput, Fields, LitStr, Path, Token};

use crate::args::suggest::closest;
use crate::errors::Errors;
use crate::{expand, rules};

/// Expands the derive. The implementation is there even when something is wrong, so that `?` stays quiet.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let kinds = kinds(&input, &mut errors);
    let implementation = kinds.map(|(kinds, sdk)| implementation(&input, &kinds, sdk.as_ref()));
    let errors = errors.into_tokens();
    quote!(#implementation #errors)
}

/// One arm: a pattern, the code, and whether repeating may help.
type Kind = (TokenStream, Failure);

/// What a `#[failure(…)]` says.
#[derive(Default)]
struct Failure {
    code: Option<LitStr>,
    retryable: bool,
    /// Whether the code was there, right or wrong.
    coded: bool,
    sdk: Option<Path>,
}

fn kinds(input: &DeriveInput, errors: &mut Errors) -> Option<(Vec<Kind>, Option<Path>)> {
    if let Some(lifetime) = input.generics.lifetimes().next() {
        errors.at(
            lifetime,
            "a failure cannot borrow: it is kept as the source of the `SkillError`",
        );
        return None;
    }
    match &input.data {
        Data::Union(data) => {
            errors.at(
                data.union_token,
                "`SkillFailure` must be derived for an enum or a struct",
            );
            None
        }
        Data::Struct(_) => {
            let mut failure = read(&input.attrs, true, errors);
            needs_code(&failure, &input.ident, "", errors);
            let sdk = failure.sdk.take();
            Some((vec![(quote!(_), failure)], sdk))
        }
        Data::Enum(data) => {
            let whole = read(&input.attrs, true, errors);
            if let Some(code) = &whole.code {
                errors.at(
                    code,
                    "the code must be on a variant; put `#[failure(code = …)]` on each variant of the enum",
                );
            }
            let mut kinds = Vec::new();
            let whole_ident = &input.ident;
            for variant in &data.variants {
                let failure = read(&variant.attrs, false, errors);
                needs_code(&failure, &variant.ident, "variant ", errors);
                let ident = &variant.ident;
                let rest = match variant.fields {
                    Fields::Named(_) => quote!({ .. }),
                    Fields::Unnamed(_) => quote!((..)),
                    Fields::Unit => TokenStream::new(),
                };
                kinds.push((quote!(#whole_ident::#ident #rest), failure));
            }
            Some((kinds, whole.sdk))
        }
    }
}

fn needs_code(failure: &Failure, ident: &Ident, what: &str, errors: &mut Errors) {
    if !failure.coded {
        let message = format!(
            "{what}`{ident}` needs a code: write `#[failure(code = \"{}\")]`, and `retryable` in it if a retry may help",
            snake(&ident.unraw().to_string()),
        );
        errors.at(ident, message);
    }
}

/// `GitUnavailable` as `git_unavailable`, `HTTPError` as `http_error`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut before = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        // A word begins with a capital, and a word in capitals ends where the next one begins.
        let begins = letter.is_uppercase()
            && (before.is_some_and(|before: char| !before.is_uppercase())
                || letters.peek().is_some_and(|next| next.is_lowercase()));
        if begins && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
        before = Some(letter);
    }
    snake.trim_start_matches('_').to_owned()
}

/// Reads all `#[failure(…)]` of a type or of a variant.
fn read(attributes: &[Attribute], on_type: bool, errors: &mut Errors) -> Failure {
    let mut failure = Failure::default();
    let mut seen: Vec<String> = Vec::new();
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("failure"))
    {
        let outcome = attribute.parse_nested_meta(|meta| {
            let name = meta.path.to_token_stream().to_string();
            if seen.contains(&name) {
                errors.at(&meta.path, format!("`{name}` is given twice"));
                failure.part(&name, &meta, on_type, &mut Errors::default())
            } else {
                seen.push(name.clone());
                failure.part(&name, &meta, on_type, errors)
            }
        });
        if let Err(error) = outcome {
            errors.add(error);
        }
    }
    if let [Some(retryable), Some(_)] =
        ["retryable", "terminal"].map(|word| seen.iter().find(|seen| *seen == word))
    {
        let message = format!(
            "`{retryable}` and `terminal` cannot both be set: either a retry may help, or it will not"
        );
        errors.at_span(place(attributes), message);
    }
    failure
}

fn place(attributes: &[Attribute]) -> Span {
    let attribute = attributes
        .iter()
        .find(|attribute| attribute.path().is_ident("failure"));
    attribute.map_or_else(Span::call_site, |attribute| {
        syn::spanned::Spanned::span(&attribute.meta)
    })
}

impl Failure {
    fn part(
        &mut self,
        name: &str,
        meta: &ParseNestedMeta<'_>,
        on_type: bool,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        match name {
            "code" => {
                self.coded = true;
                let write = "`code` must be a string; write `code = \"git_unavailable\"`";
                let value = meta
                    .value()
                    .map_err(|error| syn::Error::new(error.span(), write))?;
                let code: LitStr = value
                    .parse()
                    .map_err(|error| syn::Error::new(error.span(), write))?;
                match rules::failure_code(&code.value()) {
                    Ok(()) => self.code = Some(code),
                    Err(reason) => errors.at(&code, reason),
                }
            }
            "retryable" => self.retryable = true,
            "terminal" => {}
            "crate" if on_type => {
                let write = "`crate` must be a path without quotes; write `crate = ::my_sdk`";
                let value = meta
                    .value()
                    .map_err(|error| syn::Error::new(error.span(), write))?;
                let path = value.call(Path::parse_mod_style);
                self.sdk = Some(path.map_err(|error| syn::Error::new(error.span(), write))?);
            }
            "crate" => {
                errors.at(
                    &meta.path,
                    "`crate` must be set only once, in `#[failure(…)]` on the type",
                );
                skip(meta)?;
            }
            _ => {
                let known = ["code", "retryable", "terminal"];
                let rest = match closest(name, known.into_iter()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("expected one of: {}", known.join(", ")),
                };
                self.coded |= closest(name, ["code"].into_iter()).is_some();
                errors.at(
                    &meta.path,
                    format!("unknown argument `{name}` in `#[failure]`; {rest}"),
                );
                skip(meta)?;
            }
        }
        Ok(())
    }
}

/// Passes over a value.
fn skip(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
        meta.input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

fn implementation(input: &DeriveInput, kinds: &[Kind], sdk: Option<&Path>) -> TokenStream {
    let sdk = expand::sdk(sdk);
    let ident = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    // Only a generic type can fail to be an error for some of its arguments.
    let bounds = if input.generics.params.is_empty() {
        bounds.to_token_stream()
    } else {
        let own = input
            .generics
            .where_clause
            .as_ref()
            .map(|clause| &clause.predicates)
            .into_iter()
            .flatten();
        quote! {
            where #(#own,)*
                #ident #arguments: ::std::error::Error + ::core::marker::Send + ::core::marker::Sync + 'static
        }
    };
    let [error, code, retryable] = ["error", "code", "retryable"].map(expand::local);
    let arms = kinds.iter().map(|(pattern, failure)| {
        let code = failure
            .code
            .as_ref()
            .map_or_else(|| "skill_error".to_owned(), LitStr::value);
        let retryable = failure.retryable;
        quote!(#pattern => (#code, #retryable),)
    });
    let body = if kinds.is_empty() {
        quote!(match #error {})
    } else {
        // Traits that the type lacks are errors at its name.
        let source = Ident::new("error", Span::mixed_site().located_at(ident.span()));
        quote! {
            let (#code, #retryable) = match &#error { #(#arms)* };
            __sdk::failure(#code, #retryable, #source)
        }
    };
    quote! {
        const _: () = {
            use #sdk::__private as __sdk;
            impl #generics ::core::convert::From<#ident #arguments> for #sdk::SkillError #bounds {
                fn from(#error: #ident #arguments) -> Self {
                    #body
                }
            }
        };
    }
}
