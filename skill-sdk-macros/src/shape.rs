//! Which of the supported shapes a function has, or why it has none.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericArgument, GenericParam, Ident, Pat, PatType, PathArguments, PathSegment,
    ReturnType, Safety, Signature, Type,
};

use crate::docs;
use crate::errors::Errors;
use crate::inputs::{self, Field};

/// What the function takes and gives.
pub(crate) struct Shape {
    /// One entry for each parameter, in order.
    pub(crate) parameters: Vec<Parameter>,
    /// Where the parameters come from.
    pub(crate) inputs: Inputs,
    /// The return type.
    pub(crate) returned: Returned,
}

/// What one parameter is.
pub(crate) enum Parameter {
    /// The whole input object.
    Inputs,
    /// One field of the input object.
    Field(Ident),
    /// The context: by reference, or by value. An error about its type belongs from the first place to the second.
    Context { by_reference: bool, places: [Span; 2] },
}

/// The type of the input object.
pub(crate) enum Inputs {
    /// It is the type of a parameter.
    Type(Box<Type>),
    /// It is generated, with a field for each parameter.
    Fields(Vec<Field>),
}

/// The return type.
pub(crate) struct Returned {
    /// The type as it is written.
    pub(crate) whole: TokenStream,
    /// The type of the success, if it can be seen; `_` leaves it to inference.
    pub(crate) success: TokenStream,
    /// Where an error about the type of the failure belongs.
    pub(crate) span: Span,
}

/// The shape of a skill, or `None` when a parameter makes no sense. All reasons are in `errors`.
pub(crate) fn skill(signature: &Signature, errors: &mut Errors) -> Option<Shape> {
    refuse(signature, "skill", errors);
    let mut parameters = Vec::new();
    let mut whole = None;
    let mut fields = Vec::new();
    let mut context = false;
    for parameter in signature.inputs.iter().filter_map(typed) {
        if let Some(by_reference) = context_of(parameter, errors) {
            if std::mem::replace(&mut context, true) {
                errors.at(
                    parameter,
                    "a second context: a call has one, so one parameter is enough",
                );
            }
            let ty = parameter.ty.to_token_stream().into_iter();
            let end = ty.last().map_or_else(Span::call_site, |token| token.span());
            parameters.push(Parameter::Context {
                by_reference,
                places: [parameter.ty.span(), end],
            });
            continue;
        }
        owned(&parameter.ty, errors);
        if is_inputs(parameter) {
            inputs::plain_attributes(parameter, errors);
            if whole.replace(parameter).is_some() {
                errors.at(parameter, "a second `inputs`: a call has one input object");
            }
            parameters.push(Parameter::Inputs);
        } else if let Some(field) = inputs::field(parameter, errors) {
            parameters.push(Parameter::Field(field.name.clone()));
            fields.push(field);
        }
    }
    inputs::distinct(&fields, errors);
    if let (Some(inputs), Some(field)) = (whole, fields.first()) {
        let message = format!(
            "`{0}` stands beside `inputs`, which is the whole input object: make `{0}` a field of `{1}`, or take every \
             field as a parameter of its own",
            field.name,
            shown(&inputs.ty),
        );
        errors.at(&field.name, message);
    }
    let inputs = match whole {
        Some(parameter) => Inputs::Type(parameter.ty.clone()),
        None => Inputs::Fields(fields),
    };
    (parameters.len() == signature.inputs.len()).then(|| Shape {
        parameters,
        inputs,
        returned: returned(signature),
    })
}

pub(crate) fn typed(parameter: &FnArg) -> Option<&PatType> {
    match parameter {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    }
}

/// Rejects functions that can be neither a skill nor a state.
pub(crate) fn refuse(signature: &Signature, what: &str, errors: &mut Errors) {
    if let Some(receiver) = signature.receiver() {
        errors.at(
            receiver,
            format!("a {what} cannot be a method: a host has no `self` to call it on; make it a function outside of `impl`"),
        );
    }
    if let Some(token) = signature.constness {
        errors.at(
            token,
            format!("a {what} cannot be `const`: it runs when it is called, not when it is compiled"),
        );
    }
    if let Safety::Unsafe(token) = &signature.safety {
        errors.at(
            token,
            format!("a {what} cannot be `unsafe`: a host cannot know what would make a call of it safe"),
        );
    }
    if let Some(abi) = &signature.abi {
        errors.at(
            abi,
            format!("a {what} cannot be `extern`: a host calls it as a Rust function"),
        );
    }
    if let Some(variadic) = &signature.variadic {
        errors.at(
            variadic,
            format!("a {what} cannot be variadic: every parameter has a name and a type"),
        );
    }
    generic(signature, what, errors);
    for parameter in signature.inputs.iter().filter_map(typed) {
        if let Some(token) = keyword(parameter.ty.to_token_stream(), "impl") {
            let message = format!(
                "a {what} cannot take `impl Trait`: name the type, since the host has to make a value of it"
            );
            errors.at(token, message);
        }
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        result(ty, what, errors);
    }
    if signature.receiver().is_none()
        && let Some(token) = keyword(types(signature), "Self")
    {
        errors.at(
            token,
            format!("a {what} cannot be in an `impl`: write it as a free function, and name the type"),
        );
    }
}

fn types(signature: &Signature) -> TokenStream {
    let parameters = signature
        .inputs
        .iter()
        .filter_map(typed)
        .map(|parameter| parameter.ty.to_token_stream());
    parameters.chain([signature.output.to_token_stream()]).collect()
}

fn generic(signature: &Signature, what: &str, errors: &mut Errors) {
    let reason = match what {
        "skill" => "its contract has one input and one output schema",
        _ => "it is built once, as one type",
    };
    for parameter in &signature.generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) => errors.at(
                lifetime,
                format!("a {what} cannot have lifetimes: use owned types, and write the context as `&SkillContext`"),
            ),
            other => errors.at(other, format!("a {what} cannot be generic: {reason}")),
        }
    }
    if let Some(clause) = &signature.generics.where_clause
        && signature.generics.params.is_empty()
    {
        errors.at(clause, format!("a {what} cannot have a `where` clause: {reason}"));
    }
}

/// Rejects return types that cannot outlive the call.
fn result(ty: &Type, what: &str, errors: &mut Errors) {
    if let Some(token) = keyword(ty.to_token_stream(), "impl") {
        let message = if ty.to_token_stream().to_string().contains("Future") {
            format!("write `async fn` instead of returning a future: a {what} returns its value")
        } else {
            format!("a {what} cannot return `impl Trait`: name the type")
        };
        errors.at(token, message);
    } else if let Some(token) = borrow(ty.to_token_stream()) {
        errors.at(token, format!("a {what} cannot return something borrowed: it would not outlive the call; return an owned type"));
    } else if matches!(ty, Type::Never(_)) {
        errors.at(ty, format!("a {what} must return: `!` never does"));
    }
}

/// A type as people write it.
fn shown(ty: &Type) -> String {
    let spaced = ty.to_token_stream().to_string();
    spaced
        .replace(" :: ", "::")
        .replace(" < ", "<")
        .replace(" >", ">")
        .replace(" ,", ",")
}

/// Rejects a parameter that borrows: the inputs of a call are parsed, and the function must own them.
fn owned(ty: &Type, errors: &mut Errors) {
    let Some(token) = borrow(ty.to_token_stream()).or_else(|| reference(ty)) else {
        return;
    };
    let instead = match ty {
        Type::Reference(reference) => {
            match (&*reference.elem, shown(&reference.elem)) {
                (_, name) if name == "str" => "`String`".to_owned(),
                (_, name) if name.ends_with("Path") => "`PathBuf`".to_owned(),
                (Type::Slice(slice), _) => format!("`Vec<{}>`", shown(&slice.elem)),
                // The context goes by this name in many libraries.
                (Type::Path(_), name) if name.ends_with("Context") => {
                    format!("`{name}`, or `&SkillContext` for the context of the call")
                }
                (Type::Path(_), name) => format!("`{name}`"),
                _ => "an owned type".to_owned(),
            }
        }
        _ => "an owned type".to_owned(),
    };
    errors.at(
        token,
        format!("an input cannot be borrowed: it is parsed for this call; use {instead}"),
    );
}

fn reference(ty: &Type) -> Option<TokenTree> {
    match ty {
        Type::Reference(reference) => reference.and_token.to_token_stream().into_iter().next(),
        _ => None,
    }
}

/// Whether the parameter is the context, and then whether it is taken by reference.
fn context_of(parameter: &PatType, errors: &mut Errors) -> Option<bool> {
    let by_reference = named_or_borrowed(&parameter.ty, "SkillContext")?;
    if let Type::Reference(reference) = bare(&parameter.ty) {
        if let Some(token) = &reference.mutability {
            errors.at(
                token,
                "the context is shared: take it as `&SkillContext` or `SkillContext`",
            );
        } else if reference
            .lifetime
            .as_ref()
            .is_some_and(|lifetime| lifetime.ident == "static")
        {
            errors.at(
                &reference.lifetime,
                "the context lives as long as the call: write `&SkillContext`",
            );
        }
    }
    for attribute in &parameter.attrs {
        if attribute.path().is_ident("cfg") {
            inputs::conditional(attribute, errors);
        } else if inputs::is_ours(attribute) && !docs::is_comment(attribute) {
            errors.at(
                attribute,
                "the context is not a field of the input object, so this attribute has nothing to apply to",
            );
        }
    }
    Some(by_reference)
}

/// Whether the type is `name` (`false`) or `&name` (`true`).
pub(crate) fn named_or_borrowed(ty: &Type, name: &str) -> Option<bool> {
    let is = |ty: &Type| last(ty).is_some_and(|segment| segment.ident == name);
    match bare(ty) {
        Type::Reference(reference) => is(&reference.elem).then_some(true),
        other => is(other).then_some(false),
    }
}

/// The type without parentheses and the invisible groups of `macro_rules!`.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

fn last(ty: &Type) -> Option<&PathSegment> {
    match bare(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

fn is_inputs(parameter: &PatType) -> bool {
    let marked = |attribute: &Attribute| attribute.path().is_ident("inputs");
    let named = match &*parameter.pat {
        // A leading underscore only says that the body does not read it yet.
        Pat::Ident(pat) => matches!(pat.ident.unraw().to_string().as_str(), "inputs" | "_inputs"),
        _ => false,
    };
    named || parameter.attrs.iter().any(marked)
}

/// The return type, and what a success of it is.
pub(crate) fn returned(signature: &Signature) -> Returned {
    let ReturnType::Type(_, ty) = &signature.output else {
        let span = signature.ident.span();
        return Returned {
            whole: quote_spanned!(span=> ()),
            success: quote_spanned!(span=> ()),
            span,
        };
    };
    let span = ty.span();
    let [success, failure] = [0, 1].map(|position| argument_of_result(ty, position));
    Returned {
        whole: ty.to_token_stream(),
        success: success.map_or_else(|| quote_spanned!(span=> _), ToTokens::to_token_stream),
        span: failure.map_or(span, Spanned::span),
    }
}

/// An argument of `Result<T, E>`. What another name stands for only the compiler knows.
fn argument_of_result(ty: &Type, position: usize) -> Option<&Type> {
    let segment = last(ty).filter(|segment| segment.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.get(position)? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}

/// The first use of a keyword, at any depth.
fn keyword(tokens: TokenStream, word: &str) -> Option<TokenTree> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => keyword(group.stream(), word),
        TokenTree::Ident(ident) if ident == word => Some(TokenTree::Ident(ident)),
        _ => None,
    })
}

/// The first `&` or lifetime that is not `'static`, at any depth.
fn borrow(tokens: TokenStream) -> Option<TokenTree> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match &token {
            TokenTree::Group(group) => borrow(group.stream()),
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                let named = tokens.next().is_some_and(|name| name.to_string() != "static");
                named.then_some(token)
            }
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                let lifetime =
                    matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '\'');
                (!lifetime).then_some(token)
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}
