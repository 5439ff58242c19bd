use skill_sdk::SkillFailure;

#[derive(SkillFailure)]
#[failure(code = "Git Error")]
struct GitError;

impl std::error::Error for GitError {}
impl std::fmt::Debug for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GitError")
    }
}
impl std::fmt::Display for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("git")
    }
}

fn main() {}
