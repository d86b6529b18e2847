//! Rows of numbers: columns are found by name, fields are checked one by one.

use std::io::Read;

use super::error::TraceFileError;
use super::lines::Lines;

/// The latest time and the longest service of a file, some three hundred years.
///
/// Far enough for seconds since 1970, and short enough to be counted in nanoseconds.
pub const SECONDS_MAX: f64 = 1e10;
/// So much of a field or a first line is repeated in an error.
const QUOTED_CHARS_MAX: usize = 60;

/// A file after its first line.
pub(super) struct Table<'a> {
    lines: Lines<'a>,
    /// The first line.
    header: String,
    columns: usize,
    /// The columns that an error asks for.
    expected: &'static str,
}

/// A column: where it is, and what may stand there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    name: &'static str,
    index: usize,
    max: f64,
}

/// A row: its line, and the numbers of the columns that were asked for.
pub(super) struct Row<const N: usize> {
    pub(super) line: u64,
    pub(super) numbers: [f64; N],
}

impl<'a> Table<'a> {
    /// Reads the names of the columns; `expected` is what an error shows in their place.
    pub(super) fn open(
        source: impl Read + 'a,
        expected: &'static str,
    ) -> Result<Self, TraceFileError> {
        let mut lines = Lines::of(source)?;
        let header = match lines.next()? {
            Some((_, text)) => text.to_owned(),
            None => return Err(TraceFileError::Empty { expected }),
        };
        let columns = header.split(',').count();
        Ok(Self { lines, header, columns, expected })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names().any(|found| found == name)
    }

    /// The column of that name, which holds numbers from 0 to `max`.
    pub(super) fn column(&self, name: &'static str, max: f64) -> Result<Column, TraceFileError> {
        let mut places = self.names().enumerate().filter(|(_, found)| *found == name);
        match (places.next(), places.next()) {
            (Some((index, _)), None) => Ok(Column { name, index, max }),
            _ => {
                let (found, expected) = (quoted(&self.header), self.expected);
                Err(TraceFileError::Columns { column: name, found, expected })
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.header.split(',').map(str::trim)
    }

    /// The next row, with the numbers of these columns.
    pub(super) fn next_row<const N: usize>(
        &mut self,
        columns: &[Column; N],
    ) -> Result<Option<Row<N>>, TraceFileError> {
        let Some((line, text)) = self.lines.next()? else { return Ok(None) };
        let mut numbers = [0.0; N];
        let mut found = 0;
        for (index, field) in text.split(',').enumerate() {
            found += 1;
            if let Some(place) = columns.iter().position(|column| column.index == index) {
                numbers[place] = number(field.trim(), columns[place], line)?;
            }
        }
        if found != self.columns {
            return Err(TraceFileError::Fields { line, found, expected: self.columns });
        }
        Ok(Some(Row { line, numbers }))
    }
}

fn number(field: &str, column: Column, line: u64) -> Result<f64, TraceFileError> {
    let Column { name, max, .. } = column;
    // "NaN" and "inf" can be parsed; no number is between 0 and `max` and one of those.
    match field.parse::<f64>() {
        Ok(number) if (0.0..=max).contains(&number) => Ok(number),
        _ => Err(TraceFileError::Value { line, column: name, found: quoted(field), max }),
    }
}

/// The beginning of a text from a file that may hold anything.
fn quoted(text: &str) -> String {
    let mut beginning: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    if beginning.len() < text.len() {
        beginning.push_str("...");
    }
    beginning
}
