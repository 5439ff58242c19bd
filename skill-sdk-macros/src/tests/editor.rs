//! Unfinished code in an editor: the function stays, nothing panics, every word leads to its documentation.

use std::fmt::Write;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use super::snapshots::compare;
use super::{FUNCTION, skill, tokens};
use crate::args::keys::{KEYS, Key};
use crate::args::words::Words;
use crate::ide;

/// Every argument, and every kind of value.
const EVERYTHING: &str = r#""git.merge", version = "2", side_effects = external_write, risk = medium, idempotency = "natural",
    timeout = 300, retry = (3, 30), permissions = ["a.b"], preconditions = ["x", json!({})], cost_model = (unit = "page",
    estimate = 0.5), implementation = mcp("stdio:acme", tool = "t", audience = "a", scopes = ["s"]), inputs_schema = json!({}),
    title = "T", crate = crate::sdk"#;

/// What rust-analyzer puts where the cursor is.
const CURSOR: &str = "intellijRulezz";

/// Every beginning of the tokens, inside of groups too; a group that is begun is closed, as an editor does.
fn beginnings(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut beginnings = vec![TokenStream::new()];
    let mut before = TokenStream::new();
    for token in tokens.clone() {
        if let TokenTree::Group(group) = &token {
            let inside = beginnings_of(group);
            beginnings.extend(inside.into_iter().map(|group| with(&before, group)));
        }
        before = with(&before, token);
        beginnings.push(before.clone());
    }
    beginnings
}

fn beginnings_of(group: &Group) -> Vec<TokenTree> {
    let close = |tokens| Group::new(group.delimiter(), tokens).into();
    beginnings(&group.stream()).into_iter().map(close).collect()
}

fn with(before: &TokenStream, token: impl Into<TokenTree>) -> TokenStream {
    let mut all = before.clone();
    all.extend([token.into()]);
    all
}

/// All but one of the tokens, for each of them.
fn gaps(tokens: &TokenStream) -> Vec<TokenStream> {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let without = |gap| {
        all.iter()
            .enumerate()
            .filter(move |(at, _)| *at != gap)
            .map(|(_, token)| token.clone())
    };
    (0..all.len()).map(|gap| without(gap).collect()).collect()
}

#[track_caller]
fn keeps_the_function(attribute: &TokenStream) -> syn::File {
    let expansion = crate::expand::expand(attribute.clone(), tokens(FUNCTION));
    let file =
        syn::parse2::<syn::File>(expansion).unwrap_or_else(|error| panic!("#[skill({attribute})]: {error}"));
    let kept = file
        .items
        .iter()
        .any(|item| matches!(item, syn::Item::Fn(function) if function.sig.ident == "merge"));
    assert!(kept, "#[skill({attribute})] took the function away");
    file
}

#[test]
fn the_function_stays_at_every_key_stroke() {
    let attribute = tokens(EVERYTHING);
    let half_typed: Vec<TokenStream> = beginnings(&attribute)
        .into_iter()
        .chain(gaps(&attribute))
        .collect();
    assert!(half_typed.len() > 150, "only {}", half_typed.len());
    for typed in half_typed {
        keeps_the_function(&typed);
        for next in [
            TokenTree::from(Ident::new(CURSOR, Span::call_site())),
            proc_macro2::Punct::new('.', proc_macro2::Spacing::Alone).into(),
            proc_macro2::Punct::new(':', proc_macro2::Spacing::Joint).into(),
            proc_macro2::Punct::new('=', proc_macro2::Spacing::Alone).into(),
            proc_macro2::Punct::new(',', proc_macro2::Spacing::Alone).into(),
            Group::new(Delimiter::Parenthesis, TokenStream::new()).into(),
            Group::new(Delimiter::None, TokenStream::new()).into(),
        ] {
            keeps_the_function(&with(&typed, next));
        }
    }
}

#[test]
fn what_no_grammar_allows_keeps_the_function() {
    for attribute in [
        "",
        ",",
        ",,",
        "=",
        "= \"x\"",
        "\"a\" = \"b\"",
        "\"a\", = low",
        "\"a\", risk",
        "\"a\", risk =",
        "\"a\", risk = ,",
        "ri",
        "\"a\", ri",
        "\"a\", risk.",
        "\"a\", risk = low.",
        "\"a\", risk = low::",
        "\"a\", risk == low",
        "\"a\" risk = low",
        "'a",
        "\"a\", r#risk = low",
        "\"a\", self = 1",
        "\"a\", in",
        "\"a\", _ = 1",
        "\"a\", crate",
        "\"a\", crate =",
        "\"a\", crate = ::",
        "\"a\", crate = a::",
        "\"a\", implementation = http(",
        "\"a\", implementation = http(,)",
        "\"a\", implementation = (http)",
        "\"a\", cost_model = (",
        "\"a\", cost_model = (=)",
        "\"a\", cost_model = [unit]",
        "#",
        "{}",
        "[risk]",
        "(risk = low)",
        "..",
        "\"a\", risk = low, risk = low",
        "$",
        "@",
        "\"a\", risk => low",
        "\"a\", 'risk = low",
    ] {
        // An editor closes what is open.
        let closed = if attribute.ends_with('(') {
            format!("{attribute})")
        } else {
            attribute.to_owned()
        };
        keeps_the_function(&tokens(&closed));
    }
}

#[test]
fn a_body_is_opaque() {
    for body in [
        "let x = ;",
        "foo.",
        "x.y(",
        "match",
        "let",
        "#[",
        "\"a\" \"b\" +",
        "ctx.|",
        "fn",
    ] {
        let balanced = body.replace('(', "()").replace('[', "[]");
        let function = format!("async fn merge(inputs: MergeIn) -> MergeOut {{ {balanced} }}");
        let expansion = skill(super::GOOD, &function).to_string();
        assert!(expansion.contains(&tokens(&balanced).to_string()), "{expansion}");
        assert!(
            expansion.contains("Skill :: new") && !expansion.contains("compile_error"),
            "{expansion}"
        );
        let expansion = skill("\"a\", ris", &function).to_string();
        assert!(
            expansion.contains("async fn merge (inputs : MergeIn) -> MergeOut"),
            "{expansion}"
        );
    }
}

/// The paths that the hints of an attribute use: all keys, then all words of each value.
fn paths(attribute: &str) -> Vec<String> {
    let hints = ide::hints(&tokens(attribute)).to_string().replace(' ', "");
    let uses = hints.split("use__ide").skip(1);
    uses.map(|rest| rest.split(';').next().unwrap_or_default().replace("as_", ""))
        .collect()
}

#[test]
fn words_stand_where_they_are_completed() {
    for (attribute, expected) in [
        ("", &["::{}"][..]),
        ("\"a\"", &["::{}"]),
        ("ri", &["::{ri}"]),
        ("\"a\", ri", &["::{ri}"]),
        ("\"a\" ri", &["::{ri}"]),
        ("\"a\", risk = ", &["::{risk}", "::risk::{}"]),
        ("\"a\", risk = \"low\"", &["::{risk}"]),
        ("\"a\", risk = lo, x", &["::{risk,x}", "::risk::{lo}"]),
        ("\"a\", r#risk = low", &["::{r#risk}", "::risk::{low}"]),
        ("\"a\", title = TITLE", &["::{title}"]),
        ("\"a\", cost_model = ()", &["::{cost_model}", "::cost_model::{}"]),
        (
            "\"a\", cost_model = (un, estimate = 1)",
            &["::{cost_model}", "::cost_model::{un,estimate}"],
        ),
        (
            "\"a\", implementation = ht",
            &["::{implementation}", "::implementation::{ht}"],
        ),
        (
            "\"a\", implementation = http(\"x\", aud)",
            &[
                "::{implementation}",
                "::implementation::{http}",
                "::implementation::http::{aud}",
            ],
        ),
        ("\"a\", self = 1, crate = my::sdk, in", &["::{}"]),
    ] {
        assert_eq!(paths(attribute), expected, "{attribute}");
    }
}

#[test]
fn hints_follow_the_path_of_the_library() {
    for (attribute, expected) in [
        ("ri", "use :: skill_sdk :: __private"),
        ("ri, crate = my::sdk", "use my :: sdk :: __private"),
        ("ri, crate = my::sdk.", "use my :: sdk :: __private"),
        ("ri, crate =", "use :: skill_sdk :: __private"),
    ] {
        let hints = ide::hints(&tokens(attribute)).to_string();
        assert!(hints.contains(expected), "{attribute}: {hints}");
    }
}

/// The documentation of an argument, as lines of a doc comment.
fn documentation(key: &Key) -> Vec<String> {
    let required = if key.required { " Required." } else { "" };
    let mut lines = vec![
        format!("{}.{required}", sentence(key.docs.purpose)),
        String::new(),
    ];
    if !key.required {
        lines.extend([format!("Default: {}.", key.docs.default), String::new()]);
    }
    lines.extend([
        format!("Value: {}.", key.docs.kind),
        String::new(),
        format!("Example: `{} = {}`.", key.name, key.example),
    ]);
    lines
}

pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect()
}

fn module(depth: usize, name: &str, documentation: &[String], words: Words, text: &mut String) {
    let indent = "    ".repeat(depth);
    for line in documentation {
        writeln!(text, "{}", format!("{indent}/// {line}").trim_end()).unwrap();
    }
    if words.is_empty() {
        writeln!(text, "{indent}pub mod {name} {{}}").unwrap();
        return;
    }
    writeln!(text, "{indent}pub mod {name} {{").unwrap();
    for word in words {
        module(
            depth + 1,
            word.name,
            &[format!("{}.", sentence(word.doc))],
            word.parts,
            text,
        );
    }
    writeln!(text, "{indent}}}").unwrap();
}

#[test]
fn the_library_has_a_module_for_every_word() {
    let mut text = "//! The words of `#[skill(…)]` as modules: only rust-analyzer reads them, to complete a word and to show what it means.\n\
        //!\n\
        //! The tests of the macros write this file from their table of arguments: `UPDATE_SNAPSHOTS=1 cargo test -p\n\
        //! skill-sdk-macros`.\n\n"
        .to_owned();
    // No module can be called `crate`, and every editor knows that word.
    for key in KEYS.iter().filter(|key| key.name != "crate") {
        module(0, key.name, &documentation(key), key.words, &mut text);
    }
    compare("../../skill-sdk/src/private/ide.rs", &text);
}
