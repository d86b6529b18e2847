//! A folder of its own for each test, in which `headcount sim` is run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
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

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder is made");
        fs::write(file, bytes).expect("a file is written");
    }

    /// Runs `headcount sim` with these words, to its end.
    pub(crate) fn sim(&self, words: &str) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headcount"));
        command.arg("sim").args(words.split_whitespace()).current_dir(self.0.path());
        let output = command.output().expect("headcount starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it speaks text");
        Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs it, and it must go well.
    #[track_caller]
    pub(crate) fn well(&self, words: &str) -> String {
        let outcome = self.sim(words);
        assert_eq!(outcome.code, Some(0), "{words}: {}", outcome.err);
        outcome.out
    }

    /// Runs it, and it must be refused with these words and nothing else.
    #[track_caller]
    pub(crate) fn refused(&self, words: &str, sentence: &str) {
        let outcome = self.sim(words);
        assert_eq!(outcome.code, Some(2), "{words}: {}", outcome.err);
        assert_eq!(outcome.err.trim_end(), format!("headcount: {sentence}"), "{words}");
        assert_eq!(outcome.out, "", "{words}: nothing was run");
    }
}

/// A minute of arrivals, a bucket for each second.
pub(crate) fn minute() -> String {
    let lines = (0..60).map(|second| format!("{second},{}\n", 5 + second % 7));
    format!("t_seconds,arrivals\n{}", lines.collect::<String>())
}
