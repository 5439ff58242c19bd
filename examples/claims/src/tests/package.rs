//! Test of the catalog package.

use skill_sdk::testing::assert_package_matches;

#[test]
fn the_package_is_up_to_date() {
    assert_package_matches("package");
}
