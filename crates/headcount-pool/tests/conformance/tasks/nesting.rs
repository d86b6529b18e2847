//! Tasks that await tasks of their own pool. More of them are in the tests of `TaskPool`.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::builder;
use crate::support::{LIMIT, add_one, counter, read, within};

/// rayon: a thread that waited stole other work, which wanted the lock that it held.
#[test]
fn whoever_awaits_lets_no_other_task_run_than_the_one_it_waits_for() {
    let pool = builder("isolate").workers(1).compensate_max(0).build().expect("no fault");
    let (handle, lock) = (pool.handle(), Arc::new(Mutex::new(())));
    let (began, ran) = (counter(), counter());
    let (begins, ends, seen) = (add_one(&began), add_one(&ran), Arc::clone(&began));
    let outer = pool.submit(async move {
        let _held = lock.lock().await;
        let wanted = Arc::clone(&lock);
        let other = handle.submit(async move {
            begins();
            drop(wanted.lock().await);
            ends();
        });
        assert_eq!(handle.submit(async { 3 }).expect("open").await, Ok(3));
        assert!(!other.expect("open").is_done());
        read(&seen)
    });
    assert_eq!(within("no deadlock", move || outer.expect("open").join()), Ok(0));
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!((read(&began), read(&ran)), (1, 1));
}
