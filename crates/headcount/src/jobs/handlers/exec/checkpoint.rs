//! The file in which a program finds where it was, and says where it could go on.
//!
//! Its name is in `HEADCOUNT_CHECKPOINT`. What is in it at the end, and once a second meanwhile, is
//! the job's checkpoint, unless it is what was there to begin with.

use std::io;
use std::path::Path;
use std::time::Duration;

use headcount_queue::Context;
use tempfile::TempDir;

/// How large a checkpoint may be; what is larger is not taken.
const BYTES_MAX: u64 = 64 << 10;
/// How often it is looked at while the program runs.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A file in a directory of its own: the program may also write another and rename it.
#[derive(Debug)]
pub(super) struct Checkpoint {
    directory: TempDir,
    known: String,
}

impl Checkpoint {
    pub(super) fn of(ctx: &Context) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("headcount-job-").tempdir()?;
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
        let Some(text) = text_of(&self.path()).filter(|text| *text != self.known) else { return };
        if ctx.checkpoint(&text).is_ok() {
            self.known = text;
        }
    }
}

fn text_of(path: &Path) -> Option<String> {
    // A program may put anything there, a pipe that nobody writes to as well.
    let is_read = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= BYTES_MAX);
    is_read.then(|| std::fs::read_to_string(path).ok()).flatten()
}
