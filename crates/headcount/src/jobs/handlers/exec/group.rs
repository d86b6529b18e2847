//! A program and all that it has started.
//!
//! The program leads a process group of its own, so that a signal reaches its children too. Its
//! end is seen before it is reaped: until then its number is its own, and no signal can reach a
//! stranger. Whoever drops the group ends it, and where nobody can any more, its keeper does.

use std::io;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal as Ear, SignalKind, signal};

use super::keeper::{Kept, prepare};

/// A program and all that it has started.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
    pid: Pid,
    /// Hears that some child of this process has ended.
    ear: Ear,
    is_over: bool,
    kept: Option<Kept>,
}

impl Group {
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        // It listens before there is anything to hear, so that no end is missed.
        let ear = signal(SignalKind::child())?;
        prepare();
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { child, pid, ear, is_over: false, kept: Some(Kept::new(pid)) })
    }

    pub(super) fn pipes(&mut self) -> Pipes {
        let Child { stdin, stdout, stderr, .. } = &mut self.child;
        Pipes { stdin: stdin.take(), stdout: stdout.take(), stderr: stderr.take() }
    }

    /// Returns when the program has ended. What it has started may go on.
    pub(super) async fn ended(&mut self) {
        while !self.has_ended() && self.ear.recv().await.is_some() {}
    }

    /// Looks without reaping. A child that cannot be looked at is nobody's any more.
    fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.pid), look), Ok(None))
    }

    pub(super) fn tell(&self, signal: Signal) {
        // Whoever is gone already needs not be told.
        let _gone = kill_process_group(self.pid, signal);
    }

    /// Ends whatever is left, and says how the program ended.
    pub(super) async fn close(&mut self) -> io::Result<ExitStatus> {
        self.tell(Signal::KILL);
        // Before it is reaped: after that its number may be a stranger's.
        self.kept = None;
        let status = self.child.wait().await;
        self.is_over = true;
        status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_over {
            self.tell(Signal::KILL);
            self.kept = None;
        }
    }
}

/// The ends of the program's pipes that are ours.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: Option<tokio::process::ChildStdin>,
    pub(super) stdout: Option<tokio::process::ChildStdout>,
    pub(super) stderr: Option<tokio::process::ChildStderr>,
}
