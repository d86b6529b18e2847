//! Jobs one by one, each with its size.

use std::io::Read;
use std::time::Duration;

use headcount_core::Timestamp;

use crate::load::Job;

use super::error::TraceFileError;
use super::table::{Column, SECONDS_MAX, Table};

/// The most jobs of a file; with room to grow they take less than 1 GB of memory.
pub const JOBS_MAX: usize = 10_000_000;

const EXPECTED: &str = "t_seconds,service_seconds or t_seconds,size_in_tokens,size_out_tokens";

/// What a request to a language model costs before the first token.
const SECONDS_PER_REQUEST: f64 = 0.02;
/// Reading is fast: the tokens that come in are worked on together.
const SECONDS_PER_TOKEN_IN: f64 = 0.0002;
/// Writing is slow: one token after the other.
const SECONDS_PER_TOKEN_OUT: f64 = 0.02;

/// Where the size of a job stands.
enum Sizes {
    Seconds(Column),
    Tokens([Column; 2]),
}

/// Reads a file of jobs, plain or packed, in the order of their arrival.
///
/// Their size is `service_seconds`; where there is no such column, it is worked out from
/// `size_in_tokens` and `size_out_tokens` by [`tokens_to_size`].
///
/// ```
/// use headcount_sim::load::trace_file::read_jobs;
/// use std::time::Duration;
///
/// let file = "t_seconds,service_seconds,succeeded\n0.5,32,1\n0.75,4,0\n";
/// let jobs = read_jobs(file.as_bytes())?;
/// assert_eq!(jobs[1].size, Duration::from_secs(4));
/// # Ok::<(), headcount_sim::load::trace_file::TraceFileError>(())
/// ```
///
/// # Errors
///
/// Where the file is no such table, or is longer than is read.
pub fn read_jobs(source: impl Read) -> Result<Vec<Job>, TraceFileError> {
    let mut table = Table::open(source, EXPECTED)?;
    let time = table.column("t_seconds", SECONDS_MAX)?;
    let sizes = sizes(&table)?;

    let mut jobs = Jobs::default();
    while let Some((line, at, size)) = next_job(&mut table, time, &sizes)? {
        jobs.push(line, at, size)?;
    }
    match jobs.read.is_empty() {
        true => Err(TraceFileError::NoRows),
        false => Ok(jobs.read),
    }
}

/// How long one worker is busy with a request to a language model: 20 ms, and 0.2 ms for each
/// token that comes in, and 20 ms for each that goes out.
///
/// ```
/// use headcount_sim::load::trace_file::tokens_to_size;
/// use std::time::Duration;
///
/// assert_eq!(tokens_to_size(5_000.0, 49.0), Duration::from_secs(2));
/// ```
#[must_use]
pub fn tokens_to_size(tokens_in: f64, tokens_out: f64) -> Duration {
    let writing = SECONDS_PER_TOKEN_OUT * tokens_out;
    span(SECONDS_PER_REQUEST + SECONDS_PER_TOKEN_IN * tokens_in + writing)
}

fn sizes(table: &Table<'_>) -> Result<Sizes, TraceFileError> {
    // Whoever has neither is told of the simpler one.
    if table.has("service_seconds") || !table.has("size_in_tokens") {
        return Ok(Sizes::Seconds(table.column("service_seconds", SECONDS_MAX)?));
    }
    let tokens_in = table.column("size_in_tokens", SECONDS_MAX)?;
    let tokens_out = table.column("size_out_tokens", SECONDS_MAX)?;
    Ok(Sizes::Tokens([tokens_in, tokens_out]))
}

/// The next job: its line, its time, its size.
fn next_job(
    table: &mut Table<'_>,
    time: Column,
    sizes: &Sizes,
) -> Result<Option<(u64, f64, Duration)>, TraceFileError> {
    Ok(match *sizes {
        Sizes::Seconds(seconds) => {
            let row = table.next_row(&[time, seconds])?;
            row.map(|row| (row.line, row.numbers[0], span(row.numbers[1])))
        }
        Sizes::Tokens([tokens_in, tokens_out]) => {
            let row = table.next_row(&[time, tokens_in, tokens_out])?;
            row.map(|row| (row.line, row.numbers[0], row.numbers))
                .map(|(line, at, [_, read, written])| (line, at, tokens_to_size(read, written)))
        }
    })
}

/// A number of seconds from a table, or worked out from one.
fn span(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

/// The jobs so far.
#[derive(Default)]
struct Jobs {
    read: Vec<Job>,
    last: f64,
}

impl Jobs {
    fn push(&mut self, line: u64, at: f64, size: Duration) -> Result<(), TraceFileError> {
        if self.read.len() == JOBS_MAX {
            let (what, max) = ("jobs", JOBS_MAX as u64);
            return Err(TraceFileError::TooMuch { line, what, max });
        }
        if at < self.last {
            return Err(TraceFileError::Unsorted { line, found: at, before: self.last });
        }
        self.last = at;
        self.read.push(Job { at: Timestamp::ORIGIN + span(at), size, class: 0 });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expected: &str) {
        let told = match read_jobs(file.as_bytes()) {
            Ok(jobs) => {
                let told = jobs.iter().map(|job| format!("{}+{:?}", job.at, job.size));
                told.collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(told, expected, "{file:?}");
    }

    #[test]
    fn sizes_are_seconds_or_tokens() {
        check("t_seconds,service_seconds\n0,1.5\n0,0\n", "0.000 s+1.5s 0.000 s+0ns");
        check("size_out_tokens,t_seconds,size_in_tokens\n10,3,100\n", "3.000 s+240ms");
        let both = "t_seconds,size_in_tokens,size_out_tokens,service_seconds\n1,9,9,2\n";
        check(both, "1.000 s+2s");
    }

    #[test]
    fn both_kinds_of_tokens_are_needed() {
        check(
            "t_seconds,size_in_tokens\n0,1\n",
            "line 1: column size_out_tokens should be named once in \"t_seconds,size_in_tokens\"; \
             begin the file with t_seconds,service_seconds or \
             t_seconds,size_in_tokens,size_out_tokens",
        );
    }

    #[test]
    fn jobs_come_in_order() {
        check(
            "t_seconds,service_seconds\n7,1\n5,1\n",
            "line 3: t_seconds is 5 after 7; sort the lines by t_seconds",
        );
    }
}
