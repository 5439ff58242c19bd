//! The words of values: members of sets, and the named parts of a value.
//!
//! They drive parsing, suggestions, what an editor completes and the reference in the documentation.

/// A word and what it means.
pub(crate) struct Word {
    /// As it is written in the attribute and, for a member of a set, in the contract.
    pub(crate) name: &'static str,
    /// What it means: one sentence without a full stop.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests write the documentation from it")
    )]
    pub(crate) doc: &'static str,
    /// What may be written in the parentheses behind it.
    pub(crate) parts: Words,
}

/// All words of one place, in the order of the documentation.
pub(crate) type Words = &'static [Word];

const fn word(name: &'static str, doc: &'static str) -> Word {
    Word {
        name,
        doc,
        parts: &[],
    }
}

pub(crate) const SIDE_EFFECTS: Words = &[
    word("none", "no effects: the outputs depend on the inputs alone"),
    word("external_read", "reads from other systems"),
    word("external_write", "changes something in other systems"),
];

pub(crate) const RISK: Words = &[
    word("low", "a wrong call does no significant harm"),
    word("medium", "a wrong call does harm that can be repaired"),
    word(
        "high",
        "a wrong call does severe harm, or harm that cannot be repaired",
    ),
];

pub(crate) const IDEMPOTENCY: Words = &[
    word(
        "required",
        "the skill uses the idempotency key of the call: a retry with the same key has no second effect",
    ),
    word("natural", "a retry with the same inputs has no second effect"),
    word("none", "a retry has a second effect, or it is unknown"),
];

pub(crate) const COST: Words = &[
    word("unit", "the counted unit, such as `\"page\"`"),
    word("estimate", "the expected number of units of a call, at least 0"),
];

const AUDIENCE: Word = word("audience", "the audience of the platform's token");
const SCOPES: Word = word(
    "scopes",
    "the scopes of the platform's token: at most 20 strings; needs an audience",
);

pub(crate) const PROTOCOLS: Words = &[
    word(
        "local",
        "a function in the process of the server; `local(\"module.path:function\")` names another function",
    ),
    Word {
        name: "http",
        doc: "an HTTP server, by the URL of the skill",
        parts: &[AUDIENCE, SCOPES],
    },
    Word {
        name: "mcp",
        doc: "an MCP server, by its URL or `stdio:NAME`",
        parts: &[
            word("tool", "the name of the tool, if it is not the name of the skill"),
            AUDIENCE,
            SCOPES,
        ],
    },
];

/// The names of the words.
pub(crate) fn names(words: Words) -> impl Iterator<Item = &'static str> + Clone {
    words.iter().map(|word| word.name)
}

/// The names in one text, for a message.
pub(crate) fn all(words: Words) -> String {
    names(words).collect::<Vec<_>>().join(", ")
}
