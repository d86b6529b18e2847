//! Quotes an argument so that a shell reads it as one word, whatever it holds.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Characters that need no quotes anywhere in a word.
const PLAIN: &[u8] = b"_-./=:,@%+";

/// Appends `word`, in single quotes where it needs them.
pub(super) fn push_quoted(line: &mut Vec<u8>, word: &[u8]) {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || PLAIN.contains(byte);
    if !word.is_empty() && word.iter().all(is_plain) {
        line.extend_from_slice(word);
        return;
    }
    line.push(b'\'');
    for byte in word {
        match byte {
            // Out of the quotes, an escaped quote, and in again.
            b'\'' => line.extend_from_slice(b"'\\''"),
            _ => line.push(*byte),
        }
    }
    line.push(b'\'');
}

/// A command as a line that could be pasted into a shell.
pub(in crate::command) fn command_line(words: &[impl AsRef<OsStr>]) -> Vec<u8> {
    let mut line = Vec::new();
    for word in words {
        if !line.is_empty() {
            line.push(b' ');
        }
        push_quoted(&mut line, word.as_ref().as_bytes());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: &str) {
        assert_eq!(String::from_utf8_lossy(&command_line(words)), expected);
    }

    #[test]
    fn plain_words_stay_plain() {
        check(&["gzip", "-9", "a/b_c.txt"], "gzip -9 a/b_c.txt");
    }

    #[test]
    fn anything_else_is_one_word_in_quotes() {
        check(&["echo", "", "a b", "$HOME", "a\nb"], "echo '' 'a b' '$HOME' 'a\nb'");
        check(&["it's"], r"'it'\''s'");
        check(&["~", "#", "*"], "'~' '#' '*'");
    }
}
