//! Reads a trace.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::row::{Header, Row, VERSION, VERSION_MIN};

/// A line that is longer is no line of a trace.
const LINE_MAX: u64 = 1 << 20;

/// The rows of a trace, one after the other.
///
/// ```
/// use headcount::trace::{Row, TraceReader};
///
/// let row = "{\"pool\":\"a\",\"policy\":{},\"notes\":[]}\n";
/// let text = format!("{{\"headcount_trace\":1}}\n{row}{}", &row[..9]);
/// let mut reader = TraceReader::new(text.as_bytes())?;
/// let rows = reader.by_ref().collect::<Result<Vec<Row>, _>>()?;
/// assert_eq!(rows.len(), 1, "the last line was cut off and is left out");
/// assert!(reader.is_cut_off());
///
/// let error = TraceReader::new(&b"{\"headcount_trace\":7}\n"[..]).err().expect("of the future");
/// assert_eq!(error.to_string(), "line 1: the trace has version 7; this program reads 1 to 2");
/// # Ok::<(), headcount::trace::TraceError>(())
/// ```
#[derive(Debug)]
pub struct TraceReader<R> {
    lines: R,
    number: u64,
    failed: bool,
    cut_off: bool,
}

impl TraceReader<BufReader<File>> {
    /// The trace in a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no trace, or is of another version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let file = File::open(path).map_err(|error| TraceError::of(0, error))?;
        Self::new(BufReader::new(file))
    }
}

impl<R: BufRead> TraceReader<R> {
    /// The trace that `lines` holds.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is no trace, or is of another version.
    pub fn new(lines: R) -> Result<Self, TraceError> {
        let mut reader = Self { lines, number: 0, failed: false, cut_off: false };
        let Some(first) = reader.line()? else {
            let what = if reader.cut_off { "its first line is cut off" } else { "it is empty" };
            return Err(TraceError::of(0, format!("this is no trace; {what}")));
        };
        let header: Header = serde_json::from_slice(&first).map_err(|_| {
            TraceError::of(1, "this is no trace; its first line is {\"headcount_trace\":2}")
        })?;
        match header.headcount_trace {
            VERSION_MIN..=VERSION => Ok(reader),
            other => {
                let read = format!("{VERSION_MIN} to {VERSION}");
                let text = format!("the trace has version {other}; this program reads {read}");
                Err(TraceError::of(1, text))
            }
        }
    }

    /// The next line that is whole. `None`: there is none.
    fn line(&mut self) -> Result<Option<Vec<u8>>, TraceError> {
        let (mut line, number) = (Vec::new(), self.number + 1);
        let mut limited = self.lines.by_ref().take(LINE_MAX);
        limited.read_until(b'\n', &mut line).map_err(|error| TraceError::of(number, error))?;
        if line.pop_if(|last| *last == b'\n').is_none() {
            return match line.len() as u64 {
                LINE_MAX => {
                    Err(TraceError::of(number, format!("it is longer than {LINE_MAX} bytes")))
                }
                len => {
                    self.cut_off = 0 < len;
                    Ok(None)
                }
            };
        }
        self.number = number;
        Ok(Some(line))
    }

    fn row(&mut self) -> Result<Option<Row>, TraceError> {
        let Some(line) = self.line()? else { return Ok(None) };
        let row = serde_json::from_slice(&line);
        row.map(Some).map_err(|_| {
            let what = "this is neither a decision nor a policy; the file is damaged, or a program \
                        of another version wrote it";
            TraceError::of(self.number, what)
        })
    }

    /// The line that was read last, counted from 1.
    #[must_use]
    pub fn line_number(&self) -> u64 {
        self.number
    }

    /// Whether the last line was cut off and is left out. Known at the end.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Row, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let row = self.row();
        self.failed = row.is_err();
        row.transpose()
    }
}

/// Why a trace cannot be read, and where.
///
/// ```
/// use headcount::trace::TraceReader;
///
/// let error = TraceReader::open("/no/such/trace").err().expect("it is not there");
/// assert!(error.to_string().contains("No such file"), "{error}");
/// ```
#[derive(Debug)]
pub struct TraceError {
    line: u64,
    cause: String,
}

impl TraceError {
    fn of(line: u64, cause: impl fmt::Display) -> Self {
        Self { line, cause: cause.to_string() }
    }

    /// The line it is in, counted from 1. 0: the file itself.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.cause),
            line => write!(f, "line {line}: {}", self.cause),
        }
    }
}

impl std::error::Error for TraceError {}
