//! A function whose signature is parsed and whose body is not.
//!
//! The body stays the tokens that the user is typing: the compiler reports what is wrong in it, and an editor keeps
//! working while it is half written.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Signature, Token, Visibility, token};

/// A function with an opaque body.
#[derive(Clone)]
pub(crate) struct Function {
    /// Attributes above the function, doc comments included.
    pub(crate) attributes: Vec<Attribute>,
    /// `pub` and the like.
    pub(crate) visibility: Visibility,
    /// Everything from `async` to the return type.
    pub(crate) signature: Signature,
    /// The braces and what is between them.
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let starts: [fn(ParseStream<'_>) -> bool; 5] = [
            |input| input.peek(Token![fn]),
            |input| input.peek(Token![async]),
            |input| input.peek(Token![const]) && !input.peek2(syn::Ident),
            |input| input.peek(Token![unsafe]),
            |input| input.peek(Token![extern]) && !input.peek2(Token![crate]),
        ];
        if !starts.iter().any(|start| start(input)) {
            return Err(input.error("not a function"));
        }
        let signature = input.parse()?;
        if !input.peek(token::Brace) {
            return Err(input.error("it has no body"));
        }
        Ok(Self {
            attributes,
            visibility,
            signature,
            body: input.parse()?,
        })
    }
}

impl Function {
    /// The function as the compiler may see it: without the attributes of parameters that only the macro understands.
    pub(crate) fn stripped(&self) -> Self {
        let mut function = self.clone();
        for parameter in &mut function.signature.inputs {
            let attributes = match parameter {
                FnArg::Receiver(receiver) => &mut receiver.attrs,
                FnArg::Typed(typed) => &mut typed.attrs,
            };
            attributes.retain(|attribute| !crate::inputs::is_ours(attribute));
        }
        function
    }

    /// The place of the body.
    pub(crate) fn end(&self) -> Span {
        self.body.span()
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attributes);
        self.visibility.to_tokens(tokens);
        self.signature.to_tokens(tokens);
        self.body.to_tokens(tokens);
    }
}
