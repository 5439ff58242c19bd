//! How an implementation of a skill is reached.

use serde::Serialize;

/// How an implementation of a skill is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "protocol", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Implementation {
    /// A function of the program, called in the same process.
    Local {
        /// `package.module:function`.
        entrypoint: String,
    },
    /// A host that speaks the HTTP protocol of skills.
    Http {
        /// The address of the skill: `<base>/skills/<name>@<version>`. The base may hold `${VAR}`.
        endpoint: String,
        /// The token that a caller brings.
        #[serde(skip_serializing_if = "Option::is_none")]
        auth: Option<Auth>,
    },
    /// A tool of an MCP server.
    Mcp {
        /// A URL, or `stdio:<name>`.
        endpoint: String,
        /// The name of the tool.
        entrypoint: String,
        /// The token that a caller brings.
        #[serde(skip_serializing_if = "Option::is_none")]
        auth: Option<Auth>,
    },
}

/// The token that a caller brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Auth {
    /// The audience of the token.
    pub audience: String,
    /// The scopes of the token, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

impl Auth {
    /// The token of `audience` with `scopes`; nothing when the audience is empty.
    pub fn new(audience: &str, scopes: impl IntoIterator<Item = String>) -> Option<Self> {
        if audience.is_empty() {
            return None;
        }
        let mut unique = Vec::new();
        for scope in scopes {
            if !unique.contains(&scope) {
                unique.push(scope);
            }
        }
        Some(Self {
            audience: audience.to_owned(),
            scopes: unique,
        })
    }
}

impl Implementation {
    /// A local implementation.
    pub fn local(entrypoint: impl Into<String>) -> Self {
        Self::Local {
            entrypoint: entrypoint.into(),
        }
    }

    /// An HTTP implementation of the skill `reference` (`name@version`) at a host with the address `base`.
    pub fn http(base: &str, reference: &str, auth: Option<Auth>) -> Self {
        Self::Http {
            endpoint: format!("{}/skills/{reference}", base.trim_end_matches('/')),
            auth,
        }
    }

    /// An MCP implementation by the tool `tool`.
    pub fn mcp(endpoint: impl Into<String>, tool: impl Into<String>, auth: Option<Auth>) -> Self {
        Self::Mcp {
            endpoint: endpoint.into(),
            entrypoint: tool.into(),
            auth,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_stand_in_the_order_of_the_format() {
        let auth = Auth::new("acme", ["a:b".to_owned(), "a:b".to_owned(), "c".to_owned()]);
        assert_eq!(
            json!(Implementation::mcp("stdio:acme", "tool", auth.clone())).to_string(),
            r#"{"protocol":"mcp","endpoint":"stdio:acme","entrypoint":"tool","auth":{"audience":"acme","scopes":["a:b","c"]}}"#
        );
        assert_eq!(
            json!(Implementation::http("${SVC}//", "a@1", Auth::new("acme", []))).to_string(),
            r#"{"protocol":"http","endpoint":"${SVC}/skills/a@1","auth":{"audience":"acme"}}"#
        );
        assert_eq!(
            json!(Implementation::http("https://x", "a@1", Auth::new("", []))),
            json!({"protocol": "http", "endpoint": "https://x/skills/a@1"})
        );
    }
}
