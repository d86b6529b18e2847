//! SIGTERM, Ctrl-C and SIGHUP, one after the other.

use std::fs;
use std::future::pending;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask a process to end.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// What a closed terminal says, until it has been said.
    hangup: Option<Signal>,
}

impl Signals {
    /// From now on they are heard here and end nothing by themselves.
    pub(crate) fn listen() -> io::Result<Self> {
        let hangup = match outlives_terminal() {
            true => None,
            false => Some(signal(SignalKind::hangup())?),
        };
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())?, hangup })
    }

    /// Returns at the next of them.
    pub(crate) async fn heard(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hung_up(&mut self.hangup) => {}
        }
    }
}

/// Counts once: a shell whose terminal is closed passes it on, and the kernel says it again when
/// the shell has ended. The second is nobody's wish to end at once.
async fn hung_up(hangup: &mut Option<Signal>) {
    match hangup {
        Some(signal) => signal.recv().await,
        None => pending().await,
    };
    *hangup = None;
}

/// Whether whoever started us had SIGHUP ignored, as `nohup` does. Where there is no /proc to ask,
/// nobody did.
fn outlives_terminal() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangup(&status))
}

fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is number 1, so it is the lowest bit.
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_hangup_is_known() {
        assert!(ignores_hangup("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"));
        assert!(!ignores_hangup("SigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n"));
        assert!(!ignores_hangup("SigIgn:\n"));
        assert!(!ignores_hangup(""));
    }
}
