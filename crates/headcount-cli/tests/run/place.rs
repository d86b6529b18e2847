//! A folder of its own for each test, in which `headcount run` is run.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) use crate::folder::Folder as Place;
pub(crate) use crate::folder::Outcome;

impl Place {
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

    pub(crate) fn run(&self, words: &[impl AsRef<OsStr>]) -> Outcome {
        self.run_with(words, b"")
    }

    /// Runs it with this input, to its end.
    pub(crate) fn run_with(&self, words: &[impl AsRef<OsStr>], input: &[u8]) -> Outcome {
        self.execute(&run(words), input)
    }

    /// `headcount run` with these words, to be started here.
    pub(crate) fn run_command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        self.command(&run(words))
    }

    /// Starts it and lets it run.
    pub(crate) fn start(&self, words: &[impl AsRef<OsStr>]) -> Running {
        let mut child = self.run_command(words).spawn().expect("headcount starts");
        let err = BufReader::new(child.stderr.take().expect("it has an error output"));
        Running { child, err }
    }
}

fn run(words: &[impl AsRef<OsStr>]) -> Vec<OsString> {
    let words = words.iter().map(|word| word.as_ref().to_owned());
    std::iter::once("run".into()).chain(words).collect()
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
