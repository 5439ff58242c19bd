//! The limits of a host, as flags, as variables, and as the tool hands them to a program.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest time that a flag takes, in seconds: a year.
#[cfg(feature = "host")]
pub(super) const LONGEST: u64 = 365 * 24 * 60 * 60;

/// The limits of a host that listens on a port.
///
/// Each has a flag and a variable of the environment; the flag counts more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(clap::Args))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LimitArgs {
    /// The largest request body in bytes
    #[cfg_attr(
        feature = "host",
        arg(
            long,
            env = "SKILL_SDK_BODY_LIMIT",
            value_name = "BYTES",
            default_value_t = 4_194_304,
            help_heading = "Limits",
        )
    )]
    pub body_limit: usize,

    /// How long a client may take to send a body
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_BODY_SECONDS",
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=LONGEST),
        help_heading = "Limits",
    ))]
    pub body_seconds: u64,

    /// How many bytes of bodies may be on their way at the same time
    #[cfg_attr(
        feature = "host",
        arg(
            long,
            env = "SKILL_SDK_BODY_MEMORY",
            value_name = "BYTES",
            default_value_t = 268_435_456,
            help_heading = "Limits",
        )
    )]
    pub body_memory: usize,

    /// The largest head of a request in bytes
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_HEAD_LIMIT",
        value_name = "BYTES",
        default_value_t = 65_536,
        value_parser = clap::value_parser!(u32).range(8192..=16_777_216),
        help_heading = "Limits",
    ))]
    pub head_limit: u32,

    /// How many headers a request may have
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_HEADERS",
        value_name = "COUNT",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(8..=10_000),
        help_heading = "Limits",
    ))]
    pub headers: u32,

    /// How long a client may take to begin, and to send the head of a request
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_HEAD_SECONDS",
        value_name = "SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=LONGEST),
        help_heading = "Limits",
    ))]
    pub head_seconds: u64,

    /// How long a connection may be open without a request
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_IDLE_SECONDS",
        value_name = "SECONDS",
        default_value_t = 75,
        value_parser = clap::value_parser!(u64).range(1..=LONGEST),
        help_heading = "Limits",
    ))]
    pub idle_seconds: u64,

    /// How long a client may take no byte of its answer
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_WRITE_SECONDS",
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=LONGEST),
        help_heading = "Limits",
    ))]
    pub write_seconds: u64,

    /// How many connections are served at the same time
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_CONNECTIONS",
        value_name = "COUNT",
        default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Limits",
    ))]
    pub connections: u32,

    /// How many requests may run at the same time on one connection of HTTP/2
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_STREAMS",
        value_name = "COUNT",
        default_value_t = 128,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Limits",
    ))]
    pub streams: u32,

    /// How many calls may run at the same time, all skills together
    #[cfg_attr(feature = "host", arg(
        long,
        env = "SKILL_SDK_CONCURRENCY",
        value_name = "CALLS",
        default_value_t = 256,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Limits",
    ))]
    pub concurrency: u32,

    /// How many calls of one skill may run at the same time; NAME=CALLS for the skill of that name or ref, may be repeated
    #[cfg_attr(
        feature = "host",
        arg(
            long,
            env = "SKILL_SDK_SKILL_CONCURRENCY",
            value_name = "[SKILL=]CALLS",
            value_delimiter = ',',
            default_value = "256",
            help_heading = "Limits",
        )
    )]
    pub skill_concurrency: Vec<SkillCalls>,

    /// How long running calls may take to finish after a signal
    #[cfg_attr(
        feature = "host",
        arg(
            long,
            env = "SKILL_SDK_DRAIN_SECONDS",
            value_name = "SECONDS",
            default_value_t = 30,
            value_parser = clap::value_parser!(u64).range(..=LONGEST),
            help_heading = "Limits",
        )
    )]
    pub drain_seconds: u64,
}

/// How many calls of one skill, or of each, may run at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SkillCalls {
    skill: Option<String>,
    calls: usize,
}

impl FromStr for SkillCalls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (skill, calls) = match text.rsplit_once('=') {
            Some((skill, calls)) if !skill.is_empty() => (Some(skill.to_owned()), calls),
            Some(_) => return Err("expected a skill before the `=`".to_owned()),
            None => (None, text),
        };
        match calls.parse::<usize>() {
            Ok(0) => Err("at least one call must be able to run".to_owned()),
            Ok(calls) => Ok(Self { skill, calls }),
            Err(error) => Err(format!("expected CALLS or SKILL=CALLS: {error}")),
        }
    }
}

impl fmt::Display for SkillCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.skill {
            Some(skill) => write!(f, "{skill}={}", self.calls),
            None => write!(f, "{}", self.calls),
        }
    }
}

impl From<SkillCalls> for String {
    fn from(calls: SkillCalls) -> Self {
        calls.to_string()
    }
}

impl TryFrom<String> for SkillCalls {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl LimitArgs {
    /// The names of skills that have a limit of their own.
    pub fn named_skills(&self) -> impl Iterator<Item = &str> {
        self.skill_concurrency
            .iter()
            .filter_map(|calls| calls.skill.as_deref())
    }

    /// The limits of a host.
    #[cfg(feature = "http")]
    pub(super) fn limits(&self) -> crate::http::Limits {
        use std::collections::BTreeMap;
        use std::time::Duration;

        let mut limits = crate::http::Limits::default();
        let whole = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        limits.max_body_bytes = self.body_limit;
        limits.body_read_timeout = Duration::from_secs(self.body_seconds);
        limits.max_body_memory = self.body_memory;
        limits.max_header_bytes = whole(self.head_limit);
        limits.max_headers = whole(self.headers);
        limits.header_read_timeout = Duration::from_secs(self.head_seconds);
        limits.idle_timeout = Duration::from_secs(self.idle_seconds);
        limits.write_timeout = Duration::from_secs(self.write_seconds);
        limits.max_connections = whole(self.connections);
        limits.max_concurrent_streams = self.streams;
        limits.concurrency = whole(self.concurrency);
        let mut named = BTreeMap::new();
        for SkillCalls { skill, calls } in &self.skill_concurrency {
            match skill {
                Some(skill) => drop(named.insert(skill.clone(), *calls)),
                None => limits.skill_concurrency = *calls,
            }
        }
        limits.skills = named;
        limits
    }
}

#[cfg(all(test, feature = "host", feature = "http"))]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::http::Limits;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        limits: LimitArgs,
    }

    fn parse(line: &str) -> Result<LimitArgs, clap::Error> {
        let words = line.split(' ').filter(|word| !word.is_empty());
        Program::try_parse_from(std::iter::once("program").chain(words)).map(|program| program.limits)
    }

    #[test]
    fn the_defaults_of_flags_are_those_of_the_library() {
        assert_eq!(parse("").unwrap().limits(), Limits::default());
    }

    #[test]
    fn limits_of_skills() {
        let args = parse("--skill-concurrency 8,a.b=2 --skill-concurrency a.b@3=4").unwrap();
        assert_eq!(args.named_skills().collect::<Vec<_>>(), ["a.b", "a.b@3"]);
        let limits = args.limits();
        assert_eq!(limits.skill_concurrency, 8);
        assert_eq!((limits.skills["a.b"], limits.skills["a.b@3"]), (2, 4));
        let json = serde_json::to_string(&args).unwrap();
        assert_eq!(serde_json::from_str::<LimitArgs>(&json).unwrap(), args);
    }

    #[test]
    fn limits_that_let_nothing_through_are_refused() {
        for line in [
            "--concurrency 0",
            "--connections 0",
            "--streams 0",
            "--head-limit 100",
            "--headers 0",
            "--head-seconds 0",
            "--idle-seconds -1",
            "--body-seconds 31536001",
            "--head-seconds 31536001",
            "--idle-seconds 31536001",
            "--write-seconds 31536001",
            "--drain-seconds 18446744073709551615",
            "--body-limit x",
            "--skill-concurrency 0",
            "--skill-concurrency =1",
            "--skill-concurrency a=",
            "--skill-concurrency a",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
