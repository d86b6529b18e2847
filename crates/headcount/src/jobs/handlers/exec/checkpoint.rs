//! The file in which a program finds where it was, and says where it could go on.
//!
//! Its name is in `HEADCOUNT_CHECKPOINT`. What is in it at the end, and once a second meanwhile, is
//! the job's checkpoint, unless it is empty or what was there to begin with.

use std::io;
use std::path::Path;
use std::sync::Once;
use std::time::{Duration, SystemTime};

use headcount_queue::Context;
use rustix::io::Errno;
use rustix::process::{Pid, getuid, test_kill_process};
use tempfile::TempDir;

/// How large a checkpoint may be; what is larger is not taken.
const BYTES_MAX: u64 = 64 << 10;
/// How often it is looked at while the program runs.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What the names of directories begin with; the number of their process follows.
const PREFIX: &str = "headcount-job-";
/// How old a directory that a killed process left behind must be to be removed.
const STALE_AFTER: Duration = Duration::from_secs(24 * 3600);

/// A file in a directory of its own: the program may also write another and rename it.
#[derive(Debug)]
pub(super) struct Checkpoint {
    directory: TempDir,
    known: String,
}

impl Checkpoint {
    pub(super) fn of(ctx: &Context) -> io::Result<Self> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| sweep(&std::env::temp_dir(), SystemTime::now()));
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let directory = tempfile::Builder::new().prefix(&prefix).tempdir()?;
        // What another kind of handler wrote is nothing that a program could read.
        let known = ctx.last_checkpoint::<String>().ok().flatten().unwrap_or_default();
        let checkpoint = Self { directory, known };
        std::fs::write(checkpoint.path(), &checkpoint.known)?;
        Ok(checkpoint)
    }

    pub(super) fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("checkpoint")
    }

    /// Tells the job what is new in the file, again and again.
    pub(super) async fn follow(&mut self, ctx: &Context) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.look(ctx);
        }
    }

    /// Tells the job what is new in the file.
    pub(super) fn look(&mut self, ctx: &Context) {
        // An empty file is one that is just being written: a shell empties it first. Whoever is
        // stopped in that moment goes on from the last one.
        let is_new = |text: &String| !text.is_empty() && *text != self.known;
        let Some(text) = text_of(&self.path()).filter(is_new) else { return };
        if ctx.checkpoint(&text).is_ok() {
            self.known = text;
        }
    }
}

/// Removes what processes of this user have left that were killed. What cannot be removed stays:
/// another user's, or somebody else who was quicker.
fn sweep(place: &Path, now: SystemTime) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_nobodys) && is_stale(&entry.path(), now) {
            let _kept = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether this is a directory of ours whose process is no more. Of one without a number nobody
/// knows whose it is.
fn is_nobodys(name: &str) -> bool {
    let number = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    let pid = number.and_then(|(number, _)| number.parse().ok()).and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

fn is_stale(path: &Path, now: SystemTime) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(found) = std::fs::symlink_metadata(path) else { return false };
    let age = found.modified().ok().and_then(|then| now.duration_since(then).ok());
    found.is_dir() && found.uid() == getuid().as_raw() && age.is_some_and(|age| STALE_AFTER < age)
}

fn text_of(path: &Path) -> Option<String> {
    // A program may put anything there, a pipe that nobody writes to as well.
    let is_read = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= BYTES_MAX);
    is_read.then(|| std::fs::read_to_string(path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that no process has any more.
    fn gone() -> u32 {
        let mut child = std::process::Command::new("true").spawn().expect("it can be run");
        let number = child.id();
        child.wait().expect("it ends");
        number
    }

    #[test]
    fn what_a_killed_process_left_is_removed_after_a_day() {
        let place = tempfile::tempdir().expect("there is room");
        let (gone, mine) = (gone(), std::process::id());
        let names = [
            format!("headcount-job-{gone}-a"),
            format!("headcount-job-{mine}-b"),
            "headcount-job-c".to_owned(),
            format!("somebody-{gone}-d"),
        ];
        for name in &names {
            std::fs::create_dir(place.path().join(name)).expect("there is room");
            std::fs::write(place.path().join(name).join("checkpoint"), "5").expect("there is room");
        }
        let left = || {
            let there = |name: &&String| place.path().join(name).exists();
            names.iter().filter(there).cloned().collect::<Vec<_>>()
        };
        sweep(place.path(), SystemTime::now());
        assert_eq!(left(), names, "none is a day old");
        sweep(place.path(), SystemTime::now() + STALE_AFTER + Duration::from_secs(60));
        assert_eq!(left(), names[1..], "those of others stay");
    }
}
