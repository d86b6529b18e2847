//! The lines of a file, unpacked on the way, one at a time and none of them too long.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

use super::error::TraceFileError;

/// The most bytes of a line, with its end.
pub const LINE_BYTES_MAX: usize = 4096;
/// The most bytes of a file, unpacked: a gzip of a megabyte can hold a thousand times as much.
pub const UNPACKED_BYTES_MAX: u64 = 2 << 30;

/// The most lines of a file with nothing in them: two gigabytes of these would take a minute.
pub const BLANK_LINES_MAX: u64 = 10_000_000;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Some editors put these bytes before the first line of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Hands out the lines that have something in them.
pub(super) struct Lines<'a> {
    source: Box<dyn BufRead + 'a>,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    blank: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn of(source: impl Read + 'a) -> Result<Self, TraceFileError> {
        let source = unpacked(source).map_err(|why| unreadable(1, &why))?;
        let line = Vec::with_capacity(LINE_BYTES_MAX);
        Ok(Self { source, line, number: 0, bytes: 0, blank: 0 })
    }

    /// The next line that is not empty, with its number.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &str)>, TraceFileError> {
        while self.read_line()? {
            if !self.line.trim_ascii().is_empty() {
                return self.text().map(Some);
            }
            self.blank += 1;
            if BLANK_LINES_MAX < self.blank {
                let (line, max) = (self.number, BLANK_LINES_MAX);
                return Err(TraceFileError::Blank { line, max });
            }
        }
        Ok(None)
    }

    /// Whether there was another line.
    fn read_line(&mut self) -> Result<bool, TraceFileError> {
        self.line.clear();
        self.number += 1;
        let line = self.number;
        // One byte more than is allowed, so that a line of just that many is told from a longer.
        let mut limited = (&mut self.source).take(LINE_BYTES_MAX as u64 + 1);
        let read = limited.read_until(b'\n', &mut self.line);
        let read = read.map_err(|why| unreadable(line, &why))?;
        if LINE_BYTES_MAX < read {
            return Err(TraceFileError::LineTooLong { line, max: LINE_BYTES_MAX });
        }
        self.bytes += read as u64;
        if UNPACKED_BYTES_MAX < self.bytes {
            let (what, max) = ("bytes, unpacked", UNPACKED_BYTES_MAX);
            return Err(TraceFileError::TooMuch { line, what, max });
        }
        Ok(0 < read)
    }

    fn text(&self) -> Result<(u64, &str), TraceFileError> {
        let text = str::from_utf8(&self.line);
        let text = text.map_err(|_| TraceFileError::NotText { line: self.number })?;
        let text = if self.number == 1 { text.trim_start_matches(BYTE_ORDER_MARK) } else { text };
        Ok((self.number, text.trim()))
    }
}

/// The first bytes say whether it is packed; names can be wrong.
fn unpacked<'a>(mut source: impl Read + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut first = Vec::with_capacity(GZIP_MAGIC.len());
    (&mut source).take(GZIP_MAGIC.len() as u64).read_to_end(&mut first)?;
    let is_packed = first == GZIP_MAGIC;
    let whole = BufReader::new(io::Cursor::new(first).chain(source));
    Ok(match is_packed {
        true => Box::new(BufReader::new(Members { current: Some(GzDecoder::new(whole)) })),
        false => Box::new(whole),
    })
}

/// Packed data, which may be several pieces one after the other.
struct Members<R> {
    /// `None`: all were read.
    current: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(current) = &mut self.current {
            let read = current.read(buffer)?;
            if 0 < read || buffer.is_empty() {
                return Ok(read);
            }
            self.current = self.current.take().map(GzDecoder::into_inner).map_or(Ok(None), next)?;
        }
        Ok(0)
    }
}

/// The piece that follows. Bytes that are none are told as such: nothing was cut short.
fn next<R: BufRead>(mut rest: R) -> io::Result<Option<GzDecoder<R>>> {
    match rest.fill_buf()?.first() {
        None => Ok(None),
        Some(first) if *first == GZIP_MAGIC[0] => Ok(Some(GzDecoder::new(rest))),
        Some(_) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "bytes that are not gzip follow the packed data; cut them off, or pack it anew",
        )),
    }
}

fn unreadable(line: u64, why: &io::Error) -> TraceFileError {
    match why.kind() {
        io::ErrorKind::UnexpectedEof => TraceFileError::CutShort { line },
        _ => TraceFileError::Unreadable { line, why: why.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        let mut lines = Lines::of(bytes).unwrap();
        let mut told = Vec::new();
        loop {
            match lines.next() {
                Ok(Some((number, text))) => told.push(format!("{number}:{text}")),
                Ok(None) => break,
                Err(error) => {
                    told.push(error.to_string());
                    break;
                }
            }
        }
        assert_eq!(told.join("|"), expected);
    }

    #[test]
    fn empty_lines_count_and_are_passed_over() {
        check(b"", "");
        check(b"a\n\r\n  \nb\r\nc", "1:a|4:b|5:c");
        check(b"\n\n", "");
    }

    #[test]
    fn there_is_an_end_to_lines_with_nothing_in_them() {
        #[expect(clippy::cast_possible_truncation, reason = "ten million")]
        let blank = vec![b'\n'; BLANK_LINES_MAX as usize];
        check(&[&b"a\n"[..], &blank, b"b\n"].concat(), "1:a|10000002:b");
        check(&[&b"a\n"[..], &blank, b"\nb\n"].concat(), {
            "1:a|line 10000002: more than 10000000 lines with nothing in them; remove them"
        });
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_column() {
        check("\u{feff}a,b\n".as_bytes(), "1:a,b");
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let longest = "x".repeat(LINE_BYTES_MAX - 1);
        check(format!("a\n{longest}\nb").as_bytes(), &format!("1:a|2:{longest}|3:b"));
        check(
            format!("a\nx{longest}\nb").as_bytes(),
            "1:a|line 2: more than 4096 bytes without an end; is this a CSV file?",
        );
    }

    #[test]
    fn one_byte_at_a_time_is_as_good_as_all_of_them() {
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let one = buffer.len().min(1);
                self.0.read(&mut buffer[..one])
            }
        }
        let packed = super::super::azure::arrivals();
        let mut lines = Lines::of(Slow(packed)).unwrap();
        assert_eq!(lines.next().unwrap(), Some((1, "t_seconds,arrivals")));
    }
}
