//! Pause, wait for calm, and go home with what was not done.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use headcount_pool::ThreadPool;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPool::builder().workers(2).build()?;
    for _ in 0..100 {
        pool.spawn(|| ())?;
    }
    pool.await_idle();
    println!("calm after {} tasks, and still open", pool.snapshot().counters.completed);

    pool.pause();
    let task = pool.submit(|| "was not begun")?;
    println!("{} waits", pool.snapshot().queued);

    // No time at all: what has not begun is handed back, to be kept or run elsewhere.
    let drained = pool.drain(Duration::ZERO);
    println!("{} handed back, {} still running", drained.unrun.len(), drained.still_running);
    for unrun in drained.unrun {
        unrun.run();
    }
    println!("its handle hears of it: {}", task.join()?);
    println!("after that: {}", pool.spawn(|| ()).expect_err("it is closed"));
    Ok(())
}
