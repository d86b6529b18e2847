//! A folder of its own for each test, and the command called in it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Outcome {
    /// What it printed, which must be text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.out.clone()).expect("it prints text")
    }
}

/// A folder of its own, gone with its test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// What is in a file, or nothing where there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder is made");
        fs::write(file, bytes).expect("a file is written");
    }

    /// `headcount` with these words, to be started here.
    pub(crate) fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headcount"));
        command.args(words).current_dir(self.0.path()).env_remove("HEADCOUNT_DATA");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `headcount` with these words and this input, to its end.
    pub(crate) fn execute(&self, words: &[impl AsRef<OsStr>], input: &[u8]) -> Outcome {
        let mut child = self.command(words).spawn().expect("headcount starts");
        let mut stdin = child.stdin.take().expect("it has an input");
        // It may refuse before it has read everything.
        let _unread = stdin.write_all(input);
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8(output.stderr).expect("it speaks text");
        Outcome { code: output.status.code(), out: output.stdout, err }
    }
}
