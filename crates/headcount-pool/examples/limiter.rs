//! A service that can take four calls at once, and callers that find that out.
//!
//! Eight threads call it through a limiter. Every refusal lowers the limit by one; the autoscalers
//! of `headcount-core` do this better, from `Limiter::snapshot`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use headcount_pool::{Closed, Limiter};

const CALLERS: u32 = 8;
const CALLS_EACH: u32 = 2000;
const SERVICE_MAX: u32 = 4;

pub(crate) fn main() -> Result<(), Closed> {
    let limiter = Limiter::new(CALLERS);
    let service = Service::default();

    thread::scope(|scope| {
        let callers = (0..CALLERS).map(|_| scope.spawn(|| call_often(&limiter, &service)));
        let callers: Vec<_> = callers.collect();
        callers.into_iter().try_for_each(|caller| caller.join().expect("no caller panics"))
    })?;

    let counted = limiter.snapshot().counters;
    println!("{} calls, of which {} were refused", counted.completed, counted.failed);
    println!("the limit began at {CALLERS} and is now {}", limiter.limit());

    limiter.close();
    println!("after closing: {}", limiter.acquire().expect_err("it is closed"));
    Ok(())
}

fn call_often(limiter: &Limiter, service: &Service) -> Result<(), Closed> {
    for _ in 0..CALLS_EACH {
        let permit = limiter.acquire()?;
        match service.call() {
            true => permit.success(),
            false => {
                permit.dropped();
                limiter.resize(limiter.limit().saturating_sub(1).max(1));
            }
        }
    }
    Ok(())
}

/// Refuses what comes while it is full.
#[derive(Default)]
struct Service {
    calls: AtomicU32,
}

impl Service {
    fn call(&self) -> bool {
        let accepted = self.calls.fetch_add(1, SeqCst) < SERVICE_MAX;
        // Gives the others time to come.
        thread::yield_now();
        self.calls.fetch_sub(1, SeqCst);
        accepted
    }
}
