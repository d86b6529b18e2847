//! Runs one child and waits for it: passes on what it prints, ends it when its time is up.
//!
//! Its end is noticed before it is reaped, by a file that tells of it or by asking. So signals can
//! be sent up to that moment, and a grandchild that keeps our pipe open holds up nobody.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

use super::family::{Family, Member};
use super::output::Stream;

/// How often a child is asked for where no file tells of its end.
const ASK_EVERY: Duration = Duration::from_millis(10);
/// How much is read at once.
const PIECE: usize = 16 << 10;

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Errand<'a> {
    /// Where the program is, where that is known.
    pub(super) program: Option<&'a Path>,
    pub(super) words: &'a [OsString],
    /// Whether its output goes through us.
    pub(super) is_captured: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) kill_after: Duration,
}

/// How a child ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) is_out_of_time: bool,
}

/// Is handed what a child prints.
pub(super) type Receive<'a> = dyn FnMut(Stream, &[u8]) -> io::Result<()> + 'a;

/// Runs a child to its end.
///
/// # Errors
///
/// When it cannot be started, or what it prints cannot be kept.
pub(super) fn run(
    errand: &Errand<'_>,
    family: &Family,
    receive: &mut Receive<'_>,
) -> io::Result<Ended> {
    let mut child = Child::start(errand)?;
    let member = family.join(child.group);
    let mut watch = Watch::new(errand);
    let attended = child.attend(&mut watch, &member, receive);
    if attended.is_err() || watch.is_over {
        // What it has started goes with it.
        member.tell(Signal::KILL);
    }
    drop(member);
    let status = child.process.wait()?;
    attended.map(|()| Ended { status, is_out_of_time: watch.is_over })
}

struct Child {
    process: process::Child,
    group: Pid,
    /// Becomes readable when it ends.
    end: Option<OwnedFd>,
    out: Option<process::ChildStdout>,
    err: Option<process::ChildStderr>,
}

impl Child {
    fn start(errand: &Errand<'_>) -> io::Result<Self> {
        let (name, arguments) = errand.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = match errand.program {
            Some(path) => Command::new(path),
            None => Command::new(name),
        };
        command.arg0(name).args(arguments).process_group(0).stdin(Stdio::null());
        if errand.is_captured {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let mut process = command.spawn()?;
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        let group = pid.ok_or(io::ErrorKind::InvalidData)?;
        let (out, err) = (process.stdout.take(), process.stderr.take());
        for pipe in [out.as_ref().map(AsFd::as_fd), err.as_ref().map(AsFd::as_fd)] {
            pipe.map_or(Ok(()), |pipe| rustix::io::ioctl_fionbio(pipe, true))?;
        }
        Ok(Self { process, group, end: end_of(group), out, err })
    }

    /// Passes on what it prints until it ends.
    fn attend(
        &mut self,
        watch: &mut Watch,
        member: &Member<'_>,
        receive: &mut Receive<'_>,
    ) -> io::Result<()> {
        loop {
            let wait = watch.wait(Instant::now(), member);
            let has_ended = self.look(wait)?;
            if !pass_on(&mut self.out, Stream::Out, receive)? {
                self.out = None;
            }
            if !pass_on(&mut self.err, Stream::Err, receive)? {
                self.err = None;
            }
            if has_ended {
                return Ok(());
            }
        }
    }

    /// Waits until it prints something or ends; says whether it has ended.
    fn look(&self, wait: Option<Duration>) -> io::Result<bool> {
        let wait = match self.end {
            Some(_) => wait,
            None => Some(wait.unwrap_or(ASK_EVERY).min(ASK_EVERY)),
        };
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let all = [
            self.end.as_ref().map(AsFd::as_fd),
            self.out.as_ref().map(AsFd::as_fd),
            self.err.as_ref().map(AsFd::as_fd),
        ];
        let mut looked: Vec<_> = all.into_iter().flatten().map(readable).collect();
        match poll(&mut looked, wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        match (&self.end, looked.first()) {
            (Some(_), Some(end)) => Ok(!end.revents().is_empty()),
            _ => self.has_ended(),
        }
    }

    /// Asks, without reaping it.
    fn has_ended(&self) -> io::Result<bool> {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.group), how)?.is_some())
    }
}

#[cfg(target_os = "linux")]
fn end_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_pid: Pid) -> Option<OwnedFd> {
    None
}

fn readable(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}

/// Passes on what there is right now; says whether there may be more.
fn pass_on(
    pipe: &mut Option<impl Read>,
    stream: Stream,
    receive: &mut Receive<'_>,
) -> io::Result<bool> {
    let Some(pipe) = pipe else { return Ok(false) };
    let mut piece = [0; PIECE];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(false),
            Ok(len) => receive(stream, &piece[..len])?,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Watches the time of a child.
struct Watch {
    next: Option<Instant>,
    kill_after: Duration,
    /// Whether its time was up.
    is_over: bool,
}

impl Watch {
    fn new(errand: &Errand<'_>) -> Self {
        let next = errand.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Self { next, kill_after: errand.kill_after, is_over: false }
    }

    /// Tells the child what it is time for, and returns how long to wait for the next.
    fn wait(&mut self, now: Instant, member: &Member<'_>) -> Option<Duration> {
        let due = self.next?;
        if now < due {
            return Some(due - now);
        }
        match self.is_over {
            false => {
                member.tell(Signal::TERM);
                (self.is_over, self.next) = (true, now.checked_add(self.kill_after));
            }
            true => {
                member.tell(Signal::KILL);
                self.next = None;
            }
        }
        self.next.map(|next| next - now)
    }
}
