//! The revisions of the protocol that this server speaks: one row for each.

/// One revision, and what it has.
#[derive(Debug)]
pub(in crate::mcp) struct Revision {
    /// The name, which is a date.
    pub(in crate::mcp) name: &'static str,
    /// Whether a client begins with `initialize`. Otherwise the revision is stateless: every request names the revision and
    /// the capabilities of the client, results name their type and the server, and a call that needs input ends with its
    /// questions.
    pub(in crate::mcp) has_initialize: bool,
    /// The methods of requests.
    pub(in crate::mcp) methods: &'static [&'static str],
}

const WITH_INITIALIZE: &[&str] = &[
    "initialize",
    "logging/setLevel",
    "ping",
    "server/discover",
    "tools/call",
    "tools/list",
];

const STATELESS: &[&str] = &["server/discover", "tools/call", "tools/list"];

/// All revisions, oldest first.
const REVISIONS: [Revision; 5] = [
    Revision {
        name: "2024-11-05",
        has_initialize: true,
        methods: WITH_INITIALIZE,
    },
    Revision {
        name: "2025-03-26",
        has_initialize: true,
        methods: WITH_INITIALIZE,
    },
    Revision {
        name: "2025-06-18",
        has_initialize: true,
        methods: WITH_INITIALIZE,
    },
    Revision {
        name: "2025-11-25",
        has_initialize: true,
        methods: WITH_INITIALIZE,
    },
    Revision {
        name: "2026-07-28",
        has_initialize: false,
        methods: STATELESS,
    },
];

/// The newest revision with `initialize`.
const NEWEST_WITH_INITIALIZE: &Revision = &REVISIONS[3];

impl Revision {
    #[cfg(feature = "mcp-http")]
    /// The revision of a request over HTTP without the header for it.
    pub(in crate::mcp) const WITHOUT_HEADER: &'static Self = &REVISIONS[1];

    /// The revision with this name.
    pub(in crate::mcp) fn find(name: &str) -> Option<&'static Self> {
        const ALL: &[Revision] = &REVISIONS;
        ALL.iter().find(|revision| revision.name == name)
    }

    /// The names of all revisions, oldest first.
    pub(in crate::mcp) fn names() -> [&'static str; REVISIONS.len()] {
        REVISIONS.map(|revision| revision.name)
    }

    /// The revision of a session whose client asks for `requested`.
    pub(in crate::mcp) fn negotiate(requested: Option<&str>) -> &'static Self {
        requested
            .and_then(Self::find)
            .filter(|revision| revision.has_initialize)
            .unwrap_or(NEWEST_WITH_INITIALIZE)
    }
}
