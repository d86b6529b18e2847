//! A pool that grows when it must, shrinks when it may, and says how far it is.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

use headcount_pool::{Staffing, ThreadPool, blocking};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPool::builder()
        .workers(1..=4)
        .wait_budget(Duration::from_millis(5))
        .idle_time(Duration::from_millis(20))
        .build()?;

    // Four tasks that meet: the pool hires until all of them run.
    let barrier = std::sync::Arc::new(std::sync::Barrier::new(4));
    let mut meeting = pool.group();
    for _ in 0..4 {
        let barrier = std::sync::Arc::clone(&barrier);
        meeting.spawn(move || barrier.wait().is_leader())?;
    }
    let leaders = meeting.try_join()?.into_iter().filter(|leads| *leads).count();
    println!("{leaders} of 4 led, on {} workers", pool.counts().live);

    // A resize returns at once. It can be looked at, waited for and awaited.
    let resize = pool.resize(Staffing::exactly(8));
    println!("asked for {:?}", resize.progress().target);
    assert!(resize.wait_timeout(Duration::from_secs(30)), "{:?}", resize.progress());
    println!("{} workers", pool.counts().live);
    assert!(pool.resize(Staffing::exactly(1)).wait_timeout(Duration::from_secs(30)));
    println!("{} worker", pool.counts().live);

    // The only worker blocks, and another one takes its place meanwhile.
    let (send, receive) = mpsc::channel();
    let waits = pool.submit(move || blocking(|| receive.recv()))?;
    pool.spawn(move || send.send("hello").expect("somebody waits"))?;
    println!("{}", waits.join()??);
    Ok(())
}
