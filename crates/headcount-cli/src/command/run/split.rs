//! Splits a stream of bytes into items.
//!
//! An item ends at the delimiter, or at the end of the input. Nothing is quoted, trimmed or
//! decoded: what stands between two delimiters is the item. Empty lines are no items; empty items
//! between zero bytes are.

use std::io::{self, BufRead};

/// How items are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// A line each; empty ones are skipped.
    Line,
    /// Whatever stands between two of these bytes.
    Byte(u8),
}

impl Delimiter {
    /// A delimiter as `-d` takes it: one byte, or an escape for one.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let byte = match text.as_bytes() {
            [byte] => *byte,
            [b'\\', letter] => match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'0' => 0,
                b'\\' => b'\\',
                _ => return Err(refused(text)),
            },
            [b'\\', b'x', hex @ ..] if hex.len() == 2 => {
                u8::from_str_radix(&text[2..], 16).map_err(|_| refused(text))?
            }
            _ => return Err(refused(text)),
        };
        Ok(Self::Byte(byte))
    }

    fn byte(self) -> u8 {
        match self {
            Self::Line => b'\n',
            Self::Byte(byte) => byte,
        }
    }
}

fn refused(text: &str) -> String {
    format!("{text:?} is no delimiter; give one byte, or \\n, \\t, \\r, \\0, \\\\ or \\x2c")
}

/// The longest item that is read: more than any command line takes.
pub(super) const ITEM_LEN_MAX: usize = 16 << 20;

/// The next item, or `None` at the end.
///
/// # Errors
///
/// When the input cannot be read, or an item is longer than [`ITEM_LEN_MAX`].
pub(super) fn next_item(
    input: &mut impl BufRead,
    delimiter: Delimiter,
) -> io::Result<Option<Vec<u8>>> {
    loop {
        let mut item = Vec::new();
        let ended = read_until(input, delimiter.byte(), &mut item)?;
        let is_skipped = item.is_empty() && (delimiter == Delimiter::Line || !ended);
        match (is_skipped, ended) {
            (false, _) => return Ok(Some(item)),
            (true, true) => {}
            (true, false) => return Ok(None),
        }
    }
}

/// Fills `item` up to the delimiter; says whether there was one.
fn read_until(input: &mut impl BufRead, byte: u8, item: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = buffer.iter().position(|b| *b == byte);
        let (len, used) = end.map_or((buffer.len(), buffer.len()), |end| (end, end + 1));
        if ITEM_LEN_MAX < item.len() + len {
            let what = format!(
                "an item is longer than {ITEM_LEN_MAX} bytes; is the delimiter the right one?"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        item.extend_from_slice(&buffer[..len]);
        input.consume(used);
        if end.is_some() || used == 0 {
            return Ok(end.is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], delimiter: Delimiter, expected: &[&[u8]]) {
        // Small reads, so that items lie across them.
        let mut input = io::BufReader::with_capacity(3, input);
        let mut items = Vec::new();
        while let Some(item) = next_item(&mut input, delimiter).expect("memory can be read") {
            items.push(item);
        }
        assert_eq!(items, expected);
    }

    #[test]
    fn a_line_is_an_item_whatever_it_holds() {
        check(b"a b\n 'c'\n\n\"d\n", Delimiter::Line, &[b"a b", b" 'c'", b"\"d"]);
        check(b"no newline at the end", Delimiter::Line, &[b"no newline at the end"]);
        check(b"", Delimiter::Line, &[]);
        check(b"\n\n", Delimiter::Line, &[]);
    }

    #[test]
    fn other_delimiters_leave_lines_and_emptiness_alone() {
        check(b"a\nb\0\xff\0\0c", Delimiter::Byte(0), &[b"a\nb", b"\xff", b"", b"c"]);
        check(b"1,2,,3", Delimiter::Byte(b','), &[b"1", b"2", b"", b"3"]);
    }

    #[test]
    fn delimiters_are_bytes_or_escapes() {
        let read = |text| match Delimiter::parse(text) {
            Ok(Delimiter::Byte(byte)) => Some(byte),
            _ => None,
        };
        assert_eq!([",", "\\n", "\\t", "\\0", "\\x2c"].map(read), [44, 10, 9, 0, 44].map(Some));
        assert_eq!(["", "ab", "\\q", "\\xzz", "é"].map(read), [None; 5]);
    }
}
