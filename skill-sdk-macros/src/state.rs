//! `#[state]`: a function that builds a value which all calls of a process share.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Path, Signature, Token};

use crate::attributes;
use crate::errors::Errors;
use crate::expand::{self, Run};
use crate::shape;

/// Expands `#[state(attribute)] item`.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(function) = expand::function(&item, "state", &mut errors) else {
        return [item].into_iter().chain(errors.into_tokens()).collect();
    };
    let path = path
        .parse2(attribute)
        .map_err(|error| errors.add(error))
        .ok()
        .flatten();
    shape::refuse(&function.signature, "`#[state]` function", &mut errors);
    let environment = environment(&function.signature, &mut errors);
    if function.signature.output.to_token_stream().is_empty() {
        errors.at(
            &function.signature.ident,
            "a `#[state]` function must return the shared value, or a `Result` of it",
        );
    }
    if let Some(errors) = errors.into_tokens() {
        return quote!(#function #errors);
    }
    let ident = &function.signature.ident;
    let taken = expand::local("environment");
    let (parameter, argument) = match environment {
        Environment::Unused => (quote!(_), None),
        Environment::Borrowed => (quote!(#taken), Some(quote!(&#taken))),
        Environment::Owned => (quote!(#taken), Some(quote!(#taken))),
    };
    let returned = shape::returned(&function.signature);
    let Run {
        is_async,
        body,
        converted,
    } = expand::running(
        &function,
        &expand::call(ident, argument.unwrap_or_default()),
        &returned,
    );
    let success = &returned.success;
    let work = if is_async {
        quote!(state_asynchronous::<#success>(async move { #body #converted }))
    } else {
        quote!(state_blocking::<#success>(move || { #body #converted }))
    };
    let origin = expand::origin(ident, ident.span());
    let conditions = attributes::conditions(&function.attributes);
    let deprecated = attributes::deprecated(&function.attributes);
    let sdk = expand::sdk(path.as_ref());
    quote! {
        #function

        #(#conditions)*
        #(#deprecated)*
        const _: () = {
            use #sdk::__private as __sdk;
            static __STATE: __sdk::StateDeclaration = __sdk::StateDeclaration::new(
                #origin,
                &((|#parameter| __sdk::#work) as fn(__sdk::Environment) -> __sdk::Build<_>),
            );
            __sdk::inventory::submit! { __sdk::Registration::State(&__STATE) }
        };
    }
}

/// How the function takes the environment of the host.
enum Environment {
    Unused,
    Borrowed,
    Owned,
}

fn environment(signature: &Signature, errors: &mut Errors) -> Environment {
    let mut found = Environment::Unused;
    for (position, parameter) in signature.inputs.iter().filter_map(shape::typed).enumerate() {
        match shape::named_or_borrowed(&parameter.ty, "Environment") {
            Some(by_reference) if position == 0 => {
                found = if by_reference { Environment::Borrowed } else { Environment::Owned };
            }
            _ => errors.at(
                parameter,
                "a `#[state]` function must take no parameter, or one `&Environment`: it is built before any call",
            ),
        }
    }
    found
}

/// `crate = path`, or nothing.
fn path(input: ParseStream<'_>) -> syn::Result<Option<Path>> {
    if input.is_empty() {
        return Ok(None);
    }
    let key = input.fork().call(syn::Ident::parse_any).ok();
    if key.is_none_or(|key| key.unraw() != "crate") {
        return Err(input.error("unknown argument in `#[state]`; the only one is `crate = path`"));
    }
    input.parse::<Token![crate]>()?;
    input
        .parse::<Token![=]>()
        .map_err(|error| syn::Error::new(error.span(), "write `crate = ::path`"))?;
    let path = input.call(Path::parse_mod_style).map_err(|error| {
        syn::Error::new(
            error.span(),
            "`crate` must be a path without quotes; write `crate = ::my_sdk`",
        )
    })?;
    input.parse::<Option<Token![,]>>()?;
    if !input.is_empty() {
        return Err(input.error("unknown argument in `#[state]`; the only one is `crate = path`"));
    }
    Ok(Some(path))
}
