use skill_sdk::SkillFailure;

#[derive(SkillFailure)]
union GitError {
    code: u8,
}

fn main() {}
