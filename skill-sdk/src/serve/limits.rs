//! What a server takes from clients, and how much of it.

use std::collections::BTreeMap;
use std::time::Duration;

/// The limits of a server. There is no request queue: requests over a limit are rejected.
///
/// ```
/// use std::time::Duration;
///
/// use skill_sdk::http::Limits;
///
/// let mut limits = Limits::default();
/// limits.concurrency = 64;
/// limits.idle_timeout = Duration::from_secs(120);
/// assert_eq!(limits.max_body_bytes, 4 * 1024 * 1024);
/// ```
///
/// The defaults:
///
/// | field | default |
/// |---|---|
/// | `max_body_bytes` | 4 MiB |
/// | `body_read_timeout` | 30 s |
/// | `max_body_memory` | 256 MiB |
/// | `max_header_bytes` | 64 KiB |
/// | `max_headers` | 100 |
/// | `header_read_timeout` | 10 s |
/// | `idle_timeout` | 75 s |
/// | `write_timeout` | 30 s |
/// | `max_connections` | 1024 |
/// | `max_concurrent_streams` | 128 |
/// | `max_requests` | 2048 |
/// | `concurrency`, `skill_concurrency` | 256 |
/// | `skills` | empty |
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "host", derive(clap::Args), command(next_help_heading = "Limits"))]
#[non_exhaustive]
pub struct Limits {
    /// The largest request body, in bytes.
    #[cfg_attr(feature = "host", arg(long = "body-limit", env = "SKILL_SDK_BODY_LIMIT",
        help = "Largest request body, in bytes [default: 4 MiB]", hide_default_value = true,
        value_name = "BYTES", default_value = "4194304", value_parser = flags::count(0..)))]
    pub max_body_bytes: usize,
    /// How long a client may take to send a body.
    #[cfg_attr(feature = "host", arg(long = "body-seconds", env = "SKILL_SDK_BODY_SECONDS",
        help = "Body read timeout [default: 30 s]", hide_default_value = true,
        value_name = "SECONDS", default_value = "30", value_parser = flags::seconds(1)))]
    pub body_read_timeout: Duration,
    /// How many bytes of chunked bodies are held at the same time, all requests together.
    #[cfg_attr(feature = "host", arg(long = "body-memory", env = "SKILL_SDK_BODY_MEMORY",
        help = "Maximum memory for the chunked bodies of all requests, in bytes [default: 256 MiB]", hide_default_value = true,
        value_name = "BYTES", default_value = "268435456", value_parser = flags::count(0..)))]
    pub max_body_memory: usize,
    /// The largest request headers, in bytes; at least 8192.
    #[cfg_attr(feature = "host", arg(long = "head-limit", env = "SKILL_SDK_HEAD_LIMIT",
        help = "Largest request headers, in bytes; at least 8 KiB [default: 64 KiB]", hide_default_value = true,
        value_name = "BYTES", default_value = "65536", value_parser = flags::count(8192..=16_777_216)))]
    pub max_header_bytes: usize,
    /// How many headers a request of HTTP/1 may have.
    #[cfg_attr(feature = "host", arg(long = "headers", env = "SKILL_SDK_HEADERS",
        help = "Maximum headers of one HTTP/1 request",
        value_name = "COUNT", default_value = "100", value_parser = flags::count(8..=10_000)))]
    pub max_headers: usize,
    /// How long a client may take to begin a request, and to send its headers.
    #[cfg_attr(feature = "host", arg(long = "head-seconds", env = "SKILL_SDK_HEAD_SECONDS",
        help = "Header read timeout [default: 10 s]", hide_default_value = true,
        value_name = "SECONDS", default_value = "10", value_parser = flags::seconds(1)))]
    pub header_read_timeout: Duration,
    /// How long a connection may be open without a request; it is closed at the latest after twice this time.
    #[cfg_attr(feature = "host", arg(long = "idle-seconds", env = "SKILL_SDK_IDLE_SECONDS",
        help = "Idle timeout; an idle connection closes before twice this time [default: 75 s]", hide_default_value = true,
        value_name = "SECONDS", default_value = "75", value_parser = flags::seconds(1)))]
    pub idle_timeout: Duration,
    /// How long a client may read nothing of a response; then its connection is closed. Over HTTP/2 it must read at least
    /// 16 KiB in this time while a response waits.
    #[cfg_attr(feature = "host", arg(long = "write-seconds", env = "SKILL_SDK_WRITE_SECONDS",
        help = "Write timeout: time in which the client must read a part of the response, over HTTP/2 16 KiB [default: 30 s]", hide_default_value = true,
        value_name = "SECONDS", default_value = "30", value_parser = flags::seconds(1)))]
    pub write_timeout: Duration,
    /// How many connections are served at the same time.
    #[cfg_attr(feature = "host", arg(long = "connections", env = "SKILL_SDK_CONNECTIONS",
        help = "Maximum open connections",
        value_name = "COUNT", default_value = "1024", value_parser = flags::count(1..)))]
    pub max_connections: usize,
    /// How many requests may run at the same time on one connection of HTTP/2.
    #[cfg_attr(feature = "host", arg(long = "streams", env = "SKILL_SDK_STREAMS",
        help = "Maximum concurrent requests on one HTTP/2 connection",
        value_name = "COUNT", default_value = "128", value_parser = clap::value_parser!(u32).range(1..)))]
    pub max_concurrent_streams: u32,
    /// How many requests of HTTP/2 are served at the same time, all connections together. A request counts until its response
    /// is written; those beyond the limit are reset.
    #[cfg_attr(feature = "host", arg(skip = 2048_usize))]
    pub max_requests: usize,
    /// How many calls may run at the same time, all skills together. A response over 64 KiB keeps its slot until it is written.
    #[cfg_attr(feature = "host", arg(long, env = "SKILL_SDK_CONCURRENCY",
        help = "Maximum concurrent calls of all skills; a response over 64 KiB counts until it is written",
        value_name = "CALLS", default_value = "256", value_parser = flags::count(1..)))]
    pub concurrency: usize,
    /// How many calls of one skill run at the same time.
    #[cfg_attr(feature = "host", arg(skip = 256_usize))]
    pub skill_concurrency: usize,
    /// How many calls of the skills named here (`name@version`, or `name` for all versions) run at the same time.
    #[cfg_attr(feature = "host", arg(skip))]
    pub skills: BTreeMap<String, usize>,
}

/// How flags are read.
#[cfg(feature = "host")]
pub(crate) mod flags {
    use std::ops::RangeBounds;
    use std::time::Duration;

    use clap::builder::{RangedU64ValueParser, TypedValueParser};

    /// The longest time that a flag takes, in seconds: a year.
    const LONGEST: u64 = 365 * 24 * 60 * 60;

    /// Whole seconds.
    pub(crate) fn seconds(least: u64) -> impl TypedValueParser<Value = Duration> {
        RangedU64ValueParser::<u64>::new()
            .range(least..=LONGEST)
            .map(Duration::from_secs)
    }

    /// A number within a range.
    pub(crate) fn count(range: impl RangeBounds<u64>) -> impl TypedValueParser<Value = usize> {
        RangedU64ValueParser::new().range(range)
    }
}

impl Limits {
    /// The smallest limit of a head: what the parser takes at once.
    #[cfg(feature = "http")]
    pub(crate) const LEAST_HEADER_BYTES: usize = 8192;

    /// How many calls of a skill run at the same time.
    pub(crate) fn of_skill(&self, reference: &str, name: &str) -> usize {
        let own = self.skills.get(reference).or_else(|| self.skills.get(name));
        own.copied().unwrap_or(self.skill_concurrency)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 4 * 1024 * 1024,
            body_read_timeout: Duration::from_secs(30),
            max_body_memory: 256 * 1024 * 1024,
            max_header_bytes: 64 * 1024,
            max_headers: 100,
            header_read_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            max_connections: 1024,
            max_concurrent_streams: 128,
            max_requests: 2048,
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
