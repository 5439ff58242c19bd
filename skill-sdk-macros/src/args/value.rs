//! One value of `key = value`, from an expression to its type.

use std::fmt::Display;
use std::ops::RangeInclusive;

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprPath, Lit, LitStr, Path, UnOp};

use super::keys::Key;
use super::suggest::closest;
use super::words;
use super::{Chosen, CostModel, Json, Whole};
use crate::errors::Errors;
use crate::rules;

/// The expression without the invisible groups that `macro_rules!` puts around what it passes on.
pub(super) fn plain(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => plain(*group.expr),
        other => other,
    }
}

/// "write `risk = "low"`", or with another value.
fn write(key: &Key, value: impl Display) -> String {
    format!("write `{} = {value}`", key.name)
}

/// A string literal that satisfies `rule`.
pub(super) fn literal(
    key: &Key,
    value: &Expr,
    rule: impl Fn(&str) -> Result<(), String>,
    errors: &mut Errors,
) -> Option<LitStr> {
    let text = string(value)
        .map_err(|shown| {
            let shown = shown.unwrap_or_else(|| key.example.to_owned());
            errors.at(
                value,
                format!("`{}` must be a string; {}", key.name, write(key, shown)),
            );
        })
        .ok()?;
    checked(text, rule, errors)
}

fn checked(text: &LitStr, rule: impl Fn(&str) -> Result<(), String>, errors: &mut Errors) -> Option<LitStr> {
    rule(&text.value())
        .map_err(|reason| errors.at(text, reason))
        .ok()?;
    Some(text.clone())
}

/// The string literal, or the text that was probably meant as one.
pub(super) fn string(value: &Expr) -> Result<&LitStr, Option<String>> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => Ok(text),
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => Err(Some(format!("\"{number}\""))),
        Expr::Lit(ExprLit {
            lit: Lit::Float(number),
            ..
        }) => Err(Some(format!("\"{number}\""))),
        Expr::Path(path) => Err(path.path.get_ident().map(|word| format!("\"{word}\""))),
        _ => Err(None),
    }
}

/// Text for people: a literal that is not empty, or a constant or macro that the compiler reads.
pub(super) fn prose(key: &Key, value: Expr, errors: &mut Errors) -> Option<Expr> {
    if !matches!(value, Expr::Macro(_) | Expr::Path(_) | Expr::Lit(_)) {
        let message = format!(
            "`{}` must be known at compile time: a string, a constant or `include_str!(…)`; {}",
            key.name,
            write(key, key.example),
        );
        errors.at(&value, message);
        return None;
    }
    if matches!(value, Expr::Lit(_)) {
        literal(key, &value, |text| rules::filled(text, key.name), errors)?;
    }
    Some(value)
}

/// A member of a set, as a string or as a plain word.
pub(super) fn word(key: &Key, value: &Expr, errors: &mut Errors) -> Option<Chosen> {
    let all = || words::all(key.words);
    let written = match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => text.value(),
        Expr::Path(ExprPath { path, .. }) if path.get_ident().is_some() => {
            path.require_ident().ok()?.unraw().to_string()
        }
        _ => {
            errors.at(
                value,
                format!(
                    "`{}` must be one of: {}; {}",
                    key.name,
                    all(),
                    write(key, key.example)
                ),
            );
            return None;
        }
    };
    if let Some(word) = words::names(key.words).find(|word| *word == written) {
        return Some(Chosen {
            word,
            variant: Ident::new(&variant(word), value.span()),
        });
    }
    let meant = match closest(&written, words::names(key.words)) {
        Some(meant) => format!("; did you mean `{meant}`? (one of: {})", all()),
        None => format!("; expected one of: {}", all()),
    };
    errors.at(
        value,
        format!("unknown {} `{written}`{meant}", key.name.replace('_', " ")),
    );
    None
}

/// The variant of the library's enum that is the word: `ExternalRead` of `external_read`.
fn variant(word: &str) -> String {
    let mut variant = String::new();
    for part in word.split('_') {
        let mut letters = part.chars();
        variant.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        variant.push_str(letters.as_str());
    }
    variant
}

/// A whole number of `unit` in `range`.
pub(super) fn whole(
    key: &Key,
    value: &Expr,
    unit: &str,
    range: &RangeInclusive<u32>,
    errors: &mut Errors,
) -> Option<Whole> {
    let (low, high) = (range.start(), range.end());
    let verb = if key.name == "retry" { "have" } else { "be" };
    let expected = format!(
        "`{}` must {verb} a whole number of {unit} from {low} to {high}",
        key.name
    );
    let Expr::Lit(ExprLit {
        lit: Lit::Int(number),
        ..
    }) = value
    else {
        errors.at(value, format!("{expected}; {}", write(key, key.example)));
        return None;
    };
    if !number.suffix().is_empty() {
        let plain = write(key, number.base10_digits());
        errors.at(
            value,
            format!("{expected}, without `{}`; {plain}", number.suffix()),
        );
        return None;
    }
    match number.base10_parse() {
        Ok(found) if range.contains(&found) => Some(Whole {
            number: found,
            span: number.span(),
        }),
        _ => {
            errors.at(value, format!("{expected}, not {}", number.base10_digits()));
            None
        }
    }
}

/// `(attempts, backoff)`.
pub(super) fn retry(key: &Key, value: &Expr, errors: &mut Errors) -> Option<(Whole, Whole)> {
    let pair = match value {
        Expr::Tuple(pair) => pair.elems.iter().collect(),
        _ => Vec::new(),
    };
    let [attempts, backoff] = pair[..] else {
        let shown = match value {
            Expr::Lit(ExprLit {
                lit: Lit::Int(attempts),
                ..
            }) => format!("({attempts}, 0)"),
            _ => key.example.to_owned(),
        };
        let message = format!(
            "`retry` must be a pair of attempts and seconds between them; {}",
            write(key, shown)
        );
        errors.at(value, message);
        return None;
    };
    let attempts = whole(key, attempts, "attempts", &rules::ATTEMPTS, errors);
    let backoff = whole(
        key,
        backoff,
        "seconds of backoff",
        &rules::BACKOFF_SECONDS,
        errors,
    );
    attempts.zip(backoff)
}

/// A list of string literals that satisfy `rule` each.
pub(super) fn list(
    key: &Key,
    value: &Expr,
    rule: impl Fn(&str) -> Result<(), String>,
    errors: &mut Errors,
) -> Option<Vec<LitStr>> {
    let Expr::Array(array) = value else {
        let shown = string(value).map_or_else(
            |_| key.example.to_owned(),
            |text| format!("[\"{}\"]", text.value()),
        );
        errors.at(
            value,
            format!("`{}` must be a list of strings; {}", key.name, write(key, shown)),
        );
        return None;
    };
    let mut texts = Vec::new();
    for item in &array.elems {
        match string(item) {
            Ok(text) => texts.extend(checked(text, &rule, errors)),
            Err(_) => errors.at(
                item,
                format!(
                    "`{}` must contain only strings; {}",
                    key.name,
                    write(key, key.example)
                ),
            ),
        }
    }
    Some(texts)
}

/// A list of JSON values.
pub(super) fn values(key: &Key, value: Expr, errors: &mut Errors) -> Option<Vec<Expr>> {
    if let Expr::Array(array) = value {
        return Some(array.elems.into_iter().collect());
    }
    errors.at(
        &value,
        format!(
            "`{}` must be a list of JSON values; {}",
            key.name,
            write(key, key.example)
        ),
    );
    None
}

/// `(unit = "page", estimate = 0.5)`.
pub(super) fn cost_model(key: &Key, value: &Expr, errors: &mut Errors) -> Option<CostModel> {
    let parts: Vec<&Expr> = match value {
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        Expr::Paren(one) => vec![&one.expr],
        _ => {
            errors.at(
                value,
                format!(
                    "`cost_model` must have a unit and may have an estimate; {}",
                    write(key, key.example)
                ),
            );
            return None;
        }
    };
    let (mut unit, mut estimate) = (None, None);
    let mut given: Vec<&str> = Vec::new();
    let mut nameless = false;
    for part in parts {
        let Some((name, value)) = assignment(part) else {
            if !std::mem::replace(&mut nameless, true) {
                let message = format!(
                    "expected `unit = …` or `estimate = …`; {}",
                    write(key, key.example)
                );
                errors.at(part, message);
            }
            continue;
        };
        match words::names(key.words).find(|known| *known == name) {
            Some(known) if given.contains(&known) => errors.at(part, format!("`{known}` is given twice")),
            Some(known) => {
                given.push(known);
                match (known, string(value)) {
                    ("unit", Ok(text)) => {
                        unit = checked(text, |text| rules::filled(text, "unit"), errors);
                    }
                    ("unit", Err(_)) => errors.at(value, "the unit must be a string, such as `\"page\"`"),
                    _ => estimate = amount(value).map_err(|message| errors.at(value, message)).ok(),
                }
            }
            None => {
                let meant = closest(&name, words::names(key.words));
                let rest = meant.map_or_else(
                    || format!("expected one of: {}", words::all(key.words)),
                    |meant| format!("did you mean `{meant}`?"),
                );
                errors.at(part, format!("unknown part `{name}` of `cost_model`; {rest}"));
                given.extend(meant);
            }
        }
    }
    if !nameless && !given.contains(&"unit") {
        errors.at(
            value,
            format!("`cost_model` must have a unit; {}", write(key, key.example)),
        );
    }
    Some(CostModel {
        unit: unit?,
        estimate,
    })
}

/// `name = value` inside of a value.
pub(super) fn assignment(value: &Expr) -> Option<(String, &Expr)> {
    let Expr::Assign(assign) = value else { return None };
    let Expr::Path(path) = &*assign.left else {
        return None;
    };
    Some((path.path.get_ident()?.to_string(), &assign.right))
}

fn amount(value: &Expr) -> Result<f64, String> {
    let digits = match value {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) if number.suffix().is_empty() => number.base10_digits(),
        Expr::Lit(ExprLit {
            lit: Lit::Float(number),
            ..
        }) if number.suffix().is_empty() => number.base10_digits(),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            return Err("the estimate must not be negative".into());
        }
        _ => return Err("the estimate must be a number of at least 0, such as `0.5`".into()),
    };
    match digits.parse::<f64>() {
        Ok(amount) if amount.is_finite() => Ok(amount),
        _ => Err("the estimate is too large for a JSON number".into()),
    }
}

/// The path of a `.json` file, or an expression that gives a JSON value.
pub(super) fn json(key: &Key, value: Expr, errors: &mut Errors) -> Option<Json> {
    let wrong = match &value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(path), ..
        }) => {
            if std::path::Path::new(&path.value())
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                return Some(Json::File(path.clone()));
            }
            "a string must be the path of a `.json` file next to `Cargo.toml`"
        }
        Expr::Lit(_) => "a plain literal is not enough",
        _ => return Some(Json::Value(Box::new(value))),
    };
    let message = format!(
        "{wrong}; {} or an expression such as `serde_json::json!({{}})`",
        write(key, key.example)
    );
    errors.at(&value, message);
    None
}

/// A path, without quotes.
pub(super) fn path(key: &Key, value: &Expr, errors: &mut Errors) -> Option<Path> {
    if let Expr::Path(ExprPath {
        qself: None, path, ..
    }) = value
    {
        return Some(path.clone());
    }
    let quoted = string(value).ok().map(LitStr::value);
    let shown = quoted.filter(|text| Path::parse_mod_style.parse_str(text).is_ok());
    let shown = shown.unwrap_or_else(|| key.example.to_owned());
    errors.at(
        value,
        format!(
            "`{}` must be a path without quotes; {}",
            key.name,
            write(key, shown)
        ),
    );
    None
}
