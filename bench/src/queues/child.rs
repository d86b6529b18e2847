//! A process that the benchmark started. It is killed when its handle is dropped.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{self, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;

/// A process, and the lines that it prints.
#[derive(Debug)]
pub(super) struct Child {
    process: process::Child,
    input: ChildStdin,
    lines: Receiver<String>,
    log: PathBuf,
}

impl Child {
    /// Starts it, with its complaints in the file `log`.
    pub(super) fn start(mut command: Command, log: PathBuf) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("cannot be started: {error}");
        let complaints = File::create(&log).map_err(failed)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(complaints);
        let mut process = command.spawn().map_err(failed)?;
        let input = process.stdin.take().expect("its input was asked for");
        let output = process.stdout.take().expect("its output was asked for");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { process, input, lines, log })
    }

    /// What it says next, if it says it in time.
    pub(super) fn next<T: DeserializeOwned>(&self, most: Duration) -> Result<T, String> {
        match self.lines.recv_timeout(most) {
            Ok(line) => serde_json::from_str(&line).map_err(|_| format!("said {line:?}")),
            Err(RecvTimeoutError::Timeout) => Err("stalled".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err(self.last_words()),
        }
    }

    /// What it answers, if it does so in time.
    pub(super) fn ask<T: DeserializeOwned>(
        &mut self,
        what: &str,
        most: Duration,
    ) -> Result<T, String> {
        // One that has died cannot be asked; that is told when its answer is missed.
        let _asked = writeln!(self.input, "{what}");
        self.next(most)
    }

    /// Ends it as kill -9 does, and returns when it is gone.
    pub(super) fn kill(&mut self) {
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
    }

    fn last_words(&self) -> String {
        let complaints = fs::read_to_string(&self.log).unwrap_or_default();
        let mut lines = complaints.lines().rev().filter(|line| !line.trim().is_empty());
        let last = lines.clone().next();
        // Some end with where it happened, and not with what.
        match lines.find(|line| line.contains("Error: ")).or(last) {
            Some(why) => format!("died: {}", why.trim()),
            None => "died".to_owned(),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, expected: Result<u32, &str>) {
        let log = std::env::temp_dir().join(format!("bench-child-{}", process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let child = Child::start(command, log.clone()).expect("there is a shell");
        let said = child.next::<u32>(Duration::from_secs(20));
        let _removed = fs::remove_file(log);
        assert_eq!(said, expected.map_err(str::to_owned), "for {script:?}");
    }

    #[test]
    fn tells_what_it_said_or_why_it_said_nothing() {
        check("echo 3", Ok(3));
        check("echo three", Err("said \"three\""));
        check("echo no room >&2; exit 1", Err("died: no room"));
        check("echo Error: no room >&2; echo at 7 >&2", Err("died: Error: no room"));
        check("exit 1", Err("died"));
    }
}
