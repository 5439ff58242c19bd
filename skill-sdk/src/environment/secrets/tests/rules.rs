//! What the recorded cases do not show.

use std::os::unix::net::UnixListener;
use std::path::Path;

use super::layout::Layout;
use super::reason;
use crate::environment::secrets::{read_secret, read_secret_file};

fn nothing(_: &str) -> Option<String> {
    None
}

#[test]
fn only_regular_files_are_read_and_nothing_waits() {
    let layout = Layout::with_run();
    let _listener = UnixListener::bind(layout.path("run/socket")).unwrap();
    // Opening a socket fails for a reason of the system, whatever its rights.
    assert_eq!(
        reason(&read_secret_file(&layout.run(), "socket").unwrap_err()),
        "unreadable"
    );
    for device in ["null", "zero", "tty"] {
        let error = read_secret_file(Path::new("/dev"), device).unwrap_err();
        assert_eq!(
            (error.code(), reason(&error)),
            ("secret_file_rejected", "not_regular_file"),
            "{device}"
        );
    }
    layout.link("run/dir", "sub/..");
    layout.dir("run/sub");
    assert_eq!(
        reason(&read_secret_file(&layout.run(), "dir").unwrap_err()),
        "not_regular_file"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_fifo_without_a_writer_is_refused_at_once() {
    let layout = Layout::with_run();
    layout.fifo("run/fifo");
    layout.link("run/link", "fifo");
    for name in ["fifo", "link"] {
        assert_eq!(
            reason(&read_secret_file(&layout.run(), name).unwrap_err()),
            "not_regular_file",
            "{name}"
        );
    }
}

#[test]
fn links_stay_inside() {
    let layout = Layout::with_run();
    layout.file("run/u", "v");
    layout.file("run/deep/er/u", "deep");
    layout.file("outside", "hunter2");
    layout.link("run/away", "<root>");
    layout.link("run/deep/er/up", "../../u");
    layout.link("run/deep/er/absolute", "<root>/run/deep/er/u");
    for (target, wanted) in [
        ("deep/er/../../u", Ok("v")),
        ("deep/er/u", Ok("deep")),
        (".//deep/./er/../er//u", Ok("deep")),
        ("u/", Ok("v")),
        ("deep/er/up", Ok("v")),
        ("deep/er/absolute", Ok("deep")),
        ("<root>//run/./u", Ok("v")),
        ("deep/../../outside", Err("outside_secrets_dir")),
        ("<root>/run/../outside", Err("outside_secrets_dir")),
        ("<root>", Err("outside_secrets_dir")),
        ("/", Err("outside_secrets_dir")),
        ("away/outside", Err("outside_secrets_dir")),
        ("deep/../../run/u", Err("outside_secrets_dir")),
        ("/proc/self/root<root>/outside", Err("outside_secrets_dir")),
        (".", Err("not_regular_file")),
    ] {
        layout.link("run/t", "x");
        layout.relink("run/t", target);
        let got = read_secret_file(&layout.run(), "t");
        match wanted {
            Ok(value) => assert_eq!(got.unwrap().unwrap().expose(), value, "{target}"),
            Err(wanted) => assert_eq!(reason(&got.unwrap_err()), wanted, "{target}"),
        }
        std::fs::remove_file(layout.path("run/t")).unwrap();
    }
    // `..` behind a file leads nowhere, as it does for the system.
    layout.link("run/t", "u/../u");
    assert!(read_secret_file(&layout.run(), "t").unwrap().is_none());
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let layout = Layout::with_run();
    layout.file("run/l0", "v");
    for link in 1..=41 {
        layout.link(&format!("run/l{link}"), &format!("l{}", link - 1));
    }
    assert_eq!(
        read_secret_file(&layout.run(), "l40").unwrap().unwrap().expose(),
        "v"
    );
    assert_eq!(
        reason(&read_secret_file(&layout.run(), "l41").unwrap_err()),
        "unreadable"
    );
}

#[test]
fn a_file_has_at_most_64_kib_before_its_line_breaks_are_taken_off() {
    let layout = Layout::with_run();
    layout.file("run/most", "x".repeat(65_535) + "\n");
    assert_eq!(
        read_secret_file(&layout.run(), "most")
            .unwrap()
            .unwrap()
            .expose()
            .len(),
        65_535
    );
    layout.file("run/more", "x".repeat(65_536) + "\n");
    assert_eq!(
        reason(&read_secret_file(&layout.run(), "more").unwrap_err()),
        "too_large"
    );
}

#[test]
fn the_environment_comes_first_and_is_taken_as_it_is() {
    let layout = Layout::with_run();
    layout.file("run/t", "file\r\n\n");
    for (variable, wanted) in [
        (Some(" v \n"), " v \n"),
        (Some(" "), " "),
        (Some(""), "file"),
        (None, "file"),
    ] {
        let env = |name: &str| variable.filter(|_| name == "t").map(str::to_owned);
        assert_eq!(
            read_secret("t", env, &layout.run()).unwrap().expose(),
            wanted,
            "{variable:?}"
        );
    }
}

#[test]
fn a_directory_given_with_detours_is_the_same_directory() {
    let layout = Layout::with_run();
    layout.file("run/u", "v");
    layout.link("run/real", "<root>/run/u");
    layout.dir("other");
    layout.link("run/detour", "<root>/other/../run/u");
    let dir = layout.path("other/../run");
    for name in ["u", "real", "detour"] {
        assert_eq!(
            read_secret_file(&dir, name).unwrap().unwrap().expose(),
            "v",
            "{name}"
        );
    }
    let error = read_secret_file(&layout.run(), "detour").unwrap_err();
    assert_eq!(reason(&error), "outside_secrets_dir");
}

#[test]
fn a_secrets_directory_that_is_not_there_is_no_file() {
    let layout = Layout::new();
    layout.file("file", "");
    for dir in ["nope", "file", "file/below"] {
        assert!(
            read_secret_file(&layout.path(dir), "t").unwrap().is_none(),
            "{dir}"
        );
    }
    assert!(read_secret_file(Path::new(""), "t").unwrap().is_none());
    layout.link("run", "run");
    assert_eq!(
        reason(&read_secret_file(&layout.run(), "t").unwrap_err()),
        "unreadable"
    );
}

#[test]
fn blank_is_white_space_of_unicode() {
    let layout = Layout::with_run();
    for (content, wanted) in [
        ("", ""),
        ("\u{2003}\u{a0}\n", ""),
        ("\x1c\x1f\n", ""),
        ("\u{feff}", "\u{feff}"),
        (" \u{feff}v\n\n", " \u{feff}v"),
        ("\u{2028}v\u{2028}", "\u{2028}v\u{2028}"),
    ] {
        layout.file("run/t", content);
        assert_eq!(
            read_secret_file(&layout.run(), "t").unwrap().unwrap().expose(),
            wanted,
            "{content:?}"
        );
    }
}

#[test]
fn the_message_of_a_missing_secret_names_both_places() {
    let layout = Layout::with_run();
    layout.file("run/blank", "\n");
    for (name, seen) in [
        (
            "gone",
            format!("the file {}/gone does not exist", layout.run().display()),
        ),
        (
            "blank",
            format!("the file {}/blank is empty", layout.run().display()),
        ),
        ("UPPER", format!("no file in {} was read", layout.run().display())),
        (
            "line\n",
            format!("no file in {} was read", layout.run().display()),
        ),
    ] {
        let error = read_secret(name, nothing, &layout.run()).unwrap_err();
        let variable = format!("the environment variable `{}`", name.escape_debug());
        assert!(
            error.message().contains(&seen) && error.message().contains(&variable),
            "{error}"
        );
        assert!(!error.message().contains('\n'), "{error}");
        assert_eq!((error.code(), error.is_retryable()), ("config_missing", true));
    }
}

#[test]
fn no_error_shows_what_is_in_the_file() {
    let layout = Layout::with_run();
    layout.file("run/large", "hunter2".repeat(10_000));
    layout.file("run/binary", b"hunter2\xff");
    layout.file("outside", "hunter2");
    layout.link("run/link", "../outside");
    for name in ["large", "binary", "link"] {
        let error = read_secret(name, nothing, &layout.run()).unwrap_err();
        assert_eq!(error.code(), "secret_file_rejected");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{name}");
    }
}
