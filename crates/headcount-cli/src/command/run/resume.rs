//! What an earlier run has done already.
//!
//! Sixteen bytes for each job that ended: its number and a hash of its command. The command is
//! compared, for a log and an input that do not belong together would skip the wrong jobs.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::joblog;

/// Which of the jobs in the log are not run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resume {
    /// Those that ended.
    Ended,
    /// Those that ended well.
    Succeeded,
}

/// What an earlier run has done.
#[derive(Debug, Default)]
pub(super) struct Done {
    commands: BTreeMap<u64, u64>,
}

impl Done {
    /// Reads a log; one that is not there has nothing done.
    pub(super) fn read(path: &Path, resume: Resume) -> io::Result<Self> {
        match File::open(path) {
            Ok(file) => Self::of(BufReader::new(file), resume),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    fn of(mut log: impl BufRead, resume: Resume) -> io::Result<Self> {
        let mut done = Self::default();
        let mut line = Vec::new();
        while 0 < log.read_until(b'\n', &mut line)? {
            // A line without its end was cut off: that job counts as not done.
            if let Some((sequence, is_well, command)) =
                line.strip_suffix(b"\n").and_then(joblog::parse)
            {
                match resume == Resume::Ended || is_well {
                    true => done.commands.insert(sequence, hashed(&command)),
                    false => done.commands.remove(&sequence),
                };
            }
            line.clear();
        }
        Ok(done)
    }

    /// Whether the job of this number is done.
    pub(super) fn has(&self, sequence: u64) -> bool {
        self.commands.contains_key(&sequence)
    }

    /// Whether it was done with this command.
    pub(super) fn was(&self, sequence: u64, command: &[u8]) -> bool {
        self.commands.get(&sequence) == Some(&hashed(command))
    }
}

fn hashed(command: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    command.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n\
                       2\t:\t1.0\t0.1\t0\t0\t0\t0\techo b\n\
                       1\t:\t1.0\t0.1\t0\t0\t3\t0\techo a\n\
                       4\t:\t1.0\t0.1\t0\t0\t0\t0\techo d";

    fn check(log: &str, resume: Resume, expected: &[u64]) {
        let done = Done::of(log.as_bytes(), resume).expect("memory can be read");
        assert_eq!((1..9).filter(|n| done.has(*n)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_whole_line_is_a_job_that_ended() {
        check(LOG, Resume::Ended, &[1, 2]);
        check(LOG, Resume::Succeeded, &[2]);
        check("", Resume::Ended, &[]);
    }

    #[test]
    fn the_last_line_of_a_job_counts() {
        let again = format!("{LOG}\n1\t:\t2.0\t0.1\t0\t0\t0\t0\techo a\n");
        check(&again, Resume::Succeeded, &[1, 2, 4]);
        let worse = format!("{LOG}\n2\t:\t2.0\t0.1\t0\t0\t9\t0\techo b\n");
        check(&worse, Resume::Succeeded, &[4]);
    }

    #[test]
    fn the_command_is_compared() {
        let done = Done::of(LOG.as_bytes(), Resume::Ended).expect("memory can be read");
        assert!(done.was(2, b"echo b"));
        assert!(!done.was(2, b"echo c"));
    }
}
