//! What a pool tells of itself: figures, a diagnosis, events.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::mpsc;

use headcount_pool::{Bottleneck, Event, Name, TaskOptions, ThreadPool};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPool::builder()
        .name("reports")
        .workers(1)
        .on_event(|event: &Event| println!("event: {event}"))
        .build()?;

    let (begun, wait_for_begin) = mpsc::channel();
    let (end, wait_for_end) = mpsc::channel::<()>();
    let options = TaskOptions::new().class(Name::new("monthly")?);
    let long = pool.submit_with(options, move || {
        begun.send(()).expect("somebody waits");
        let _ = wait_for_end.recv();
    })?;
    wait_for_begin.recv()?;
    pool.spawn(|| panic!("the printer is on fire"))?;

    let diagnosis = pool.diagnose();
    println!("{diagnosis}");
    assert_eq!(diagnosis.bottleneck, Bottleneck::TooFewWorkers);

    drop(end);
    long.join()?;
    pool.await_idle();
    let snapshot = pool.snapshot();
    println!("{:?}", snapshot.counters);
    println!("service: {:?}", snapshot.service.expect("two tasks ended"));
    assert_eq!((snapshot.counters.completed, snapshot.counters.panicked), (2, 1));
    Ok(())
}
