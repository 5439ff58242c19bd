use skill_sdk::SkillFailure;

#[derive(SkillFailure)]
#[failure(code = "git")]
struct GitError;

fn main() {}
