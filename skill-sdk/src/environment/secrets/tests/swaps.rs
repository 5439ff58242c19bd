//! Exchanges at the one moment that matters: between the look at a component and its opening.

use std::ffi::OsStr;
use std::fs;

use super::layout::Layout;
use crate::environment::secrets::rejection::Rejection;
use crate::environment::secrets::walk::read_watched;

/// Reads `t`; `looked` gets every component and the number of the attempt. The secrets directory is the component
/// `run`. Gives the value, `absent` or the reason of the rejection, and the number of attempts.
fn read(layout: &Layout, mut looked: impl FnMut(&str, usize)) -> (String, usize) {
    let run = layout.run();
    let mut attempts = 0;
    let result = read_watched(&run, "t", &mut |component: &OsStr| {
        if component == run.as_os_str() {
            attempts += 1;
            looked("run", attempts);
        } else {
            looked(component.to_str().unwrap(), attempts);
        }
    });
    let got = match result {
        Ok(Some(content)) => String::from_utf8(content).unwrap(),
        Ok(None) => "absent".to_owned(),
        Err(Rejection { reason, why }) => reason.map_or(why.into_owned(), str::to_owned),
    };
    (got, attempts)
}

#[test]
fn a_file_that_becomes_a_link_outside_is_not_followed() {
    let layout = Layout::with_run();
    layout.file("outside", "hunter2");
    layout.file("run/t", "v");
    let got = read(&layout, |component, attempt| {
        if (component, attempt) == ("t", 1) {
            layout.relink("run/t", "../outside");
        }
    });
    assert_eq!((got.0.as_str(), got.1), ("outside_secrets_dir", 2));
}

#[test]
fn a_directory_that_becomes_a_link_outside_is_tried_three_times() {
    for (exchanges, wanted) in [
        (0, ("v", 1)),
        (1, ("v", 2)),
        (2, ("v", 3)),
        (3, ("symlink_swapped", 3)),
    ] {
        let layout = Layout::with_run();
        layout.file("outside/t", "hunter2");
        layout.file("run/sub/t", "v");
        layout.link("run/t", "sub/t");
        let mut away = false;
        let got = read(&layout, |component, attempt| match component {
            "sub" if attempt <= exchanges => {
                fs::rename(layout.path("run/sub"), layout.path("spare")).unwrap();
                layout.link("run/sub", "../outside");
                away = true;
            }
            "run" if away => {
                fs::remove_file(layout.path("run/sub")).unwrap();
                fs::rename(layout.path("spare"), layout.path("run/sub")).unwrap();
                away = false;
            }
            _ => {}
        });
        assert_eq!((got.0.as_str(), got.1), wanted, "{exchanges} exchanges");
    }
}

#[test]
fn a_link_that_becomes_a_file_is_read_as_one() {
    let layout = Layout::with_run();
    layout.link("run/t", "../outside");
    let got = read(&layout, |component, attempt| {
        if (component, attempt) == ("t", 1) {
            layout.file("run/new", "v");
            fs::rename(layout.path("run/new"), layout.path("run/t")).unwrap();
        }
    });
    assert_eq!((got.0.as_str(), got.1), ("v", 2));
}

#[test]
fn a_file_that_becomes_a_directory_or_is_removed() {
    for (to_directory, wanted) in [(true, "not_regular_file"), (false, "absent")] {
        let layout = Layout::with_run();
        layout.file("run/t", "v");
        let got = read(&layout, |component, attempt| {
            if (component, attempt) == ("t", 1) {
                fs::remove_file(layout.path("run/t")).unwrap();
                if to_directory {
                    layout.dir("run/t");
                }
            }
        });
        assert_eq!((got.0.as_str(), got.1), (wanted, 2));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_becomes_a_fifo_does_not_block() {
    let layout = Layout::with_run();
    layout.file("run/t", "v");
    let got = read(&layout, |component, attempt| {
        if (component, attempt) == ("t", 1) {
            fs::remove_file(layout.path("run/t")).unwrap();
            layout.fifo("run/t");
        }
    });
    assert_eq!((got.0.as_str(), got.1), ("not_regular_file", 2));
}

#[test]
fn the_secrets_directory_itself_is_exchanged() {
    for (exchanges, wanted) in [(1, ("1", 2)), (2, ("2", 3)), (3, ("symlink_swapped", 3))] {
        let layout = Layout::with_run();
        layout.file("run/t", "0");
        let got = read(&layout, |component, attempt| {
            if component == "run" && attempt <= exchanges {
                fs::rename(layout.run(), layout.path(&format!("was{attempt}"))).unwrap();
                layout.file("run/t", attempt.to_string());
            }
        });
        assert_eq!((got.0.as_str(), got.1), wanted, "{exchanges} exchanges");
    }
}

#[test]
fn a_directory_above_the_secrets_directory_is_exchanged() {
    let layout = Layout::new();
    layout.file("above/run/t", "old");
    layout.file("other/run/t", "new");
    let mut looks = 0;
    let content = read_watched(&layout.path("above/run"), "t", &mut |component: &OsStr| {
        looks += 1;
        if looks == 1 {
            assert_eq!(component, layout.path("above/run").as_os_str());
            fs::rename(layout.path("above"), layout.path("was")).unwrap();
            layout.link("above", "other");
        }
    });
    // Not opened through the new link with the old path: looked up again.
    assert_eq!(content.unwrap().unwrap(), b"new");
    assert_eq!(looks, 3);
}

#[test]
fn a_target_that_vanishes_is_looked_for_again_and_counts_as_absent_in_the_end() {
    for (removals, wanted) in [(1, ("1", 2)), (2, ("2", 3)), (3, ("absent", 3))] {
        let layout = Layout::with_run();
        layout.file("run/..0/t", "0");
        layout.link("run/..data", "..0");
        layout.link("run/t", "..data/t");
        let got = read(&layout, |component, attempt| {
            let current = format!("..{}", attempt - 1);
            if component == current && attempt <= removals {
                layout.file(&format!("run/..{attempt}/t"), attempt.to_string());
                layout.relink("run/..data", &format!("..{attempt}"));
                fs::remove_dir_all(layout.path("run").join(current)).unwrap();
            }
        });
        assert_eq!((got.0.as_str(), got.1), wanted, "{removals} removals");
    }
    let layout = Layout::with_run();
    layout.link("run/t", "nope");
    assert_eq!(read(&layout, |_, _| ()), ("absent".to_owned(), 3));
    let layout = Layout::with_run();
    assert_eq!(read(&layout, |_, _| ()), ("absent".to_owned(), 1));
}
