//! A pool of threads from its first task to its end.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use headcount_pool::ThreadPool;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPool::builder()
        .name("thumbs")
        .workers(1..=8)
        .on_worker_start(|slot| println!("worker {slot} begins"))
        .build()?;

    // A handle is cheap: give one to everybody who has tasks.
    let handle = pool.handle();
    let elsewhere = std::thread::spawn(move || handle.submit(|| "from elsewhere"));
    let task = elsewhere.join().expect("it does not panic")?;
    println!("{}", task.join()?);

    let done = Arc::new(AtomicU32::new(0));
    for _ in 0..1_000 {
        let done = Arc::clone(&done);
        pool.spawn(move || {
            done.fetch_add(1, Relaxed);
        })?;
    }
    // What was taken in runs before the pool is gone.
    drop(pool);
    println!("{} tasks have run", done.load(Relaxed));
    assert_eq!(done.load(Relaxed), 1_000);
    Ok(())
}
