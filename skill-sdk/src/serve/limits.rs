//! What a host takes from clients, and how much of it.

use std::collections::BTreeMap;
use std::time::Duration;

/// The limits of a host that listens on a port. Nothing beyond them waits in line: it is refused, and told so.
///
/// ```
/// use std::time::Duration;
///
/// use skill_sdk::http::Limits;
///
/// let mut limits = Limits::default();
/// limits.concurrency = 64;
/// limits.idle_time = Duration::from_secs(120);
/// assert_eq!(limits.body, 4 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest request body, in bytes.
    pub body: usize,
    /// How long a client may take to send a body.
    pub body_time: Duration,
    /// How many bytes of bodies that come in parts are held at the same time, all requests together.
    pub body_memory: usize,
    /// The largest head of a request, in bytes; at least 8192.
    pub head: usize,
    /// How many headers a request of HTTP/1 may have.
    pub headers: usize,
    /// How long a client may take to begin, and to send the head of a request.
    pub head_time: Duration,
    /// How long a connection may be open without a request; it is closed at the latest after twice this time.
    pub idle_time: Duration,
    /// How long a client may take no byte of an answer. Over HTTP/2 no 16 KiB of it; then its stream is reset, and the
    /// others of the connection go on. One that does not take the last 16 KiB of an answer loses its connection.
    pub write_time: Duration,
    /// How many connections are served at the same time.
    pub connections: usize,
    /// How many requests may run at the same time on one connection of HTTP/2.
    pub streams: u32,
    /// How many calls run at the same time, all skills together.
    pub concurrency: usize,
    /// How many calls of one skill run at the same time.
    pub skill_concurrency: usize,
    /// How many calls of the skills named here (`name@version`, or `name` for all versions) run at the same time.
    pub skills: BTreeMap<String, usize>,
}

impl Limits {
    #[cfg(feature = "http")]
    /// The smallest limit of a head: what the parser takes at once.
    pub(crate) const LEAST_HEAD: usize = 8192;

    /// How many calls of a skill run at the same time.
    pub(crate) fn of_skill(&self, reference: &str, name: &str) -> usize {
        let own = self.skills.get(reference).or_else(|| self.skills.get(name));
        own.copied().unwrap_or(self.skill_concurrency)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 4 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            body_memory: 256 * 1024 * 1024,
            head: 64 * 1024,
            headers: 100,
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(75),
            write_time: Duration::from_secs(30),
            connections: 1024,
            streams: 128,
            concurrency: 256,
            skill_concurrency: 256,
            skills: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_counts() {
        let mut limits = Limits::default();
        limits.skills.insert("a".into(), 2);
        limits.skills.insert("a@3".into(), 3);
        let of = |version: &str, name: &str| limits.of_skill(&format!("{name}@{version}"), name);
        assert_eq!((of("1", "a"), of("3", "a"), of("1", "b")), (2, 3, 256));
    }
}
