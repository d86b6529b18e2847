//! A folder of its own for each test, in which `headcount run` is run.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Outcome {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// A folder of its own.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn write(&self, name: &str, text: &[u8]) {
        fs::write(self.path(name), text).expect("a file is written");
    }

    pub(crate) fn fifo(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status().expect("mkfifo starts");
        assert!(made.success());
    }

    /// Waits until a child writes into the fifo.
    pub(crate) fn hear(&self, fifo: &str) {
        let mut heard = String::new();
        File::open(self.path(fifo)).and_then(|mut f| f.read_to_string(&mut heard)).expect("heard");
    }

    /// Lets a child go on that reads the fifo.
    pub(crate) fn say(&self, fifo: &str) {
        let fifo = fs::OpenOptions::new().write(true).open(self.path(fifo));
        fifo.and_then(|mut fifo| fifo.write_all(b"go\n")).expect("somebody listens");
    }

    pub(crate) fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headcount"));
        command.arg("run").args(words).current_dir(self.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, words: &[impl AsRef<OsStr>]) -> Outcome {
        self.run_with(words, b"")
    }

    /// Runs it with this input, to its end.
    pub(crate) fn run_with(&self, words: &[impl AsRef<OsStr>], input: &[u8]) -> Outcome {
        let mut child = self.command(words).spawn().expect("headcount starts");
        let mut stdin = child.stdin.take().expect("it has an input");
        // It may refuse before it has read everything.
        let _unread = stdin.write_all(input);
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        Outcome { code: output.status.code(), out: output.stdout, err }
    }

    /// Starts it and lets it run.
    pub(crate) fn start(&self, words: &[impl AsRef<OsStr>]) -> Running {
        let mut child = self.command(words).spawn().expect("headcount starts");
        let err = BufReader::new(child.stderr.take().expect("it has an error output"));
        Running { child, err }
    }
}

/// A run that goes on.
pub(crate) struct Running {
    child: Child,
    err: BufReader<ChildStderr>,
}

impl Running {
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a pid");
        kill_process(pid, signal).expect("it runs");
    }

    /// Waits until it says a line with `text`.
    pub(crate) fn until(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            let len = self.err.read_line(&mut line).expect("it speaks");
            assert!(0 < len, "it ended without {text:?}");
        }
    }

    pub(crate) fn wait(mut self) -> Outcome {
        let mut err = String::new();
        self.err.read_to_string(&mut err).expect("it speaks text");
        let output = self.child.wait_with_output().expect("it ends");
        Outcome { code: output.status.code(), out: output.stdout, err }
    }
}

/// Runs it, and compares its exit code and what it prints.
pub(crate) fn check(words: &[&str], input: &str, code: i32, expected: &str) {
    let outcome = Place::new().run_with(words, input.as_bytes());
    assert_eq!(outcome.code, Some(code), "{words:?}: {}", outcome.err);
    assert_eq!(outcome.text(), expected, "{words:?}: {}", outcome.err);
}

/// Runs it, and compares its exit code and part of what it says.
pub(crate) fn check_says(words: &[&str], input: &str, code: i32, sentence: &str) {
    let outcome = Place::new().run_with(words, input.as_bytes());
    assert_eq!(outcome.code, Some(code), "{words:?}: {}", outcome.err);
    assert!(outcome.err.contains(sentence), "{words:?} does not say {sentence:?}: {}", outcome.err);
}
