//! The same pool for async tasks: futures on tokio, with the same words.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use headcount_pool::{Staffing, TaskOptions, TaskPool};
use tokio::runtime::Builder;
use tokio::task::yield_now;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    runtime.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let pool = TaskPool::builder().name("fetch").workers(1..=64).queue_len_max(1_000).build()?;
    pool.spawn(async { println!("nobody waits for this one") })?;

    let answer = pool.submit(async {
        yield_now().await;
        6 * 7
    })?;
    println!("a result: {}", answer.await?);

    // Waits for room without blocking the thread, and gives up after a while.
    let options = TaskOptions::new().run_max(Duration::from_secs(30));
    println!("{}", pool.submit_async(options, async { "in time" }).await?.await?);

    let mut squares = pool.group();
    for n in 1..=5 {
        squares.spawn(async move { n * n })?;
    }
    println!("in order: {:?}", squares.try_join_async().await?);

    pool.resize(Staffing::exactly(2)).await;
    println!("{} workers", pool.counts().live);

    let drained = pool.drain_async(Duration::from_secs(30)).await;
    println!("{} left, {} running", drained.unrun.len(), drained.still_running);
    assert_eq!((drained.unrun.len(), drained.still_running), (0, 0));
    Ok(())
}
