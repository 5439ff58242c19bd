//! `implementation = local(…) | http(…) | mcp(…)`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Expr, LitStr};

use super::keys::Key;
use super::suggest::closest;
use super::value::{assignment, plain, string};
use super::words::{self, Word};
use crate::errors::Errors;
use crate::rules;

/// How the platform reaches a skill.
pub(crate) struct Implementation {
    protocol: &'static Word,
    /// The entrypoint of `local`, the endpoint of `http` and `mcp`.
    address: Option<LitStr>,
    tool: Option<LitStr>,
    audience: Option<LitStr>,
    scopes: Vec<LitStr>,
}

type Rule = fn(&str) -> Result<(), String>;

pub(super) fn read(key: &Key, value: &Expr, errors: &mut Errors) -> Option<Implementation> {
    let shown = format!("write `{} = {}`", key.name, key.example);
    let none = Punctuated::new();
    let (name, parts) = match value {
        Expr::Call(call) => (&*call.func, &call.args),
        other => (other, &none),
    };
    let Expr::Path(path) = name else {
        errors.at(
            value,
            format!("`implementation` must be `local(…)`, `http(…)` or `mcp(…)`; {shown}"),
        );
        return None;
    };
    let written = path.path.to_token_stream().to_string();
    let Some(protocol) = key.words.iter().find(|protocol| protocol.name == written) else {
        let meant = match closest(&written, words::names(key.words)) {
            Some(meant) => format!("did you mean `{meant}`? (one of: {})", words::all(key.words)),
            None => format!("expected one of: {}", words::all(key.words)),
        };
        errors.at(name, format!("unknown protocol `{written}`; {meant}"));
        return None;
    };
    let mut found = Implementation {
        protocol,
        address: None,
        tool: None,
        audience: None,
        scopes: Vec::new(),
    };
    let addressed = parts.iter().any(|part| assignment(part).is_none());
    for part in parts {
        found.part(&plain(part.clone()), errors);
    }
    if protocol.name != "local" && !addressed {
        let example = if protocol.name == "mcp" {
            "mcp(\"stdio:acme\")"
        } else {
            key.example
        };
        errors.at(
            value,
            format!(
                "`{}` needs an endpoint; write `{} = {example}`",
                protocol.name, key.name
            ),
        );
    }
    if found.audience.is_none()
        && !found.scopes.is_empty()
        && !parts.iter().any(|part| named(part, "audience"))
    {
        errors.at(
            value,
            "`scopes` are asked for from an audience; add `audience = \"…\"`",
        );
    }
    Some(found)
}

fn named(part: &Expr, expected: &str) -> bool {
    assignment(part).is_some_and(|(name, _)| name == expected)
}

impl Implementation {
    /// Whether the path of the function is the entrypoint.
    pub(crate) fn is_by_path(&self) -> bool {
        self.protocol.name == "local" && self.address.is_none()
    }

    fn part(&mut self, part: &Expr, errors: &mut Errors) {
        let Some((name, value)) = assignment(part) else {
            return self.address(part, errors);
        };
        let value = plain(value.clone());
        let Word {
            name: protocol,
            parts,
            ..
        } = self.protocol;
        if !words::names(parts).any(|part| part == name) {
            let rest = match closest(&name, words::names(parts)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if parts.is_empty() => "it takes an entrypoint and nothing else".to_owned(),
                None => format!("expected one of: {}", words::all(parts)),
            };
            return errors.at(part, format!("unknown part `{name}` of `{protocol}`; {rest}"));
        }
        match name.as_str() {
            "tool" => once(&mut self.tool, &name, &value, rules::mcp_tool, errors),
            "audience" => once(&mut self.audience, &name, &value, rules::audience, errors),
            _ => self.scopes(&value, errors),
        }
    }

    fn address(&mut self, part: &Expr, errors: &mut Errors) {
        let (what, rule): (_, Rule) = match self.protocol.name {
            "local" => ("entrypoint", rules::local_entrypoint),
            "http" => ("endpoint", rules::http_endpoint),
            _ => ("endpoint", rules::mcp_endpoint),
        };
        once(&mut self.address, what, part, rule, errors);
    }

    fn scopes(&mut self, value: &Expr, errors: &mut Errors) {
        let sentence = "`scopes` must be a list of strings; write `scopes = [\"reports:read\"]`";
        let Expr::Array(array) = value else {
            return errors.at(value, sentence);
        };
        if array.elems.len() > rules::MAX_SCOPES {
            errors.at(
                array,
                format!(
                    "at most {} scopes are allowed, not {}",
                    rules::MAX_SCOPES,
                    array.elems.len()
                ),
            );
        }
        for item in &array.elems {
            if string(item).is_err() {
                errors.at(item, sentence);
                continue;
            }
            let mut scope = None;
            once(&mut scope, "scope", item, rules::scope, errors);
            self.scopes.extend(scope);
        }
    }
}

/// Stores a string that satisfies `rule`, unless there is one already.
fn once(place: &mut Option<LitStr>, name: &str, value: &Expr, rule: Rule, errors: &mut Errors) {
    let Ok(text) = string(value) else {
        return errors.at(value, format!("`{name}` must be a string"));
    };
    if place.is_some() {
        return errors.at(value, format!("`{name}` is given twice"));
    }
    match rule(&text.value()) {
        Ok(()) => *place = Some(text.clone()),
        Err(reason) => errors.at(text, reason),
    }
}

impl Implementation {
    /// What gives the implementation of the skill `name`, in a scope where `__sdk` is the private module of the library.
    pub(crate) fn expanded(&self, name: &LitStr) -> TokenStream {
        let Self {
            protocol,
            address,
            tool,
            audience,
            scopes,
        } = self;
        let empty = LitStr::new("", Span::call_site());
        let audience = audience.as_ref().unwrap_or(&empty);
        let auth = quote!(__sdk::auth(#audience, &[#(#scopes),*]));
        match (protocol.name, address) {
            ("http", _) => quote!(__sdk::http(#address, #auth)),
            ("mcp", _) => {
                let tool = tool.as_ref().unwrap_or(name);
                quote!(__sdk::Implementation::mcp(#address, #tool, #auth))
            }
            (_, Some(entrypoint)) => quote!(__sdk::Implementation::local(#entrypoint)),
            (_, None) => quote!(),
        }
    }
}

/// The expression of an optional value.
pub(crate) fn option(value: Option<impl ToTokens>) -> TokenStream {
    value.map_or_else(
        || quote!(::core::option::Option::None),
        |value| quote!(::core::option::Option::Some(#value)),
    )
}
