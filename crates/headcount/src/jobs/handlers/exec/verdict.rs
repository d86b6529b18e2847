//! What follows from how a program ended.

use std::process::ExitStatus;
use std::time::Duration;

use headcount_queue::JobError;

/// The program asks to be called again later: `EX_TEMPFAIL` of sysexits.
const LATER: i32 = 75;
/// The program will never like this payload: `EX_DATAERR` of sysexits.
const USELESS: i32 = 65;

/// How a program came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Alone,
    /// It was stopped, because it took longer than this.
    TimedOut(Duration),
    /// It was stopped, because nobody wants it any more.
    Cancelled,
}

/// Which exit codes mean what.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    pub(super) dead: Vec<u8>,
    pub(super) snooze: Duration,
}

impl Codes {
    /// What follows, with the last words of the program.
    pub(super) fn verdict(
        &self,
        end: End,
        status: ExitStatus,
        words: &str,
    ) -> Result<(), JobError> {
        match (end, status.code()) {
            (End::Cancelled, _) => Err(JobError::preempted()),
            (End::TimedOut(limit), _) => {
                let why = format!("took longer than {} s and was stopped", limit.as_secs_f64());
                Err(JobError::failed(said(&why, words)))
            }
            (End::Alone, Some(0)) => Ok(()),
            (End::Alone, Some(LATER)) => {
                let why = said("exit code 75, to be tried later", words);
                Err(JobError::snooze(self.snooze).because(why))
            }
            (End::Alone, Some(code)) if self.is_dead(code) => {
                Err(JobError::dead(said(&format!("exit code {code}, given up"), words)))
            }
            (End::Alone, Some(code)) => {
                Err(JobError::failed(said(&format!("exit code {code}"), words)))
            }
            (End::Alone, None) => Err(JobError::failed(said(&by_signal(status), words))),
        }
    }

    fn is_dead(&self, code: i32) -> bool {
        code == USELESS || self.dead.iter().any(|dead| i32::from(*dead) == code)
    }
}

fn by_signal(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status.signal() {
        Some(signal) => format!("ended by signal {signal}"),
        None => "ended nobody knows how".to_owned(),
    }
}

fn said(why: &str, words: &str) -> String {
    match words.is_empty() {
        true => why.to_owned(),
        false => format!("{why}: {words}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[track_caller]
    fn check(end: End, raw: i32, expected: &str) {
        let codes = Codes { dead: vec![3], snooze: Duration::from_secs(7) };
        let told = match codes.verdict(end, ExitStatus::from_raw(raw), "oh") {
            Ok(()) => "done".to_owned(),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn the_exit_code_decides() {
        check(End::Alone, 0, "done");
        check(End::Alone, 1 << 8, "JobError(Retry: exit code 1: oh)");
        check(End::Alone, 3 << 8, "JobError(Dead: exit code 3, given up: oh)");
        check(End::Alone, 65 << 8, "JobError(Dead: exit code 65, given up: oh)");
        check(End::Alone, 75 << 8, "JobError(Snooze(7s): exit code 75, to be tried later: oh)");
        check(End::Alone, 11, "JobError(Retry: ended by signal 11: oh)");
        // What it says about itself counts for nothing once it was stopped.
        let late = End::TimedOut(Duration::from_millis(1500));
        check(late, 0, "JobError(Retry: took longer than 1.5 s and was stopped: oh)");
        check(End::Cancelled, 3 << 8, "JobError(Preempted: its handler stopped as it was asked)");
    }
}
