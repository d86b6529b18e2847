//! The note that a server leaves in its data directory, so that other commands find it.
//!
//! The note is a hint and never a lock: whoever finds it still has to reach the server, and whoever
//! opens the store still has to get its lock.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

/// The name of the note.
const FILE: &str = "serve.json";

/// Who serves a data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// Where its API listens; nowhere with `--no-api`.
    pub(crate) addr: Option<String>,
    /// Its process.
    pub(crate) pid: u32,
}

/// A note that is taken away when it is dropped.
#[derive(Debug)]
pub(crate) struct Posted(PathBuf);

impl Served {
    /// Leaves the note. Whoever reads it finds all of it or none.
    pub(crate) fn post(&self, directory: &Path) -> io::Result<Posted> {
        let file = directory.join(FILE);
        let mut draft = tempfile::NamedTempFile::new_in(directory)?;
        let note = json!({"addr": self.addr, "pid": self.pid});
        io::Write::write_all(&mut draft, format!("{note}\n").as_bytes())?;
        draft.persist(&file)?;
        Ok(Posted(file))
    }

    /// The note of a process that lives.
    pub(crate) fn find(directory: &Path) -> Option<Self> {
        let text = fs::read_to_string(directory.join(FILE)).ok()?;
        let served = Self::parse(&text)?;
        served.is_alive().then_some(served)
    }

    fn parse(text: &str) -> Option<Self> {
        let note: Value = serde_json::from_str(text).ok()?;
        let addr = note["addr"].as_str().map(str::to_owned);
        Some(Self { addr, pid: u32::try_from(note["pid"].as_u64()?).ok()? })
    }

    fn is_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        // A process of somebody else lives too, though it may not be told anything.
        pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        // A note that stays is found to be stale by whoever reads it.
        let _left = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above the highest number that a kernel gives.
    const NOBODY: u32 = 4_194_305;

    #[test]
    fn a_note_is_found_while_its_writer_lives() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(Served::find(directory.path()), None);

        let served = Served { addr: Some("127.0.0.1:1".to_owned()), pid: std::process::id() };
        let posted = served.post(directory.path()).expect("it is written");
        assert_eq!(Served::find(directory.path()), Some(served));

        drop(posted);
        assert_eq!(Served::find(directory.path()), None);
    }

    #[test]
    fn a_stale_or_broken_note_counts_as_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let stale = Served { addr: None, pid: NOBODY };
        let _posted = stale.post(directory.path()).expect("it is written");
        assert_eq!(Served::find(directory.path()), None);
        for text in ["", "{}", "{\"addr\":\"a\",\"pid\":\"1\"}", "{\"pid\":-1}"] {
            fs::write(directory.path().join(FILE), text).expect("it is written");
            assert_eq!(Served::find(directory.path()), None, "{text}");
        }
    }
}
