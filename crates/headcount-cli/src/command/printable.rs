//! Names from files and folders, as a terminal may be shown them.
//!
//! A name can hold what moves the cursor, colours what follows or erases it; that is spelt out.

use std::path::Path;

/// A name or a key on one line.
pub(super) fn word(text: &str) -> String {
    spelt_out(text, char::is_control)
}

/// The name of a file.
pub(super) fn path(path: &Path) -> String {
    word(&path.to_string_lossy())
}

/// Sentences with such names in them, which may stand on several lines.
pub(crate) fn lines(text: &str) -> String {
    spelt_out(text, |c| c.is_control() && !matches!(c, '\n' | '\t'))
}

fn spelt_out(text: &str, is_odd: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_odd(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelt_out() {
        assert_eq!(word("a\u{1b}[31m b\n\u{9b}2J"), "a\\u{1b}[31m b\\n\\u{9b}2J");
        assert_eq!(lines("one\n\ttwo\r\u{7}"), "one\n\ttwo\\r\\u{7}");
        assert_eq!(word("caf\u{e9} \\ \"x\""), "caf\u{e9} \\ \"x\"");
    }
}
