use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", implementation = http("https://a.example.com", audience = "a", scopes = [
    "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21"
]))]
fn merge() {}

fn main() {}
