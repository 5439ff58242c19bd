use skill_sdk::SkillFailure;

use std::rc::Rc;

#[derive(Debug, SkillFailure)]
#[failure(code = "git")]
struct GitError(Rc<str>);

impl std::fmt::Display for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("git")
    }
}

impl std::error::Error for GitError {}

fn main() {}
