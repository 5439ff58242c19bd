//! The input type of a skill that takes the fields of its input object as parameters.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, MetaNameValue, Pat, PatType, Type};

use crate::errors::Errors;
use crate::{attributes, docs, field_words};

/// One parameter as a field.
pub(crate) struct Field {
    /// The name of the parameter.
    pub(crate) name: Ident,
    /// Doc comments, `#[serde(…)]` and `#[schemars(…)]`.
    attributes: Vec<Attribute>,
    ty: Box<Type>,
}

/// Whether the attribute of a parameter is for the macro, not for the compiler.
pub(crate) fn is_ours(attribute: &Attribute) -> bool {
    let ours = ["doc", "serde", "schemars", "inputs"];
    let known = |meta: &Meta| ours.iter().any(|name| meta.path().is_ident(name));
    known(&attribute.meta) || attributes::inside(attribute).iter().any(known)
}

/// Rejects `#[cfg]` on a parameter.
pub(crate) fn conditional(attribute: &Attribute, errors: &mut Errors) {
    errors.at(
        attribute,
        "a parameter of a skill cannot be behind `#[cfg]`: the contract would depend on the build; put `#[cfg]` on two \
         versions of the function instead",
    );
}

/// Checks the attributes of a parameter that is the whole input object.
pub(crate) fn plain_attributes(parameter: &PatType, errors: &mut Errors) {
    for attribute in &parameter.attrs {
        if attribute.path().is_ident("cfg") {
            conditional(attribute, errors);
        } else if attribute.path().is_ident("inputs") {
            if !matches!(attribute.meta, Meta::Path(_)) {
                errors.at(attribute, "`#[inputs]` takes no arguments");
            }
        } else if is_ours(attribute) && !docs::is_comment(attribute) {
            let name = attribute.path().to_token_stream();
            errors.at(
                attribute,
                format!(
                    "`inputs` is the whole input object: put `#[{name}(…)]` on its type or on a field of it"
                ),
            );
        }
    }
}

/// The parameter as a field, or `None` when it has no name. Reasons go to `errors`.
pub(crate) fn field(parameter: &PatType, errors: &mut Errors) -> Option<Field> {
    for attribute in &parameter.attrs {
        let path = attribute.path();
        let lint = ["allow", "expect", "warn", "deny", "forbid"]
            .iter()
            .any(|name| path.is_ident(name));
        if path.is_ident("cfg")
            || attributes::inside(attribute)
                .iter()
                .any(|meta| meta.path().is_ident("cfg"))
        {
            conditional(attribute, errors);
        } else if !is_ours(attribute) && !lint && !path.is_ident("cfg_attr") {
            let message = format!(
                "unknown attribute `{}` on a parameter of a skill; it may have doc comments, `#[serde(…)]`, `#[schemars(…)]` \
                 and `#[inputs]`",
                path.to_token_stream(),
            );
            errors.at(attribute, message);
        }
        field_words::check(&attribute.meta, errors);
        for meta in &attributes::inside(attribute) {
            field_words::check(meta, errors);
        }
    }
    let name = match &*parameter.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
        pattern => {
            let message = "a parameter without a name cannot be a field of the input object; name it, or put `#[inputs]` on \
                           it when it is the whole object";
            errors.at(pattern, message);
            return None;
        }
    };
    let attributes = parameter
        .attrs
        .iter()
        .filter(|attribute| is_ours(attribute))
        .cloned()
        .collect();
    Some(Field {
        name,
        attributes,
        ty: parameter.ty.clone(),
    })
}

/// Rejects two parameters that are one field of the input object.
pub(crate) fn distinct(fields: &[Field], errors: &mut Errors) {
    let mut seen = HashMap::new();
    for field in fields {
        let name = field.renamed().unwrap_or_else(|| field.name.unraw().to_string());
        if let Some(first) = seen.insert(name.clone(), &field.name) {
            let message = format!(
                "`{}` is the field `{name}` of the input object, and so is `{first}`: give one of them another name",
                field.name,
            );
            errors.at(&field.name, message);
        }
    }
}

/// Rejects `#[serde(with = "module")]` without a schema: schemars takes the module for a type, and the
/// compiler would say so in words about code that the author never wrote. Modules are told by their small letter.
pub(crate) fn described(fields: &[Field], errors: &mut Errors) {
    for field in fields {
        let told = field.attributes.iter().any(|attribute| {
            let words = ["with", "schema_with", "skip"];
            attribute.path().is_ident("schemars") && says(attribute.meta.to_token_stream(), &words)
        });
        let Some(module) = field.serde("with").filter(|_| !told) else {
            continue;
        };
        let path = module.value().replace(' ', "");
        let name = path.rsplit("::").next().unwrap_or_default();
        if name.starts_with(char::is_lowercase) {
            let message = format!(
                "`{path}` is a module that has no schema: add `#[schemars(with = \"…\")]` with the type that the value has \
                 in JSON, such as `i64` or `String`",
            );
            errors.at(module, message);
        }
    }
}

/// Names the generated type in the handler: through the type of each field, so that one that cannot be an input is an
/// error at its parameter, in the words of skills, and nothing else is. The library says how.
pub(crate) fn checked(fields: &[Field], derived: bool) -> TokenStream {
    let kind = format_ident!("{}", if derived { "SkillField" } else { "SkillValue" });
    let mut inputs = name().into_token_stream();
    for Field { ty, .. } in fields.iter().filter(|field| field.bounded()) {
        let place = Span::call_site().located_at(ty.span());
        inputs = quote_spanned!(place=> <#ty as __sdk::#kind<_>>::Of<#inputs>);
    }
    inputs
}

/// What the derives need of the fields, as assumptions. The `for` lets the compiler take them on trust.
fn assumptions(fields: &[Field], derived: bool) -> Option<TokenStream> {
    let bounds = format_ident!("{}", if derived { "FieldBounds" } else { "ValueBounds" });
    let bounded = fields.iter().filter(|field| field.bounded());
    let types: Vec<_> = bounded.map(|field| &field.ty).collect();
    (!types.is_empty()).then(|| quote!(where #(for<'a> #types: __sdk::#bounds),*))
}

/// The type with these fields, called `__Inputs`. Without `derived` its schema is given in the attribute.
pub(crate) fn structure(fields: &[Field], derived: bool) -> TokenStream {
    // serde cannot tell what is unknown when a field takes the rest.
    let rest = fields.iter().any(|field| field.says(&["flatten"]));
    let strict = (!rest).then(|| quote!(, deny_unknown_fields));
    let assumptions = assumptions(fields, derived);
    let schema = derived.then(|| quote!(, __sdk::schemars::JsonSchema));
    let schema_crate = derived.then(|| quote!(#[schemars(crate = "__sdk::schemars")]));
    // The code that schemars derives takes these from the prelude, which a crate may do without.
    let prelude = derived.then(|| match fields {
        [] => quote!(
            use ::core::convert::Into as _;
        ),
        _ => quote!(
            use ::core::{convert::Into as _, default::Default as _, option::Option::Some};
        ),
    });
    let fields = fields.iter().map(|field| {
        let Field { name, attributes, ty } = field;
        if derived {
            return quote!(#(#attributes)* #name: #ty);
        }
        let kept = attributes::without(attributes, "schemars");
        quote!(#(#kept)* #name: #ty)
    });
    let name = name();
    quote! {
        #prelude
        #[derive(__sdk::serde::Deserialize #schema)]
        #[serde(crate = "__sdk::serde" #strict)]
        #schema_crate
        struct #name #assumptions { #(#fields,)* }
    }
}

/// The name of the generated type: no type of a parameter may be called like it.
pub(crate) fn name() -> Ident {
    format_ident!("__Inputs")
}

impl Field {
    /// Whether the derives need the traits of its type, which these words make unnecessary.
    fn bounded(&self) -> bool {
        !self.says(&[
            "with",
            "schema_with",
            "deserialize_with",
            "skip",
            "skip_deserializing",
        ])
    }

    /// The name that `#[serde(rename = "…")]` gives the field.
    fn renamed(&self) -> Option<String> {
        self.serde("rename").map(|name| name.value())
    }

    /// The text of `#[serde(word = "…")]`.
    fn serde(&self, word: &str) -> Option<LitStr> {
        let serde = self
            .attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("serde"));
        serde.flat_map(field_words::of).find_map(|part| match part {
            Meta::NameValue(MetaNameValue {
                path,
                value: Expr::Lit(ExprLit {
                    lit: Lit::Str(text), ..
                }),
                ..
            }) if path.is_ident(word) => Some(text),
            _ => None,
        })
    }

    /// Whether one of `words` is said about the field in `#[serde(…)]` or `#[schemars(…)]`.
    fn says(&self, words: &[&str]) -> bool {
        let said = |attribute: &&Attribute| !docs::is_comment(attribute);
        let metas = self
            .attributes
            .iter()
            .filter(said)
            .map(|attribute| attribute.meta.to_token_stream());
        metas.into_iter().any(|tokens| says(tokens, words))
    }
}

/// Whether one of `words` is in `tokens`, at any depth, as a word and not in a string.
fn says(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => says(group.stream(), words),
        TokenTree::Ident(ident) => words.iter().any(|word| ident == word),
        _ => false,
    })
}
