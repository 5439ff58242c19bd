//! The catalog package.

use skill_sdk::testing::assert_package_matches;

#[test]
fn it_is_up_to_date() {
    assert_package_matches("package");
}
