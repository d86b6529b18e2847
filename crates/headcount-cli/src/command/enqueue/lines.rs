//! Payloads from lines: each line of JSON is one.

use std::io::{self, BufRead, Read};

use serde_json::Value;

/// The most bytes of a line; a store takes less by default.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// Lines, with their numbers.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    number: u64,
}

/// A line that is not empty.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// Its number, from 1 on.
    pub(super) number: u64,
    /// How many bytes it has.
    pub(super) len: usize,
    /// What it says, or why it says nothing.
    pub(super) payload: Result<Value, String>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, number: 0 }
    }

    /// The next line that is not empty.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            self.reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            self.number += 1;
            let number = self.number;
            if bytes.len() as u64 == LINE_BYTES_MAX && !bytes.ends_with(b"\n") {
                self.reader.skip_until(b'\n')?;
                let why = format!("it is longer than {} MiB", LINE_BYTES_MAX >> 20);
                return Ok(Some(Line { number, len: bytes.len(), payload: Err(why) }));
            }
            let text = bytes.trim_ascii();
            if !text.is_empty() {
                let payload = serde_json::from_slice(text).map_err(|error| told(&error));
                return Ok(Some(Line { number, len: text.len(), payload }));
            }
        }
    }
}

/// Where in a text of one line the fault is.
pub(super) fn told(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let why = said.split(" at line ").next().unwrap_or_default();
    match error.line() {
        0 | 1 => format!("it is no JSON: {why} at column {}", error.column()),
        line => format!("it is no JSON: {why} at line {line}, column {}", error.column()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut lines = Lines::new(text.as_bytes());
        let mut told = Vec::new();
        while let Some(line) = lines.next().expect("memory can be read") {
            told.push(match line.payload {
                Ok(payload) => format!("{}: {payload}", line.number),
                Err(why) => format!("{}: {why}", line.number),
            });
        }
        assert_eq!(told.join("\n"), expected);
    }

    #[test]
    fn every_line_is_a_payload_or_a_fault() {
        check("", "");
        check("\n \n", "");
        check("1\n\n{\"a\":2}", "1: 1\n3: {\"a\":2}");
        check("1\n{\"a\":}\n3\n", "1: 1\n2: it is no JSON: expected value at column 6\n3: 3");
        check("1 2\n", "1: it is no JSON: trailing characters at column 3");
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let max = usize::try_from(LINE_BYTES_MAX).expect("it fits");
        let text = format!("1\n{}\n3", "9".repeat(max + 1));
        check(&text, "1: 1\n2: it is longer than 16 MiB\n3: 3");
    }
}
