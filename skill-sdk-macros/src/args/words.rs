//! The words that stand in values: members of sets, and the named parts of a value.
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
    word(
        "none",
        "it touches nothing outside: the outputs depend on the inputs alone",
    ),
    word("external_read", "it reads something outside"),
    word("external_write", "it changes something outside"),
];

pub(crate) const RISK: Words = &[
    word("low", "a wrong call does no harm worth naming"),
    word("medium", "a wrong call does some harm, which can be mended"),
    word(
        "high",
        "a wrong call does much harm, or harm that cannot be mended",
    ),
];

pub(crate) const IDEMPOTENCY: Words = &[
    word(
        "required",
        "the skill uses the idempotency key of the call: a repeat with the same key has no second effect",
    ),
    word("natural", "a repeat with the same inputs has no second effect"),
    word("none", "a repeat has a second effect, or nobody knows"),
];

pub(crate) const COST: Words = &[
    word("unit", "what is counted, such as `\"page\"`"),
    word(
        "estimate",
        "how many units a call is expected to use: a number that is not negative",
    ),
];

const AUDIENCE: Word = word("audience", "whom the platform's token is meant for");
const SCOPES: Word = word(
    "scopes",
    "what the platform's token may do: at most 20 texts; needs an audience",
);

pub(crate) const PROTOCOLS: Words = &[
    word(
        "local",
        "a function in the process of a host; `local(\"module.path:function\")` names another one than this",
    ),
    Word {
        name: "http",
        doc: "an HTTP host, by the URL of the skill there",
        parts: &[AUDIENCE, SCOPES],
    },
    Word {
        name: "mcp",
        doc: "an MCP server, by its URL or `stdio:NAME`",
        parts: &[
            word(
                "tool",
                "the name of the tool there, when it is not the name of the skill",
            ),
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
