//! The log of jobs: one line each, in the columns of GNU parallel.
//!
//! A line is written in one call to a file opened for appending, so that it is there as a whole or
//! not at all, also when we are killed. A newline in a command is written as a zero byte, which no
//! argument can hold.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const HEADER: &str =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";

/// A job that ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) sequence: u64,
    pub(super) began: SystemTime,
    pub(super) took: Duration,
    /// Bytes of output.
    pub(super) received: u64,
    /// -1 for a job that ran out of time.
    pub(super) exit_value: i32,
    pub(super) signal: i32,
    pub(super) command: Vec<u8>,
}

impl Entry {
    pub(super) fn line(&self) -> Vec<u8> {
        let began = self.began.duration_since(UNIX_EPOCH).unwrap_or_default();
        let head = format!(
            "{}\t:\t{}.{:03}\t{:10.3}\t0\t{}\t{}\t{}\t",
            self.sequence,
            began.as_secs(),
            began.subsec_millis(),
            self.took.as_secs_f64(),
            self.received,
            self.exit_value,
            self.signal
        );
        let mut line = head.into_bytes();
        line.extend(self.command.iter().map(|byte| if *byte == b'\n' { 0 } else { *byte }));
        line.push(b'\n');
        line
    }
}

/// What a line tells of a job: its number, whether it went well, and its command.
pub(super) fn parse(line: &[u8]) -> Option<(u64, bool, Vec<u8>)> {
    let mut fields = line.splitn(9, |byte| *byte == b'\t');
    let mut text = || std::str::from_utf8(fields.next()?).ok().map(str::trim);
    let sequence = text()?.parse().ok()?;
    let (_host, _began, _took) = (text()?, text()?, text()?);
    let (_sent, _received) = (text()?, text()?);
    let (exit_value, signal) = (text()?.parse::<i32>().ok()?, text()?.parse::<i32>().ok()?);
    let command = fields.next()?;
    let command = command.iter().map(|byte| if *byte == 0 { b'\n' } else { *byte }).collect();
    Some((sequence, exit_value == 0 && signal == 0, command))
}

/// An open log.
#[derive(Debug)]
pub(super) struct Joblog {
    file: Mutex<File>,
}

impl Joblog {
    /// Opens a log to go on with, or a new one in place of what is there.
    pub(super) fn open(path: &Path, goes_on: bool) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        let mut file = options.open(path)?;
        if !goes_on {
            file.set_len(0)?;
        }
        let len = file.seek(SeekFrom::End(0))?;
        if len == 0 {
            file.write_all(HEADER.as_bytes())?;
        } else {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                // Half a line of a full disk: it ends here, and is no line.
                file.write_all(b"\n")?;
            }
        }
        Ok(Self { file: Mutex::new(file) })
    }

    pub(super) fn write(&self, entry: &Entry) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&entry.line())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            sequence: 3,
            began: UNIX_EPOCH + Duration::from_millis(1_794_797_884_784),
            took: Duration::from_millis(14),
            received: 5,
            exit_value: 2,
            signal: 0,
            command: b"echo 'a\nb\tc'".to_vec(),
        }
    }

    #[test]
    fn a_line_has_the_columns_of_parallel() {
        let line = entry().line();
        let expected = "3\t:\t1794797884.784\t     0.014\t0\t5\t2\t0\techo 'a\0b\tc'\n";
        assert_eq!(String::from_utf8_lossy(&line), expected);
        assert_eq!(HEADER.split('\t').count(), 9);
    }

    #[test]
    fn what_is_written_is_read() {
        let line = entry().line();
        let read = parse(&line[..line.len() - 1]);
        assert_eq!(read, Some((3, false, b"echo 'a\nb\tc'".to_vec())));
    }

    #[test]
    fn half_a_line_and_the_header_are_no_jobs() {
        assert_eq!(parse(HEADER.trim_end().as_bytes()), None);
        let line = entry().line();
        assert_eq!(parse(&line[..20]), None);
        assert_eq!(parse(b""), None);
    }
}
