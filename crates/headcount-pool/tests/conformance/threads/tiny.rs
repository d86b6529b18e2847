//! Tasks that are shorter than it takes two workers to take turns at the line.

use super::{at, builder, does};
use crate::support::{Gate, LIMIT};

/// A heap of tiny tasks is left to one worker; then long ones come.
#[test]
fn long_tasks_behind_tiny_ones_are_not_left_to_one_worker() {
    let pool = builder("behind").workers(3).build().expect("no fault");
    for _ in 0..20 {
        let gate = Gate::new();
        pool.pause();
        pool.spawn_all((0..5_000).map(|_| does(|| ()))).expect("open");
        (0..3).for_each(|_| pool.spawn(at(&gate)).expect("open"));
        pool.resume();
        gate.wait_for(3);
        gate.open();
        assert!(pool.idle().wait_timeout(LIMIT));
    }
}
