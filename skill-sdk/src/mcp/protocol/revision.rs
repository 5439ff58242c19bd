//! The revisions of the protocol that this server speaks: one row for each.

/// One revision, and what it has.
#[derive(Debug)]
pub(in crate::mcp) struct Revision {
    /// The name, which is a date.
    pub(in crate::mcp) name: &'static str,
    /// Whether a client begins with `initialize`. Otherwise the revision is stateless: every request names the revision and
    /// the capabilities of the client, results name their type and the server, a call that needs input ends with its
    /// questions, and over HTTP a disconnect cancels the call.
    pub(in crate::mcp) has_initialize: bool,
    /// Whether several messages may come as one array.
    pub(in crate::mcp) has_batches: bool,
    /// The methods of requests.
    pub(in crate::mcp) methods: &'static [&'static str],
}

const fn with_initialize(name: &'static str, has_batches: bool) -> Revision {
    Revision {
        name,
        has_initialize: true,
        has_batches,
        methods: &[
            "initialize",
            "logging/setLevel",
            "ping",
            "server/discover",
            "tools/call",
            "tools/list",
        ],
    }
}

const fn stateless(name: &'static str) -> Revision {
    Revision {
        name,
        has_initialize: false,
        has_batches: false,
        methods: &["server/discover", "tools/call", "tools/list"],
    }
}

/// All revisions, oldest first.
static REVISIONS: [Revision; 5] = [
    with_initialize("2024-11-05", false),
    with_initialize("2025-03-26", true),
    with_initialize("2025-06-18", false),
    with_initialize("2025-11-25", false),
    stateless("2026-07-28"),
];

impl Revision {
    /// The revision of a request over HTTP without the header for it.
    #[cfg(feature = "mcp-http")]
    pub(in crate::mcp) fn without_header() -> &'static Self {
        &REVISIONS[1]
    }

    /// The revision with this name.
    pub(in crate::mcp) fn find(name: &str) -> Option<&'static Self> {
        REVISIONS.iter().find(|revision| revision.name == name)
    }

    /// The names of all revisions, oldest first.
    pub(in crate::mcp) fn names() -> Vec<&'static str> {
        REVISIONS.iter().map(|revision| revision.name).collect()
    }

    /// The newest revision with `initialize`.
    pub(in crate::mcp) fn newest_with_initialize() -> &'static Self {
        &REVISIONS[3]
    }

    /// The revision of a session whose client asks for `requested`.
    pub(in crate::mcp) fn negotiate(requested: Option<&str>) -> &'static Self {
        requested
            .and_then(Self::find)
            .filter(|revision| revision.has_initialize)
            .unwrap_or(Self::newest_with_initialize())
    }
}
