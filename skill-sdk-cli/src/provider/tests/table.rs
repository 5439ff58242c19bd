//! The table: for every rule a tool that breaks it, where, and one that keeps it.

use serde_json::{Value, json};

use super::cases::{Case, Tool, empty, field, fields, with, without};

fn case(rule: &'static str, pointer: &'static str, bad: Value, good: Value) -> Case {
    tools(rule, pointer, Tool::of(bad), Tool::of(good))
}

fn tools(rule: &'static str, pointer: &'static str, bad: Tool, good: Tool) -> Case {
    Case {
        rule,
        pointer,
        bad,
        good,
    }
}

fn text() -> Value {
    json!({"type": "string"})
}

fn texts(count: usize, chars: usize) -> Value {
    let texts: Vec<_> = (0..count).map(|i| format!("{i:0chars$}")).collect();
    json!({"type": "string", "enum": texts})
}

fn nested(levels: usize) -> Value {
    (1..levels).fold(field(text()), |inner, _| field(inner))
}

fn many(count: usize, schema: &Value) -> Value {
    fields((0..count).map(|i| (format!("p{i}"), schema.clone())))
}

/// A list of itself: in a required property, or in one that may be missing.
fn tree(required: bool) -> Value {
    let children = json!({"children": {"type": "array", "items": {"$ref": "#/$defs/T"}}});
    let mut node = json!({"type": "object", "properties": children, "additionalProperties": false});
    if required {
        node["required"] = json!(["children"]);
    }
    with(field(json!({"$ref": "#/$defs/T"})), "$defs", json!({"T": node}))
}

fn referring(reference: &str) -> Value {
    with(field(json!({"$ref": reference})), "$defs", json!({"T": text()}))
}

fn described_ref() -> Value {
    with(
        field(json!({"$ref": "#/$defs/T", "description": "It."})),
        "$defs",
        json!({"T": text()}),
    )
}

pub(super) fn openai() -> Vec<Case> {
    vec![
        tools(
            "openai.name",
            "/name",
            Tool::named("git.merge"),
            Tool::named("git_merge-2"),
        ),
        tools(
            "openai.name",
            "/name",
            Tool::named(&"a".repeat(65)),
            Tool::named(&"a".repeat(64)),
        ),
        tools(
            "openai.description_length",
            "/description",
            Tool::described("ä".repeat(1025)),
            Tool::described("ä".repeat(1024)),
        ),
        case(
            "openai.root",
            "/inputs",
            with(empty(), "oneOf", json!([{"required": ["a"]}])),
            field(json!({"oneOf": [text()]})),
        ),
        case("openai.properties", "/inputs", json!({"type": "object"}), empty()),
        case(
            "openai.items",
            "/inputs/properties/v",
            field(json!({"type": ["array", "null"], "prefixItems": [text()]})),
            field(json!({"type": ["array", "null"], "items": text()})),
        ),
        case(
            "openai.pattern",
            "/inputs/properties/v",
            field(json!({"type": "string", "pattern": "^(?!admin).*$"})),
            field(json!({"type": "string", "pattern": "^(?:admin)?.*$"})),
        ),
    ]
}

pub(super) fn openai_strict() -> Vec<Case> {
    let tagged = |value: &str| field(json!({"type": "string", "enum": [value]}));
    vec![
        case(
            "openai.strict_closed",
            "/inputs/properties/v",
            field(without(field(text()), "additionalProperties")),
            field(field(text())),
        ),
        case(
            "openai.strict_required",
            "/inputs",
            without(field(text()), "required"),
            field(json!({"type": ["string", "null"]})),
        ),
        case(
            "openai.strict_type",
            "/inputs/properties/v",
            field(json!({"description": "Any JSON value."})),
            field(json!({"anyOf": [text(), {"type": "null"}]})),
        ),
        case(
            "openai.strict_keyword",
            "/inputs/properties/v",
            field(json!({"oneOf": [text()]})),
            field(json!({"type": "integer", "minimum": 0, "maximum": 255})),
        ),
        case(
            "openai.strict_format",
            "/inputs/properties/v",
            field(json!({"type": "string", "format": "uri"})),
            field(json!({"type": "string", "format": "date-time"})),
        ),
        case(
            "openai.strict_ref",
            "/inputs/properties/v",
            described_ref(),
            referring("#/$defs/T"),
        ),
        case(
            "openai.strict_first_key",
            "/inputs/properties/v",
            field(json!({"anyOf": [field(text()), field(json!({"type": "number"}))]})),
            field(json!({"anyOf": [tagged("a"), tagged("b")]})),
        ),
        case(
            "openai.strict_depth",
            "/inputs/properties/v/properties/v/properties/v/properties/v/properties/v/properties/v/properties/v/properties/v\
             /properties/v/properties/v",
            nested(12),
            nested(10),
        ),
        case(
            "openai.strict_properties",
            "/inputs",
            many(5001, &text()),
            many(5000, &text()),
        ),
        case(
            "openai.strict_enum",
            "/inputs/properties/v",
            field(texts(251, 60)),
            field(texts(250, 70)),
        ),
        case(
            "openai.strict_text",
            "/inputs",
            fields([("a".repeat(120_001), text())]),
            fields([("a".repeat(120_000), text())]),
        ),
    ]
}

pub(super) fn anthropic() -> Vec<Case> {
    vec![
        tools(
            "anthropic.name",
            "/name",
            Tool::named("git.merge"),
            Tool::named("git_merge-2"),
        ),
        tools(
            "anthropic.name",
            "/name",
            Tool::named(&"a".repeat(65)),
            Tool::named(&"a".repeat(64)),
        ),
        case(
            "anthropic.root",
            "/inputs",
            with(empty(), "anyOf", json!([{"required": ["a"]}])),
            field(json!({"anyOf": [text()]})),
        ),
        case(
            "anthropic.property_name",
            "/inputs",
            fields([("größe".to_owned(), text())]),
            fields([("dry-run.2".to_owned(), text())]),
        ),
        case(
            "anthropic.ref",
            "/inputs/properties/v",
            referring("#/$defs/Missing"),
            referring("#/%24defs/T"),
        ),
        case(
            "anthropic.integer",
            "/inputs/properties/v",
            field(json!({"type": "integer", "enum": [1, 1_u64 << 63]})),
            field(json!({"type": "integer", "enum": [1, 1_u64 << 62]})),
        ),
    ]
}

pub(super) fn anthropic_strict() -> Vec<Case> {
    let optional = |count| without(many(count, &text()), "required");
    let union = json!({"anyOf": [text(), {"type": "null"}]});
    let part = |schema: Value| with(field(json!({"allOf": [schema]})), "$defs", json!({"T": text()}));
    vec![
        case(
            "anthropic.strict_closed",
            "/inputs/properties/v",
            field(json!({"type": "object", "properties": {}})),
            field(empty()),
        ),
        case(
            "anthropic.strict_type",
            "/inputs/properties/v",
            field(json!({"description": "Any JSON value."})),
            field(json!({"enum": ["a", 1]})),
        ),
        case(
            "anthropic.strict_type_list",
            "/inputs/properties/v",
            field(json!({"type": ["string", "null"]})),
            field(union.clone()),
        ),
        case(
            "anthropic.strict_keyword",
            "/inputs/properties/v",
            field(json!({"type": "integer", "minimum": 0})),
            field(json!({"type": "string", "description": "It."})),
        ),
        case(
            "anthropic.strict_pattern",
            "/inputs/properties/v",
            field(json!({"type": "string", "pattern": "^(?=a)"})),
            field(json!({"type": "string", "pattern": "^a"})),
        ),
        case(
            "anthropic.strict_format",
            "/inputs/properties/v",
            field(json!({"type": "string", "format": "regex"})),
            field(json!({"type": "string", "format": "uri"})),
        ),
        case(
            "anthropic.strict_min_items",
            "/inputs/properties/v",
            field(json!({"type": "array", "items": text(), "minItems": 2})),
            field(json!({"type": "array", "items": text(), "minItems": 1})),
        ),
        case(
            "anthropic.strict_values",
            "/inputs/properties/v",
            field(json!({"enum": [[1], [2]]})),
            field(json!({"enum": [1, null]})),
        ),
        case(
            "anthropic.strict_ref",
            "/inputs/properties/v",
            described_ref(),
            referring("#/$defs/T"),
        ),
        case(
            "anthropic.strict_all_of_ref",
            "/inputs/properties/v/allOf/0",
            part(json!({"$ref": "#/$defs/T"})),
            part(text()),
        ),
        case(
            "anthropic.strict_recursion",
            "/inputs/$defs/T/properties/children/items",
            tree(true),
            referring("#/$defs/T"),
        ),
        case("anthropic.strict_optional", "/inputs", optional(25), optional(24)),
        case(
            "anthropic.strict_unions",
            "/inputs",
            many(17, &union),
            many(16, &union),
        ),
    ]
}

pub(super) fn gemini() -> Vec<Case> {
    vec![
        tools(
            "gemini.name",
            "/name",
            Tool::named("git merge"),
            Tool::named("git.merge:2"),
        ),
        tools(
            "gemini.name",
            "/name",
            Tool::named(&"a".repeat(129)),
            Tool::named(&"a".repeat(128)),
        ),
        case("gemini.root", "/inputs", json!({"anyOf": [empty()]}), empty()),
        case(
            "gemini.ref",
            "/inputs/properties/v",
            described_ref(),
            referring("#/$defs/T"),
        ),
        case(
            "gemini.ref_target",
            "/inputs/properties/v",
            referring("https://example.com/schema"),
            with(
                field(json!({"$ref": "#here"})),
                "$defs",
                json!({"T": {"$anchor": "here", "type": "string"}}),
            ),
        ),
        case(
            "gemini.recursion",
            "/inputs/$defs/T/properties/children/items",
            tree(true),
            tree(false),
        ),
        case(
            "gemini.keyword",
            "/inputs/properties/v",
            field(json!({"type": "string", "pattern": "^a"})),
            field(json!({"type": "array", "items": text(), "minItems": 2})),
        ),
        case(
            "gemini.values",
            "/inputs/properties/v",
            field(json!({"type": ["string", "null"], "enum": ["a", null]})),
            field(json!({"enum": ["a", 1]})),
        ),
    ]
}

pub(super) fn gemini_openapi() -> Vec<Case> {
    let at = "/inputs/properties/v";
    vec![
        case(
            "gemini.openapi_keyword",
            at,
            field(json!({"type": "number", "exclusiveMinimum": 0})),
            with(
                field(json!({"type": "string", "pattern": "^a"})),
                "$schema",
                json!("x"),
            ),
        ),
        case(
            "gemini.openapi_map",
            at,
            field(json!({"type": "object", "properties": {"a": text()}, "additionalProperties": text()})),
            field(field(text())),
        ),
        case(
            "gemini.openapi_type",
            at,
            field(json!({"type": ["string", "null"]})),
            field(json!({"type": "string", "nullable": true})),
        ),
        case(
            "gemini.openapi_values",
            at,
            field(json!({"type": "integer", "enum": [1, 2]})),
            field(json!({"type": "string", "enum": ["a"]})),
        ),
        case(
            "gemini.openapi_items",
            at,
            field(json!({"type": "array"})),
            field(json!({"type": "array", "items": text()})),
        ),
        case("gemini.openapi_properties", "/inputs", empty(), field(text())),
        case(
            "gemini.openapi_required",
            "/inputs",
            with(field(text()), "required", json!(["v", "w"])),
            field(text()),
        ),
        case(
            "gemini.openapi_format",
            at,
            field(json!({"type": "string", "format": "uuid"})),
            field(json!({"type": "string", "format": "date-time"})),
        ),
        case(
            "gemini.openapi_property_name",
            "/inputs",
            fields([("dry-run".to_owned(), text())]),
            fields([("dry_run".to_owned(), text())]),
        ),
    ]
}
