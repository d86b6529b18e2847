//! Ctrl-C: the first lets jobs finish, the second stops them.

use std::io;
use std::sync::Arc;
use std::thread;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::settling::Run;
use super::tally::Stage;

/// Listens for as long as the process lives.
pub(super) fn listen(run: &Arc<Run>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let run = Arc::clone(run);
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            heard(&run, signal);
        }
    })?;
    Ok(())
}

fn heard(run: &Arc<Run>, signal: i32) {
    run.tally.set_signal(u8::try_from(signal).unwrap_or_default());
    match run.tally.stage() {
        Stage::Running => {
            // First done, then said: who reads it may rely on it.
            run.drain();
            run.screen.say("no more jobs begin; those that run may finish (once more stops them)");
        }
        Stage::Draining => {
            run.screen.say("stopping the jobs that run");
            run.stop();
        }
        Stage::Stopping => run.family.tell_all(Signal::KILL),
    }
}
