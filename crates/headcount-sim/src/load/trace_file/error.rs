//! What can be wrong with a file, in words that help to put it right.

use std::fmt;

/// Why a file is no load: where, what stands there, what to do.
///
/// ```
/// use headcount_sim::load::trace_file::Arrivals;
///
/// let file = "t_seconds,arrivals\n0,4\n1,-3\n";
/// let error = Arrivals::read(file.as_bytes()).unwrap_err();
/// let told = "line 3: arrivals is \"-3\"; write a number from 0 to 1000000000";
/// assert_eq!(error.to_string(), told);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TraceFileError {
    /// Nothing is in it.
    Empty {
        /// The columns that the first line should name.
        expected: &'static str,
    },
    /// The columns are named, and nothing follows.
    NoRows,
    /// The first line does not name a column, or names it twice.
    Columns {
        /// The column.
        column: &'static str,
        /// The first line.
        found: String,
        /// The columns that the first line should name.
        expected: &'static str,
    },
    /// A line has more or fewer fields than there are columns.
    Fields {
        /// Its number, from 1.
        line: u64,
        /// How many fields it has.
        found: usize,
        /// How many columns there are.
        expected: usize,
    },
    /// A field is not a number, or not one that can be meant.
    Value {
        /// The number of the line, from 1.
        line: u64,
        /// The column.
        column: &'static str,
        /// What stands there.
        found: String,
        /// The largest number that may.
        max: f64,
    },
    /// A line is earlier than the one before it.
    Unsorted {
        /// Its number, from 1.
        line: u64,
        /// Its time.
        found: f64,
        /// The time before.
        before: f64,
    },
    /// A bucket does not follow the one before it by one step.
    Uneven {
        /// The number of the line, from 1.
        line: u64,
        /// Its time.
        found: f64,
        /// The time that it should have.
        expected: f64,
        /// The step.
        step: f64,
    },
    /// There is one bucket, so nobody knows how long it is.
    StepUnknown,
    /// Too many lines have nothing in them.
    Blank {
        /// The number of the first that is too many, from 1.
        line: u64,
        /// How many there may be.
        max: u64,
    },
    /// A line is not text.
    NotText {
        /// Its number, from 1.
        line: u64,
    },
    /// A line is longer than any line of such a file.
    LineTooLong {
        /// Its number, from 1.
        line: u64,
        /// The most bytes that it may have.
        max: usize,
    },
    /// There is more of something than is read.
    TooMuch {
        /// The number of the line, from 1.
        line: u64,
        /// Of what.
        what: &'static str,
        /// The most that is read.
        max: u64,
    },
    /// The file, or the packed data in it, ends before its end.
    CutShort {
        /// The number of the line, from 1.
        line: u64,
    },
    /// It could not be read, or what is packed in it could not be unpacked.
    Unreadable {
        /// The number of the line, from 1.
        line: u64,
        /// What the system, or the unpacker, says.
        why: String,
    },
}

impl fmt::Display for TraceFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { expected } => {
                write!(f, "the file is empty; its first line names the columns: {expected}")
            }
            Self::NoRows => write!(f, "line 1 names the columns and nothing follows; add lines"),
            Self::Columns { column, found, expected } => write!(
                f,
                "line 1: column {column} should be named once in {found:?}; begin the file with \
                 {expected}"
            ),
            Self::Fields { line, found, expected } => write!(
                f,
                "line {line}: {found} {} where there are {expected} columns; write one for each",
                if *found == 1 { "field" } else { "fields" }
            ),
            Self::Value { line, column, found, max } => {
                write!(f, "line {line}: {column} is {found:?}; write a number from 0 to {max}")
            }
            Self::LineTooLong { line, max } => {
                write!(f, "line {line}: more than {max} bytes without an end; is this a CSV file?")
            }
            Self::NotText { line } => write!(
                f,
                "line {line}: bytes that are not UTF-8; hand in text, plain or packed with gzip"
            ),
            Self::TooMuch { line, what, max } => write!(
                f,
                "line {line}: more than {max} {what}; cut the file up, or use longer steps"
            ),
            Self::Blank { line, max } => {
                write!(f, "line {line}: more than {max} lines with nothing in them; remove them")
            }
            Self::CutShort { line } => write!(
                f,
                "line {line}: the packed data ends too soon; the file was cut short, fetch it again"
            ),
            Self::Unreadable { line, why } => write!(f, "line {line}: unreadable: {why}"),
            Self::Unsorted { .. } | Self::Uneven { .. } | Self::StepUnknown => self.say_order(f),
        }
    }
}

impl TraceFileError {
    /// What is wrong with the times.
    fn say_order(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsorted { line, found, before } => write!(
                f,
                "line {line}: t_seconds is {found} after {before}; sort the lines by t_seconds"
            ),
            Self::Uneven { line, found, expected, step } => write!(
                f,
                "line {line}: t_seconds is {found} where {expected} should follow by the step of \
                 {step} s; list every bucket, those with 0 arrivals too"
            ),
            _ => write!(
                f,
                "line 2 is the only bucket, so its length is unknown; add one, or say the step in \
                 the name of the file, as in web_60s.arrivals.csv"
            ),
        }
    }
}

impl std::error::Error for TraceFileError {}
