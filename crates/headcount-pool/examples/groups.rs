//! Tasks that belong together: groups, scopes, and a map that keeps the order.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use headcount_pool::{TaskError, TaskHandle, ThreadPool};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pool = ThreadPool::builder().workers(2).build()?;

    let mut squares = pool.group();
    for n in 1..=5 {
        squares.spawn(move || n * n)?;
    }
    println!("in order: {:?}", squares.try_join()?);

    let mut as_they_end = pool.group();
    for n in 1..=3 {
        as_they_end.spawn(move || n * 10)?;
    }
    let mut sum = 0;
    while let Some((_index, outcome)) = as_they_end.next_ended() {
        sum += outcome?;
    }
    println!("as they end: {sum} in all");

    // The first that fails cancels what has not begun.
    let mut failing = pool.group();
    failing.spawn(|| -> u32 { panic!("no luck") })?;
    failing.spawn(|| 1)?;
    assert_eq!(failing.try_join(), Err(TaskError::Panicked("no luck".to_owned())));

    // Tasks that borrow.
    let words = vec!["how", "many", "workers"];
    println!("lengths: {:?}", pool.map(&words, |word| word.len()));
    let mut counts = [0; 2];
    let (left, right) = counts.split_at_mut(1);
    pool.scope(|scope| {
        scope.spawn(|| left[0] = words.len());
        scope.spawn(|| right[0] = words.concat().len());
    });
    println!("{} words, {} letters", counts[0], counts[1]);

    // A task that waits for tasks of its own pool runs them: one worker is enough.
    let one = ThreadPool::builder().workers(1).build()?;
    let handle = one.handle();
    let nested = one.submit(move || handle.submit(|| "inner").map(TaskHandle::join))?;
    println!("nested: {}", nested.join()?.map_err(|_| "refused")??);
    Ok(())
}
