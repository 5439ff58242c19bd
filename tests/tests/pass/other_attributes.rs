//! Other attributes on the function of a skill.

use serde_json::json;
use skill_sdk::{SkillContext, skill};

use super::call;

#[skill("beside.traced_below", version = "1", side_effects = "none", risk = "low")]
#[tracing::instrument(skip_all)]
async fn traced_below(branch: String, ctx: &SkillContext) -> String {
    branch + ctx.protocol()
}

#[tracing::instrument(skip_all, fields(branch))]
#[skill("beside.traced_above", version = "1", side_effects = "none", risk = "low")]
async fn traced_above(branch: String) -> String {
    branch
}

#[skill("beside.traced_blocking", version = "1", side_effects = "none", risk = "low")]
#[tracing::instrument]
fn traced_blocking(branch: String) -> Result<String, std::fmt::Error> {
    Ok(branch)
}

#[deprecated(note = "another skill replaces it")]
#[skill("beside.deprecated", version = "1", side_effects = "none", risk = "low")]
fn deprecated() {}

#[must_use = "it counts"]
#[inline]
#[doc(hidden)]
#[doc(alias = "join")]
#[skill("beside.others", version = "1", side_effects = "none", risk = "low")]
#[expect(clippy::unnecessary_wraps, reason = "lint attributes stay on the function")]
#[track_caller]
pub(super) fn others() -> Result<u8, std::fmt::Error> {
    Ok(1)
}

#[test]
fn other_attributes_keep_their_meaning() {
    let branch = json!({"branch": "a"});
    for (skill, result) in [
        (traced_below::SKILL, "atest"),
        (traced_above::SKILL, "a"),
        (traced_blocking::SKILL, "a"),
    ] {
        assert_eq!(
            call(skill, branch.clone()).unwrap(),
            json!({"result": result}),
            "{skill:?}"
        );
    }
    assert_eq!(call(deprecated::SKILL, json!({})).unwrap(), json!({}));
    assert_eq!(call(others::SKILL, json!({})).unwrap(), json!({"result": 1}));
}
