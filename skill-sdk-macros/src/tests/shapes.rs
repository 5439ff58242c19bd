//! Which functions can be skills.

use super::{ATTRIBUTE, GOOD, accepted, refused};

#[track_caller]
fn no(item: &str, place: &str, message: &str) {
    refused(GOOD, item, &[(place, message)]);
}

#[test]
fn takes_every_supported_shape() {
    for item in [
        "fn a() {}",
        "async fn a() -> Out { Out }",
        "pub(crate) async fn a(ctx: SkillContext) -> Result<Out, E> { Ok(Out) }",
        "fn a(ctx: &skill_sdk::SkillContext, inputs: In) -> anyhow::Result<Out> { Ok(Out) }",
        "fn a(_: &SkillContext, _inputs: In) -> Job<Out> { Ok(Out) }",
        "fn a(#[inputs] In { a, .. }: In) -> (u8, &'static str) { (1, \"\") }",
        "fn a(/** City. */ city: String, #[serde(default)] #[schemars(range(min = 1))] mut r#type: Option<u8>) {}",
        "fn a(#[allow(unused)] #[cfg_attr(all(), serde(default), doc = \"x\")] a: Cow<'static, str>, ctx: &SkillContext) {}",
        "fn a(input: In) {}",
        "fn a(#[serde(rename = \"b\")] a: A, #[serde(rename = \"a\")] b: B) {}",
        "#[cfg(unix)] #[doc(hidden)] /// text\n pub fn r#type() -> Vec<u8> { vec![] }",
    ] {
        accepted(GOOD, item);
    }
}

#[test]
fn the_body_is_the_compilers_business() {
    let expansion = super::skill(GOOD, "fn a(inputs: In) { let half written }");
    assert!(
        super::errors(expansion.clone()).is_empty() && expansion.to_string().contains("half written"),
        "{expansion}"
    );
}

#[test]
fn refuses_with_a_reason() {
    no(
        "fn a(&self) {}",
        "&",
        "a skill cannot be a method: a host has no `self` to call it on; make it a function outside of `impl`",
    );
    no(
        "fn a() -> Self { x }",
        "Self",
        "a skill cannot be in an `impl`: write it as a free function, and name the type",
    );
    no(
        "const fn a() {}",
        "const",
        "a skill cannot be `const`: it runs when it is called, not when it is compiled",
    );
    no(
        "unsafe fn a() {}",
        "unsafe",
        "a skill cannot be `unsafe`: a host cannot know what would make a call of it safe",
    );
    no(
        "extern \"C\" fn a() {}",
        "extern",
        "a skill cannot be `extern`: a host calls it as a Rust function",
    );
    no(
        "fn a(a: u8, ...) {}",
        ".",
        "a skill cannot be variadic: every parameter has a name and a type",
    );
    let generic = "a skill cannot be generic: its contract has one input and one output schema";
    no("fn a<T>(inputs: T) {}", "T", generic);
    no("fn a<const N: usize>(inputs: In) {}", "const", generic);
    no(
        "fn a(inputs: In) where In: Copy {}",
        "where",
        &generic.replace("be generic", "have a `where` clause"),
    );
    no(
        "fn a<'a>(ctx: &SkillContext) {}",
        "'",
        "a skill cannot have lifetimes: use owned types, and write the context as `&SkillContext`",
    );
    no(
        "fn a(inputs: Vec<impl Copy>) {}",
        "impl",
        "a skill cannot take `impl Trait`: name the type, since the host has to make a value of it",
    );
    no(
        "fn a() -> impl Copy {}",
        "impl",
        "a skill cannot return `impl Trait`: name the type",
    );
    no(
        "fn a() -> impl Future<Output = u8> {}",
        "impl",
        "write `async fn` instead of returning a future: a skill returns its value",
    );
    no(
        "fn a(ctx: &SkillContext) -> Result<&str, E> {}",
        "&",
        "a skill cannot return something borrowed: it would not outlive the call; return an owned type",
    );
    no("fn a() -> ! {}", "!", "a skill must return: `!` never does");
}

#[test]
fn refuses_borrowed_inputs_and_names_the_owned_type() {
    for (ty, place, instead) in [
        ("&str", "&", "`String`"),
        ("&'static str", "&", "`String`"),
        ("&[u8]", "&", "`Vec<u8>`"),
        ("&std::path::Path", "&", "`PathBuf`"),
        ("&In", "&", "`In`"),
        (
            "&a::Context",
            "&",
            "`a::Context`, or `&SkillContext` for the context of the call",
        ),
        ("&(A, B)", "&", "an owned type"),
        ("Cow<'_, str>", "'", "an owned type"),
        ("Vec<&str>", "&", "an owned type"),
        ("&Map<a::Key, u8>", "&", "`Map<a::Key, u8>`"),
    ] {
        let message = format!("an input cannot be borrowed: it is parsed for this call; use {instead}");
        no(&format!("fn a(a: {ty}) {{}}"), place, &message);
        no(&format!("fn a(inputs: {ty}) {{}}"), place, &message);
    }
}

#[test]
fn refuses_parameters_that_make_no_sense() {
    no(
        "fn a(a: SkillContext, b: &SkillContext) {}",
        "b",
        "a second context: a call has one, so one parameter is enough",
    );
    no(
        "fn a(c: &mut SkillContext) {}",
        "mut",
        "the context is shared: take it as `&SkillContext` or `SkillContext`",
    );
    no(
        "fn a(c: &'static SkillContext) {}",
        "'",
        "the context lives as long as the call: write `&SkillContext`",
    );
    no(
        "fn a(#[serde(default)] c: &SkillContext) {}",
        "#",
        "the context is not a field of the input object, so this attribute has nothing to apply to",
    );
    no(
        "fn a(inputs: A, #[inputs] b: B) {}",
        "#",
        "a second `inputs`: a call has one input object",
    );
    no(
        "fn a(inputs: In, city: String) {}",
        "city",
        "`city` stands beside `inputs`, which is the whole input object: make `city` a field of `In`, or take every field as a \
         parameter of its own",
    );
    no(
        "fn a(#[inputs(x)] b: B) {}",
        "#",
        "`#[inputs]` takes no arguments",
    );
    no(
        "fn a(#[serde(default)] inputs: In) {}",
        "#",
        "`inputs` is the whole input object: put `#[serde(…)]` on its type or on a field of it",
    );
    no(
        "fn a(#[validate] a: u8) {}",
        "#",
        "unknown attribute `validate` on a parameter of a skill; it may have doc comments, `#[serde(…)]`, `#[schemars(…)]` \
         and `#[inputs]`",
    );
    for (parameters, field) in [
        ("#[serde(rename = \"to\")] from: A, to: B", "to"),
        (
            "#[serde(default, rename = \"a b\")] from: A, #[serde(rename = \"a b\")] to: B",
            "a b",
        ),
        ("from: A, #[serde(rename = \"from\")] to: B", "from"),
    ] {
        let message = format!(
            "`to` is the field `{field}` of the input object, and so is `from`: give one of them another name"
        );
        no(&format!("fn a({parameters}) {{}}"), "to", &message);
    }
    let nameless = "a parameter without a name cannot be a field of the input object; name it, or put `#[inputs]` on it when \
                    it is the whole object";
    for (pattern, place) in [
        ("_", "_"),
        ("In { a }", "In"),
        ("(a, b)", "(a, b)"),
        ("ref a", "ref"),
    ] {
        no(&format!("fn a({pattern}: In) {{}}"), place, nameless);
    }
    let conditional = "a parameter of a skill cannot be behind `#[cfg]`: the contract would depend on the build; put \
                       `#[cfg]` on two versions of the function instead";
    for parameter in ["inputs: In", "a: u8", "ctx: &SkillContext"] {
        no(&format!("fn a(#[cfg(unix)] {parameter}) {{}}"), "#", conditional);
    }
    no("fn a(#[cfg_attr(all(), cfg(unix))] a: u8) {}", "#", conditional);
}

#[test]
fn refuses_a_name_that_is_no_entrypoint() {
    no(
        "fn кот() {}",
        "кот",
        "`кот` cannot be the entrypoint of a skill, which starts with one of `A-Z a-z _`: rename the function, or add \
         `implementation = local(\"module.path:function\")`",
    );
    accepted(GOOD, "fn a_кот() {}");
    for implementation in ["local(\"a:cat\")", "http(\"https://x\")", "mcp(\"stdio:a\")"] {
        accepted(
            &format!("{GOOD}, implementation = {implementation}"),
            "fn кот() {}",
        );
    }
}

#[test]
fn belongs_on_functions_with_a_body() {
    for (item, on) in [
        ("struct S { f: fn () }", "a function"),
        ("fn a();", "a function with a body"),
        ("const X: fn () = a;", "a function"),
    ] {
        no(
            item,
            ATTRIBUTE,
            &format!("`#[skill]` belongs on {on}: that is what a host runs"),
        );
    }
}
