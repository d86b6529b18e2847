//! A service whose pools stand in a file: it follows the file, and ends in good order.
//!
//! `cargo run -p headcount --features config --example service -- headcount.yaml` keeps the pool
//! `work` busy. Change the file while it runs, or send SIGHUP; SIGTERM and Ctrl-C end it.

#![allow(clippy::print_stdout, reason = "a service tells what it does")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use headcount::System;
use headcount::config::Registry;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// A few seconds less than the thirty that a service is usually given to end.
const GRACE: Duration = Duration::from_secs(25);

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: service FILE")?;
    serve(Path::new(&path))
}

pub(crate) fn serve(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    let system = System::follow(path, &Registry::new(), |told| match told {
        Ok(reload) => println!("reloaded: {reload:?}"),
        Err(error) => println!("refused: {error}"),
    })?;
    let ran = Arc::new(AtomicU64::new(0));
    let submitter = thread::spawn({
        let (system, ran) = (system.clone(), Arc::clone(&ran));
        move || submit(&system, &ran)
    });
    println!("ready");
    signals.forever().next();
    let drained = system.drain(GRACE);
    let accepted = submitter.join().map_err(|_| "the submitter panicked")?;
    let ran = ran.load(Ordering::Relaxed);
    println!("accepted {accepted}, ran {ran}, unrun {}", drained.unrun);
    Ok(())
}

/// Submits until there is nobody to submit to, and says how many were taken in.
fn submit(system: &System, ran: &Arc<AtomicU64>) -> u64 {
    let mut accepted = 0;
    while let Some(pool) = system.thread_pool("work") {
        let ran = Arc::clone(ran);
        let task = move || {
            thread::sleep(Duration::from_micros(100));
            ran.fetch_add(1, Ordering::Relaxed);
        };
        // Refused by a pool that was just replaced or closed: the next one is asked.
        accepted += u64::from(pool.spawn(task).is_ok());
    }
    accepted
}
