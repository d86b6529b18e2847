//! How many came in each step of time.

use std::io::Read;
use std::time::Duration;

use headcount_core::Timestamp;

use super::error::TraceFileError;
use super::table::{Row, SECONDS_MAX, Table};

/// The most buckets of a file: four months of seconds, and 80 MB of memory.
pub const BUCKETS_MAX: usize = 10_000_000;
/// The most arrivals of one bucket.
pub const ARRIVALS_PER_BUCKET_MAX: f64 = 1e9;

const EXPECTED: &str = "t_seconds,arrivals";
/// Times are written with so many digits; a step may be off by this part of itself.
const STEP_TOLERANCE: f64 = 1e-3;

/// Counts of arrivals in buckets of equal length, without a gap.
///
/// ```
/// use headcount_sim::load::trace_file::Arrivals;
/// use std::time::Duration;
///
/// let file = "t_seconds,arrivals\n0,12\n60,0\n120,7\n";
/// let arrivals = Arrivals::read(file.as_bytes())?;
/// assert_eq!(arrivals.step, Duration::from_secs(60));
/// assert_eq!(arrivals.counts, [12.0, 0.0, 7.0]);
/// assert_eq!(arrivals.span(), Duration::from_secs(180));
/// # Ok::<(), headcount_sim::load::trace_file::TraceFileError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// When the first bucket begins.
    pub start: Timestamp,
    /// How long a bucket is.
    pub step: Duration,
    /// How many came in each; a mean where the load was scaled, so not always whole.
    pub counts: Vec<f64>,
}

impl Arrivals {
    /// Reads a file, plain or packed; the step is that of the first two lines.
    ///
    /// # Errors
    ///
    /// Where the file is no such table, is longer than is read, or has one bucket only.
    pub fn read(source: impl Read) -> Result<Self, TraceFileError> {
        Self::read_by(source, None)
    }

    /// Reads a file, plain or packed, whose step is known, as its name may tell it.
    ///
    /// # Errors
    ///
    /// Where the file is no such table, is longer than is read, or has another step.
    pub fn read_with_step(source: impl Read, step: Duration) -> Result<Self, TraceFileError> {
        Self::read_by(source, Some(step.as_secs_f64()))
    }

    /// How many came in all.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// From the beginning of the first bucket to the end of the last.
    #[must_use]
    pub fn span(&self) -> Duration {
        self.step.saturating_mul(u32::try_from(self.counts.len()).unwrap_or(u32::MAX))
    }

    fn read_by(source: impl Read, step: Option<f64>) -> Result<Self, TraceFileError> {
        let mut table = Table::open(source, EXPECTED)?;
        let time = table.column("t_seconds", SECONDS_MAX)?;
        let count = table.column("arrivals", ARRIVALS_PER_BUCKET_MAX)?;

        let mut rows = Buckets { step, ..Buckets::default() };
        while let Some(row) = table.next_row(&[time, count])? {
            rows.push(&row)?;
        }
        rows.done()
    }
}

/// The buckets so far.
#[derive(Default)]
struct Buckets {
    step: Option<f64>,
    first: f64,
    last: f64,
    counts: Vec<f64>,
}

impl Buckets {
    fn push(&mut self, row: &Row<2>) -> Result<(), TraceFileError> {
        let (line, [at, count]) = (row.line, row.numbers);
        if self.counts.len() == BUCKETS_MAX {
            let (what, max) = ("buckets", BUCKETS_MAX as u64);
            return Err(TraceFileError::TooMuch { line, what, max });
        }
        match self.counts.is_empty() {
            true => self.first = at,
            false => self.follows(line, at)?,
        }
        self.last = at;
        self.counts.push(count);
        Ok(())
    }

    fn follows(&mut self, line: u64, at: f64) -> Result<(), TraceFileError> {
        let found = at - self.last;
        // A step that rounds to no time at all is none.
        if found < 1e-9 {
            return Err(TraceFileError::Unsorted { line, found: at, before: self.last });
        }
        let step = *self.step.get_or_insert(found);
        if step * STEP_TOLERANCE < (found - step).abs() {
            let expected = self.last + step;
            return Err(TraceFileError::Uneven { line, found: at, expected, step });
        }
        Ok(())
    }

    fn done(self) -> Result<Arrivals, TraceFileError> {
        if self.counts.is_empty() {
            return Err(TraceFileError::NoRows);
        }
        let Some(step) = self.step else { return Err(TraceFileError::StepUnknown) };
        Ok(Arrivals {
            start: Timestamp::ORIGIN + Duration::from_secs_f64(self.first),
            step: Duration::from_secs_f64(step),
            counts: self.counts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expected: &str) {
        let told = match Arrivals::read(file.as_bytes()) {
            Ok(Arrivals { start, step, counts }) => format!("{start} {step:?} {counts:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(told, expected, "{file:?}");
    }

    #[test]
    fn buckets_are_read_with_their_step() {
        check("t_seconds,arrivals\n0,7\n1,5\n2,0\n", "0.000 s 1s [7.0, 5.0, 0.0]");
        check("t_seconds,arrivals\n30,1\n90,2.5", "30.000 s 60s [1.0, 2.5]");
        check("t_seconds,arrivals\n0,1\n0.1,1\n0.2,1\n0.30000000000000004,1\n", {
            "0.000 s 100ms [1.0, 1.0, 1.0, 1.0]"
        });
    }

    #[test]
    fn columns_are_found_by_name() {
        check("arrivals , note,t_seconds\n4,x,0\n 5 ,y, 10\n", "0.000 s 10s [4.0, 5.0]");
    }

    #[test]
    fn steps_are_even() {
        check(
            "t_seconds,arrivals\n0,1\n60,1\n180,1\n",
            "line 4: t_seconds is 180 where 120 should follow by the step of 60 s; list every \
             bucket, those with 0 arrivals too",
        );
        check(
            "t_seconds,arrivals\n0,1\n60,1\n60,1\n",
            "line 4: t_seconds is 60 after 60; sort the lines by t_seconds",
        );
    }

    #[test]
    fn a_step_that_is_known_beforehand_must_be_that_of_the_file() {
        let one = "t_seconds,arrivals\n5,3\n";
        check(one, {
            "line 2 is the only bucket, so its length is unknown; add one, or say the step in the \
             name of the file, as in web_60s.arrivals.csv"
        });
        let second = Duration::from_secs(1);
        assert_eq!(Arrivals::read_with_step(one.as_bytes(), second).unwrap().step, second);

        let minutes = "t_seconds,arrivals\n0,3\n60,3\n";
        let error = Arrivals::read_with_step(minutes.as_bytes(), second).unwrap_err();
        let expected = TraceFileError::Uneven { line: 3, found: 60.0, expected: 1.0, step: 1.0 };
        assert_eq!(error, expected);
    }
}
