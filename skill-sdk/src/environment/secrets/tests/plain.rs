//! The reading for other systems, tried on this one.

use super::layout::Layout;
use crate::environment::secrets::plain::read;
use crate::environment::secrets::refusal::Refusal;

#[test]
fn the_same_rules_as_far_as_they_go() {
    let layout = Layout::with_run();
    layout.file("outside", "hunter2");
    layout.file("run/file", "v");
    layout.file("run/..1/t", "kubernetes");
    layout.link("run/..data", "..1");
    layout.link("run/t", "..data/t");
    layout.link("run/absolute", "<root>/run/file");
    layout.link("run/away", "../outside");
    layout.link("run/dangling", "nope");
    layout.link("run/loop", "loop");
    layout.link("run/behind", "file/x");
    layout.file("run/large", vec![b'x'; 65_537]);
    layout.dir("run/dir");
    for (name, wanted) in [
        ("file", Ok(Some("v"))),
        ("t", Ok(Some("kubernetes"))),
        ("absolute", Ok(Some("v"))),
        ("missing", Ok(None)),
        ("dangling", Ok(None)),
        ("behind", Ok(None)),
        ("away", Err("outside_secrets_dir")),
        ("large", Err("too_large")),
        ("dir", Err("not_regular_file")),
        ("loop", Err("unreadable")),
    ] {
        let got = match read(&layout.run(), name) {
            Ok(content) => Ok(content.map(|content| String::from_utf8(content).unwrap())),
            Err(Refusal::Rejected { reason, .. }) => Err(reason),
            Err(Refusal::Unreadable(_)) => Err("secret_unreadable"),
        };
        assert_eq!(got, wanted.map(|value| value.map(str::to_owned)), "{name}");
    }
    assert!(read(&layout.path("nope"), "t").unwrap().is_none());
    assert!(read(&layout.path("outside"), "t").unwrap().is_none());
}
