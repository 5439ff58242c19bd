//! Where something is declared.

use std::fmt;

/// Where a skill or a resource is declared in its author's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The cargo package.
    pub package: &'static str,
    /// The version of the package.
    pub package_version: &'static str,
    /// The Rust path of the module.
    pub module: &'static str,
    /// The name of the function.
    pub function: &'static str,
    /// The source file, as the compiler names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Origin {
    /// The Rust path of the function: `acme_skills::reports::build`.
    pub fn path(&self) -> String {
        format!("{}::{}", self.module, self.name())
    }

    /// The path in the notation of the contract: `acme_skills.reports:build`.
    pub fn entrypoint(&self) -> String {
        format!("{}:{}", self.module.replace("::", "."), self.name())
    }

    /// The name without the mark of a raw identifier.
    fn name(&self) -> &'static str {
        self.function.strip_prefix("r#").unwrap_or(self.function)
    }
}

/// `package version, file:line:column`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            package,
            package_version,
            file,
            line,
            column,
            ..
        } = self;
        write!(f, "{package} {package_version}, {file}:{line}:{column}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations() {
        let mut origin = Origin {
            package: "acme-skills",
            package_version: "1.2.3",
            module: "acme_skills::reports",
            function: "build",
            file: "src/reports.rs",
            line: 7,
            column: 9,
        };
        assert_eq!(origin.path(), "acme_skills::reports::build");
        assert_eq!(origin.entrypoint(), "acme_skills.reports:build");
        assert_eq!(origin.to_string(), "acme-skills 1.2.3, src/reports.rs:7:9");
        (origin.module, origin.function) = ("acme_skills", "r#match");
        assert_eq!(origin.entrypoint(), "acme_skills:match");
    }
}
