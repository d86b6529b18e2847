//! Runs the program, feeds it, listens to it, and ends it when it is time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::future::{Future, pending};
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use headcount_queue::{Context, Handler, JobError, Running};
use rustix::io::Errno;
use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::checkpoint::Checkpoint;
use super::group::{Group, Pipes};
use super::verdict::{Codes, End};
use crate::jobs::handlers::kept::{First, Keep, Last, json};
use crate::jobs::handlers::{ERROR_BYTES_MAX, RESULT_BYTES_MAX};

/// How long what a program has printed may still come after it has ended.
const PIPES_WAIT: Duration = Duration::from_secs(1);
/// When a job is tried again for which the machine had no room.
const NO_ROOM_WAIT: Duration = Duration::from_secs(5);

/// Runs a program for each job.
///
/// The payload comes on its standard input; `HEADCOUNT_JOB_ID`, `HEADCOUNT_QUEUE`,
/// `HEADCOUNT_KIND`, `HEADCOUNT_ATTEMPT` and `HEADCOUNT_CHECKPOINT` (a file) are in its
/// environment. Exit code 0: done, and what it printed is the result where that is JSON of at most
/// 64 KiB. 75: to be tried later, which counts as no failure. 65: given up. Others: tried again.
/// What it wrote to standard error last is kept as the error. When it takes too long or is
/// cancelled, it and all that it has started are told SIGTERM, and SIGKILL after a grace.
///
/// ```
/// use headcount::jobs::handlers::Exec;
/// use std::time::Duration;
///
/// let resize = Exec::new("convert", ["-", "-resize", "200x200", "-"])
///     .timeout(Duration::from_secs(30))
///     .env("MAGICK_THREAD_LIMIT", "1")
///     .dead_codes([3]);
/// assert_eq!(resize.program(), "convert");
/// ```
#[derive(Clone)]
pub struct Exec {
    program: OsString,
    arguments: Vec<OsString>,
    dir: Option<PathBuf>,
    env: BTreeMap<OsString, OsString>,
    codes: Codes,
    timeout: Option<Duration>,
    grace: Duration,
}

impl Exec {
    /// This program with these arguments. No shell looks at them.
    pub fn new(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            dir: None,
            env: BTreeMap::new(),
            codes: Codes { dead: Vec::new(), snooze: Duration::from_secs(30) },
            timeout: None,
            grace: Duration::from_secs(5),
        }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &std::ffi::OsStr {
        &self.program
    }

    /// Its working directory. Default: that of this process.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// A variable beside those that it inherits, which are all but those of headcount's own.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Exit codes that end a job for good, beside 65. Default: none.
    #[must_use]
    pub fn dead_codes(mut self, codes: impl IntoIterator<Item = u8>) -> Self {
        self.codes.dead = codes.into_iter().collect();
        self
    }

    /// When a job is tried again whose program exited with 75. Default: 30 s.
    #[must_use]
    pub fn snooze(mut self, snooze: Duration) -> Self {
        self.codes.snooze = snooze;
        self
    }

    /// How long one try may take. Default: as long as the job says.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long it may take to end after SIGTERM. Default: 5 s.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// One try, which ends early when `unwanted` does.
    async fn attempt(
        &self,
        ctx: &Context,
        unwanted: impl Future<Output = ()>,
    ) -> Result<Option<Vec<u8>>, JobError> {
        let mut checkpoint = Checkpoint::of(ctx).map_err(|error| no_room(&error))?;
        let started = Group::start(&mut self.command(ctx, &checkpoint));
        let mut group = started.map_err(|error| self.not_started(&error))?;
        let pipes = group.pipes();
        let (mut out, mut err) = (First::new(RESULT_BYTES_MAX), Last::new(ERROR_BYTES_MAX));

        let watched = async {
            let end = tokio::select! {
                end = self.watch(&mut group, unwanted) => end,
                never = checkpoint.follow(ctx) => match never {},
            };
            (end, group.close().await)
        };
        let (end, status) = beside(watched, talk(pipes, ctx.payload(), &mut out, &mut err)).await;
        let status = status?;
        checkpoint.look(ctx);
        self.codes.verdict(end, status, &err.text())?;
        let is_asked_for = !ctx.spec().keep.is_zero();
        Ok(out.whole().filter(|_| is_asked_for).and_then(json))
    }

    fn command(&self, ctx: &Context, checkpoint: &Checkpoint) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        // Ours may hold the password of a store.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"HEADCOUNT_") {
                command.env_remove(name);
            }
        }
        command.envs(&self.env);
        command.env("HEADCOUNT_JOB_ID", ctx.id().to_string());
        command.env("HEADCOUNT_QUEUE", ctx.queue().as_str());
        command.env("HEADCOUNT_KIND", ctx.kind().as_str());
        command.env("HEADCOUNT_ATTEMPT", ctx.attempt().to_string());
        command.env("HEADCOUNT_CHECKPOINT", checkpoint.path());
        command
    }

    /// Why there is no program at work.
    fn not_started(&self, error: &io::Error) -> JobError {
        let errno = Errno::from_io_error(error);
        let is_full = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::TXTBSY];
        if errno.is_some_and(|errno| is_full.contains(&errno)) {
            return no_room(error);
        }
        match self.dir.as_ref().filter(|dir| !dir.is_dir()) {
            Some(dir) => JobError::failed(format_args!(
                "cannot run {}: its working directory {} is not there",
                self.program.display(),
                dir.display(),
            )),
            None => {
                JobError::failed(format_args!("cannot run {}: {error}", self.program.display()))
            }
        }
    }

    /// Returns when the program has ended or is beyond its grace.
    async fn watch(&self, group: &mut Group, unwanted: impl Future<Output = ()>) -> End {
        let end = tokio::select! {
            () = group.ended() => return End::Alone,
            limit = after(self.timeout) => End::TimedOut(limit),
            () = unwanted => End::Cancelled,
        };
        group.tell(Signal::TERM);
        drop(tokio::time::timeout(self.grace, group.ended()).await);
        end
    }
}

impl Handler for Exec {
    fn run(&self, ctx: Context) -> Running<'_> {
        Box::pin(async move { self.attempt(&ctx, ctx.cancelled()).await })
    }
}

impl std::fmt::Debug for Exec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values of variables may be secrets.
        f.debug_struct("Exec")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// The machine is at its limit, which is no fault of the job.
fn no_room(error: &io::Error) -> JobError {
    let why = format!("the machine had no room for its program: {error}");
    JobError::snooze(NO_ROOM_WAIT).because(why)
}

async fn after(limit: Option<Duration>) -> Duration {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => pending().await,
    }
}

/// What `watched` gives, with `talk` going on beside it and a little longer: somebody who left the
/// group may hold the pipes for ever.
async fn beside<T>(watched: impl Future<Output = T>, talk: impl Future<Output = ()>) -> T {
    let (mut watched, mut talk) = (pin!(watched), pin!(talk));
    let mut has_talked = false;
    let given = loop {
        tokio::select! {
            given = &mut watched => break given,
            () = &mut talk, if !has_talked => has_talked = true,
        }
    };
    if !has_talked {
        drop(tokio::time::timeout(PIPES_WAIT, talk).await);
    }
    given
}

/// Feeds the program and hears all that it says.
async fn talk(pipes: Pipes, payload: &[u8], out: &mut First, err: &mut Last) {
    let feed = async move {
        if let Some(mut stdin) = pipes.stdin {
            // A program that wants no more of it closes its end, and may still do its job.
            let _closed = stdin.write_all(payload).await;
        }
    };
    tokio::join!(feed, hear(pipes.stdout, out), hear(pipes.stderr, err));
}

async fn hear<R: AsyncRead + Unpin + Send>(pipe: Option<R>, keep: &mut (dyn Keep + Send)) {
    let Some(mut pipe) = pipe else { return };
    let mut piece = vec![0; 8 << 10];
    while let Ok(len @ 1..) = pipe.read(&mut piece).await {
        keep.keep(&piece[..len]);
    }
}

#[cfg(test)]
#[path = "handler_tests.rs"]
mod tests;
