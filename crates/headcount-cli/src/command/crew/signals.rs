//! SIGTERM and Ctrl-C, one after the other.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Both signals that ask a process to end.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on they are heard here and end nothing by themselves.
    pub(crate) fn listen() -> io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Returns at the next of them.
    pub(crate) async fn heard(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
