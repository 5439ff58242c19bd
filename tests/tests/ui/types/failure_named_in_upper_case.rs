use skill_sdk::SkillFailure;

#[derive(Debug, SkillFailure)]
enum GitError {
    HTTPError,
}

impl std::fmt::Display for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("git")
    }
}

impl std::error::Error for GitError {}

fn main() {}
