use skill_sdk::SkillFailure;

#[derive(Debug, SkillFailure)]
#[failure(code = "git")]
struct GitError<'a>(&'a str);

fn main() {}
