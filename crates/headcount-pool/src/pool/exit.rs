//! Threads that end together do so on one core.
//!
//! A thread that ends unmaps memory, twice. Every other core that runs a thread of the process is
//! interrupted each time, and whoever unmaps waits until it has answered; and of those who unmap
//! only one at a time may. Where a thousand end on several cores at once, that is half of what they
//! do. On one core they neither interrupt nor wait for one another.

/// From so many on who leave together it is worth the way to another core.
pub(crate) const CROWD: u32 = 16;

/// Takes this thread, which is about to end, to where all go that end together: the first of the
/// cores that it may run on. Where the system does not let it, it stays.
#[cfg(target_os = "linux")]
pub(super) fn go_where_all_end() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let Ok(allowed) = sched_getaffinity(None) else { return };
    let Some(first) = (0..CpuSet::MAX_CPU).find(|core| allowed.is_set(*core)) else { return };
    let mut only = CpuSet::new();
    only.set(first);
    let _ = sched_setaffinity(None, &only);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn go_where_all_end() {}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests {
    use std::cell::RefCell;
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Barrier};

    use headcount_core::Staffing;
    use rustix::thread::sched_getaffinity;

    use super::CROWD;
    use crate::ThreadPool;

    thread_local! {
        static LAST_WORD: RefCell<Option<LastWord>> = const { RefCell::new(None) };
    }

    /// Tells, when its thread ends, on how many cores that may run.
    struct LastWord(Sender<u32>);

    impl Drop for LastWord {
        fn drop(&mut self) {
            let _ = self.0.send(cores());
        }
    }

    fn cores() -> u32 {
        sched_getaffinity(None).expect("a thread may ask").count()
    }

    /// On how many cores each of so many could run when they ended, all but one at once.
    fn cores_at_the_end(workers: u32) -> Vec<u32> {
        let pool = ThreadPool::builder().workers(1..=workers).build().expect("no fault");
        drop(pool.resize(Staffing::exactly(workers)));
        let (told, heard) = channel();
        let all = Arc::new(Barrier::new(workers as usize));
        for _ in 0..workers {
            let (told, all) = (told.clone(), Arc::clone(&all));
            let task = move || {
                LAST_WORD.set(Some(LastWord(told)));
                all.wait();
            };
            pool.spawn(task).expect("open");
        }
        pool.await_idle();
        pool.resize(Staffing::exactly(1)).wait();
        heard.try_iter().collect()
    }

    #[test]
    fn many_who_leave_together_end_on_one_core() {
        let told = cores_at_the_end(4 * CROWD);
        assert_eq!(told.len(), 4 * CROWD as usize - 1);
        let on_one = told.iter().filter(|cores| **cores == 1).count();
        // Not the first few: there is no crowd yet when they leave.
        assert!(2 * CROWD as usize <= on_one, "{told:?}");
    }

    #[test]
    fn a_few_end_where_they_are() {
        assert_eq!(cores_at_the_end(CROWD / 2), vec![cores(); CROWD as usize / 2 - 1]);
    }
}
