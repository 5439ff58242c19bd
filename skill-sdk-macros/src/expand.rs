//! The one expansion of `#[skill]`: types and glue; everything else is done by the library.
//!
//! All generated items are in a `const _`, where `__sdk` is the private module of the library. Tokens that the user did not
//! write carry the span of the attribute's expansion, so that lints of the user's crate do not apply to them.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Path};

use crate::args::implementation::{Implementation, option};
use crate::args::{Args, Chosen, CostModel, Json, Whole, parse};
use crate::attributes;
use crate::docs;
use crate::errors::Errors;
use crate::ide;
use crate::inputs;
use crate::item::Function;
use crate::manifest;
use crate::rules;
use crate::shape::{self, Inputs, Parameter, Shape};

/// Expands `#[skill(attribute)] item`.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(function) = function(&item, "skill", &mut errors) else {
        return [Some(item), errors.into_tokens()].into_iter().flatten().collect();
    };
    // In an `impl` or a trait an item beside the function would be one more error.
    let hints = (!names_self(function.signature.to_token_stream())).then(|| ide::hints(&attribute));
    let args = parse::parse(attribute, &mut errors);
    let shape = shape::skill(&function.signature, &mut errors);
    entrypoint(&args, &function.signature.ident, &mut errors);
    if let (Some(Inputs::Fields(fields)), None) =
        (shape.as_ref().map(|shape| &shape.inputs), &args.inputs_schema)
    {
        inputs::described(fields, &mut errors);
    }
    let kept = function.stripped();
    let generated = match (errors.into_tokens(), shape) {
        (None, Some(shape)) => glue(&args, &function, &shape, hints.as_ref()),
        (errors, _) => {
            // An editor takes the first token that a word became: the hints come before an error that points at it.
            // `cfg(rust_analyzer)` inside is not known to the user's cargo.
            let hints = hints.map(|hints| quote!(#[allow(unexpected_cfgs)] const _: () = { #hints };));
            Some(quote!(#hints #errors))
        }
    };
    // A skill owns its inputs even where its body only reads them.
    let by_value = function.signature.asyncness.is_none() && !function.signature.inputs.is_empty();
    let allowed = by_value.then(|| quote!(#[allow(clippy::needless_pass_by_value)]));
    quote!(#allowed #kept #generated)
}

/// Whether a signature names `self` or `Self`, so that it is in an `impl` or a trait.
fn names_self(signature: TokenStream) -> bool {
    signature.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "self" || ident == "Self",
        TokenTree::Group(group) => names_self(group.stream()),
        _ => false,
    })
}

/// The function under the attribute, or an error that says what is there instead.
pub(crate) fn function(item: &TokenStream, what: &str, errors: &mut Errors) -> Option<Function> {
    match syn::parse2::<Function>(item.clone()) {
        Ok(function) => Some(function),
        Err(error) => {
            let reason = match error.to_string() {
                text if text.starts_with("it has no body") => "a function with a body",
                _ => "a function",
            };
            errors.at_span(
                Span::call_site(),
                format!("`#[{what}]` belongs on {reason}: that is what a host runs"),
            );
            None
        }
    }
}

/// The function's own path is the entrypoint unless the attribute says otherwise. Rust allows more names than a contract.
fn entrypoint(args: &Args, function: &Ident, errors: &mut Errors) {
    let by_path = args
        .implementation
        .as_ref()
        .is_none_or(Implementation::is_by_path);
    let name = function.unraw();
    if by_path && rules::local_entrypoint(&format!("crate:{name}")).is_err() {
        let message = format!(
            "`{name}` cannot be the entrypoint of a skill, which starts with one of `A-Z a-z _`: rename the function, or add \
             `implementation = local(\"module.path:function\")`",
        );
        errors.at(function, message);
    }
}

/// Everything beside the function, unless an argument is missing, which has been reported.
fn glue(args: &Args, function: &Function, shape: &Shape, hints: Option<&TokenStream>) -> Option<TokenStream> {
    let (name, version) = (args.name.as_ref()?, args.version.as_ref()?);
    let declaration = declaration(args, function)?;
    let handler = handler(args, function, shape);
    let conditions = attributes::conditions(&function.attributes);
    let hidden = attributes::hidden(&function.attributes);
    let deprecated = attributes::deprecated(&function.attributes);
    let sdk = sdk(args.sdk.as_ref());
    let ident = foreign(&function.signature.ident);
    let visibility = foreign_tokens(function.visibility.to_token_stream());
    let structure = match &shape.inputs {
        Inputs::Type(_) => None,
        Inputs::Fields(fields) => Some(inputs::structure(fields, args.inputs_schema.is_none())),
    };
    let about = format!(
        "The skill `{}@{}`; `SKILL` is its handle.",
        name.value(),
        version.value()
    );
    let about_handle = format!(" The handle of the skill `{}@{}`.", name.value(), version.value());
    // The type reaches over the whole function: the compiler suggests no replacement for a misspelt type inside of it.
    let mut no_variants = Group::new(Delimiter::Brace, TokenStream::new());
    no_variants.set_span(Span::call_site().located_at(function.end()));
    Some(quote! {
        #(#conditions)*
        #(#hidden)*
        #[doc = #about]
        #visibility enum #ident #no_variants

        #(#conditions)*
        #(#deprecated)*
        // The hints are behind `cfg(rust_analyzer)`, which the user's cargo does not know.
        #[allow(unexpected_cfgs)]
        const _: () = {
            #hints
            use #sdk::__private as __sdk;
            #structure
            static __SKILL: __sdk::Skill = __sdk::Skill::new(&#declaration, &#handler);
            impl #ident {
                #[doc = #about_handle]
                pub const SKILL: &'static __sdk::Skill = &__SKILL;
            }
            __sdk::inventory::submit! { __sdk::Registration::Skill(&__SKILL) }
        };
    })
}

/// The path of the library.
pub(crate) fn sdk(given: Option<&Path>) -> TokenStream {
    given.map_or_else(
        || {
            let renamed = manifest::renamed();
            renamed.map_or_else(|| quote!(::skill_sdk), |name| quote!(::#name))
        },
        ToTokens::to_token_stream,
    )
}

/// The same name at the same place, but as something that the macro wrote: lints leave it alone.
pub(crate) fn foreign(ident: &Ident) -> Ident {
    let span = Span::call_site().located_at(ident.span());
    // What the macro writes is of the macro's edition, where this is a keyword; the user's may be older.
    if ident == "gen" {
        return Ident::new_raw("gen", span);
    }
    let mut ident = ident.clone();
    ident.set_span(span);
    ident
}

fn foreign_tokens(tokens: TokenStream) -> TokenStream {
    let respan = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), foreign_tokens(group.stream())).into();
        }
        token.set_span(Span::call_site().located_at(token.span()));
        token
    };
    tokens.into_iter().map(respan).collect()
}

/// Where a function is declared, as the place of `span`.
pub(crate) fn origin(function: &Ident, span: Span) -> TokenStream {
    let function = function.unraw().to_string();
    // The compiler counts lines and columns from where these macros are written.
    let place =
        quote_spanned!(span=> file: ::core::file!(), line: ::core::line!(), column: ::core::column!(),);
    quote! {
        __sdk::Origin {
            package: ::core::env!("CARGO_PKG_NAME"),
            package_version: ::core::env!("CARGO_PKG_VERSION"),
            module: ::core::module_path!(),
            function: #function,
            #place
        }
    }
}

/// The declaration: what is required, and a field for each thing that was given.
fn declaration(args: &Args, function: &Function) -> Option<TokenStream> {
    let (name, version) = (args.name.as_ref()?, args.version.as_ref()?);
    let (effects, risk) = (&args.side_effects.as_ref()?.variant, &args.risk.as_ref()?.variant);
    let origin = origin(&function.signature.ident, name.span());
    let mut fields = Vec::new();
    let mut field = |name: &str, value: Option<TokenStream>| {
        let name = format_ident!("{name}");
        fields.extend(value.map(|value| quote!(#name: #value)));
    };
    let lines = docs::lines(&function.attributes);
    field(
        "idempotency",
        args.idempotency
            .as_ref()
            .map(|Chosen { variant, .. }| quote!(__sdk::Idempotency::#variant)),
    );
    field(
        "timeout",
        args.timeout.map(|seconds| number(seconds).into_token_stream()),
    );
    field(
        "retry",
        args.retry
            .map(|(attempts, backoff)| [attempts, backoff].map(number))
            .map(|[attempts, backoff]| {
                quote!(__sdk::RetryPolicy { max_attempts: #attempts, backoff_seconds: #backoff })
            }),
    );
    field("docs", (!lines.is_empty()).then(|| quote!(&[#(#lines),*])));
    field("description", text(args.description.as_ref()));
    field("permissions", texts(args.permissions.as_deref()));
    field("preconditions", json_list(args.preconditions.as_deref()));
    field("postconditions", json_list(args.postconditions.as_deref()));
    field(
        "cost_model",
        args.cost_model.as_ref().map(|CostModel { unit, estimate }| {
            let estimate = option(estimate.map(Literal::f64_unsuffixed));
            some(quote!((#unit, #estimate)))
        }),
    );
    let implementation = args
        .implementation
        .as_ref()
        .map(|implementation| implementation.expanded(name));
    let implementation = implementation.filter(|expanded| !expanded.is_empty());
    field(
        "implementation",
        implementation.map(|expanded| some(quote!(|| #expanded))),
    );
    field("inputs_schema", args.inputs_schema.as_ref().map(json));
    field("outputs_schema", args.outputs_schema.as_ref().map(json));
    field("examples", args.examples.as_ref().map(json));
    field("title", text(args.title.as_ref()));
    field("tags", texts(args.tags.as_deref()));
    field("secrets", texts(args.secrets.as_deref()));
    field("config", texts(args.config.as_deref()));
    field("allowed_hosts", texts(args.allowed_hosts.as_deref()));
    field("deprecated", text(args.deprecated.as_ref()));
    Some(quote! {
        __sdk::Declaration {
            #(#fields,)*
            ..__sdk::Declaration::new(#name, #version, __sdk::SideEffects::#effects, __sdk::Risk::#risk, #origin)
        }
    })
}

fn number(whole: Whole) -> Literal {
    let mut literal = Literal::u32_unsuffixed(whole.number);
    literal.set_span(whole.span);
    literal
}

fn text(value: Option<&Expr>) -> Option<TokenStream> {
    value.map(ToTokens::to_token_stream)
}

fn some(value: impl ToTokens) -> TokenStream {
    option(Some(value))
}

fn texts(values: Option<&[LitStr]>) -> Option<TokenStream> {
    values.map(|values| quote!(&[#(#values),*]))
}

fn json_list(values: Option<&[Expr]>) -> Option<TokenStream> {
    values.map(|values| quote!(|| ::std::vec![#(__sdk::json_value(#values)),*]))
}

/// A closure that gives a JSON value, or the reason why it is not JSON.
fn json(value: &Json) -> TokenStream {
    match value {
        Json::File(path) => {
            let read = quote_spanned! {path.span()=>
                ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", #path))
            };
            some(quote!(|| __sdk::json_text(#read)))
        }
        Json::Value(value) => some(quote!(|| ::core::result::Result::Ok(__sdk::json_value(#value)))),
    }
}

/// The function as a handler: one generic call whose bounds are the library's own traits.
fn handler(args: &Args, function: &Function, shape: &Shape) -> TokenStream {
    let ident = &function.signature.ident;
    let (inputs, context, write) = (local("inputs"), local("context"), local("write"));
    // A type is named once: each mention of a wrong one would be an error of its own.
    let (input, taken_as) = match &shape.inputs {
        Inputs::Type(ty) => (ty.to_token_stream(), ty.to_token_stream()),
        Inputs::Fields(fields) => (quote!(_), inputs::checked(fields, args.inputs_schema.is_none())),
    };
    let arguments = shape.parameters.iter().map(|parameter| match parameter {
        Parameter::Inputs => quote!(#inputs),
        Parameter::Field(name) => quote!(#inputs.#name),
        Parameter::Context {
            by_reference,
            places: [start, end],
        } => {
            let context = Ident::new("context", Span::mixed_site().located_at(*end));
            let start = Span::mixed_site().located_at(*start);
            let borrow = by_reference.then(|| quote_spanned!(start=> &));
            quote!(#borrow #context)
        }
    });
    let call = call(ident, quote!(#(#arguments),*));
    let success = &shape.returned.success;
    let [input_side, output_side] = [&args.inputs_schema, &args.outputs_schema].map(|schema| {
        let side = if schema.is_some() { "Explicit" } else { "Derived" };
        format_ident!("{side}")
    });
    // A parameter of the closure that the call does not use is `_`.
    let is_context = |parameter: &Parameter| matches!(parameter, Parameter::Context { .. });
    let or_unused = |name: Ident, used: bool| if used { name.into_token_stream() } else { quote!(_) };
    let taken = or_unused(inputs.clone(), !shape.parameters.iter().all(is_context));
    let context = or_unused(context.clone(), shape.parameters.iter().any(is_context));
    let Run {
        is_async,
        body,
        converted,
    } = running(function, &call, &shape.returned);
    let run = if is_async {
        quote!(__sdk::asynchronous(::std::boxed::Box::new(async move { #body #write(#converted) })))
    } else {
        quote!(__sdk::blocking(::std::boxed::Box::new(move || { #body #write(#converted) })))
    };
    // The compiler says at the whole call that an input borrows, so the call stands where its type does.
    let place = match &shape.inputs {
        Inputs::Type(ty) => Span::call_site().located_at(ty.span()),
        Inputs::Fields(_) => Span::call_site(),
    };
    let constructor = Ident::new("handler", place);
    let mut handler = Group::new(
        Delimiter::Parenthesis,
        quote!(|#taken: #taken_as, #context: __sdk::SkillContext, #write: __sdk::Write<_>| #run),
    );
    handler.set_span(place);
    quote_spanned! {place=>
        __sdk::#constructor::<#input, #success, __sdk::#input_side, __sdk::#output_side> #handler
    }
}

/// The call of the user's function, all of it at the function's name: an error about it points there.
pub(crate) fn call(ident: &Ident, arguments: TokenStream) -> TokenStream {
    let mut parentheses = Group::new(Delimiter::Parenthesis, arguments);
    parentheses.set_span(Span::call_site().located_at(ident.span()));
    let ident = foreign(ident);
    quote!(#ident #parentheses)
}

/// A call of the user's function.
pub(crate) struct Run {
    /// Whether `body` awaits.
    pub(crate) is_async: bool,
    /// Statements that make the call.
    pub(crate) body: TokenStream,
    /// Its result, brought into one form.
    pub(crate) converted: TokenStream,
}

/// How a call is made and its result brought into one form.
pub(crate) fn running(function: &Function, call: &TokenStream, returned: &shape::Returned) -> Run {
    let whole = &returned.whole;
    let value = local("returned");
    // A return type that cannot be converted is an error at this argument.
    let argument = Ident::new("returned", Span::mixed_site().located_at(returned.span));
    let is_async = function.signature.asyncness.is_some();
    let call = if is_async {
        // A future that is not `Send` is an error at the function's name. The whole expression has that span: the compiler
        // checks its parts and the whole, and says the same about one place only once.
        let place = Span::call_site().located_at(function.signature.ident.span());
        let mut argument = Group::new(Delimiter::Parenthesis, call.clone());
        argument.set_span(place);
        let sent = quote_spanned!(place=> __sdk::SendFuture #argument);
        quote!(#sent.0.await)
    } else {
        call.clone()
    };
    Run {
        is_async,
        body: quote! {
            use __sdk::returns::prelude::*;
            let #value: #whole = #call;
        },
        converted: quote!((&&&&&__sdk::ReturnOf::<#whole>::NEW).return_kind().convert(#argument)),
    }
}

/// A variable that no name of the user can mean.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
