//! The form of an error code.

/// The longest error code, in bytes.
const MAX_CODE: usize = 100;

/// Whether `code` is `[a-z0-9][a-z0-9_.-]{0,99}`.
///
/// ```
/// assert!(skill_sdk::is_valid_code("git_unavailable"));
/// assert!(!skill_sdk::is_valid_code("Git unavailable"));
/// ```
pub const fn is_valid_code(code: &str) -> bool {
    let bytes = code.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_CODE {
        return false;
    }
    let mut index = 0;
    while index < bytes.len() {
        let ok = match bytes[index] {
            b'a'..=b'z' | b'0'..=b'9' => true,
            b'_' | b'.' | b'-' => index > 0,
            _ => false,
        };
        if !ok {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::is_valid_code;

    #[test]
    fn codes() {
        for good in ["a", "0", "a.b-c_d", &"a".repeat(100)] {
            assert!(is_valid_code(good), "{good}");
        }
        for bad in ["", ".a", "-a", "_a", "A", "a b", "a\n", "ä", &"a".repeat(101)] {
            assert!(!is_valid_code(bad), "{bad:?}");
        }
    }
}
