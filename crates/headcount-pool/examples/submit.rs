//! Every way to hand a pool a task, and what comes back when it does not take one.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use headcount_pool::{CancelToken, Name, Overflow, Refusal, TaskError, TaskOptions, ThreadPool};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPool::builder().workers(1).queue_len_max(2).build()?;
    pool.spawn(|| println!("nobody waits for this one"))?;
    println!("a result: {}", pool.submit(|| 6 * 7)?.join()?);
    println!("{} at once", pool.spawn_all((0..2).map(|_| || ()))?);
    let squares = pool.submit_all((1..=2).map(|n| move || n * n))?;
    println!("{} results", squares.into_iter().filter_map(|task| task.join().ok()).count());
    pool.await_idle();

    // The line takes two tasks. Paused, nobody takes them out.
    pool.pause();
    let first = pool.submit(|| "first")?;
    let second = pool.submit(|| "second")?;
    let refused = pool.try_spawn(|| ()).expect_err("two wait already");
    println!("refused: {refused}");

    let reject_soon = TaskOptions::new().overflow(Overflow::WaitFor(Duration::from_millis(1)));
    let refused = pool.submit_with(reject_soon, || "third").expect_err("there is no room in time");
    assert_eq!(refused.reason, Refusal::TimedOut);
    println!("handed back: {}", (refused.task)());

    let here = TaskOptions::new().overflow(Overflow::CallerRuns);
    println!("run by the caller: {}", pool.submit_with(here, || "fourth")?.join()?);

    let replace = TaskOptions::new().overflow(Overflow::DropOldest);
    let fifth = pool.submit_with(replace, || "fifth")?;
    assert_eq!(first.join(), Err(TaskError::Dropped));

    second.cancel();
    assert_eq!(second.join(), Err(TaskError::Cancelled));
    pool.resume();
    println!("still in line: {}", fifth.join()?);

    // A class to be told by, a deadline for waiting and one for running, and a token for many.
    let token = CancelToken::new();
    let options = TaskOptions::new()
        .class(Name::new("report")?)
        .wait_max(Duration::from_secs(60))
        .run_max(Duration::from_secs(60))
        .token(token.clone());
    println!("with options: {}", pool.submit_with(options.clone(), || "sixth")?.join()?);
    token.cancel();
    let refused = pool.submit_with(options, || "seventh").expect_err("its token is cancelled");
    println!("refused: {refused}");
    Ok(())
}
