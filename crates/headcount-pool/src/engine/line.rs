//! Where tasks wait: a port, with first in first out as its plain form.
//!
//! The plain form is not behind a pointer, so whoever wants no other order pays for none.

use std::fmt;

use fifo::Fifo;

/// An order in which tasks leave the line.
///
/// What the engine relies on: `push` and `pop` may be called by many threads at once, a task that
/// was pushed is popped by exactly one, and `len` is not less than what was pushed before it was
/// asked and not popped since. What it does not assume: that the order is that of arrival.
pub(crate) trait Order<T>: Send + Sync {
    /// Puts a task into the line.
    fn push(&self, task: T);

    /// Takes the task whose turn it is.
    fn pop(&self) -> Option<T>;

    /// How many wait.
    fn len(&self) -> usize;
}

/// The tasks that wait.
#[expect(clippy::large_enum_variant, reason = "there is one line to a pool, and no way around")]
pub(crate) enum Line<T> {
    /// First in, first out.
    Fifo(Fifo<T>),
    /// In another order.
    Ordered(Box<dyn Order<T>>),
}

impl<T: Send> Line<T> {
    /// In this order, or first in first out.
    pub(crate) fn new(order: Option<Box<dyn Order<T>>>) -> Self {
        order.map_or_else(|| Self::Fifo(Fifo::new()), Self::Ordered)
    }

    pub(crate) fn push(&self, task: T) {
        match self {
            Self::Fifo(line) => line.push(task),
            Self::Ordered(line) => line.push(task),
        }
    }

    pub(crate) fn pop(&self) -> Option<T> {
        match self {
            Self::Fifo(line) => line.pop(),
            Self::Ordered(line) => line.pop(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fifo(line) => line.len(),
            Self::Ordered(line) => line.len(),
        }
    }
}

impl<T> fmt::Debug for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

#[cfg(not(loom))]
mod fifo {
    pub(crate) use crossbeam_queue::SegQueue as Fifo;
}

/// A line that loom sees. What it promises to those who do not pop is no more than what a lock-free
/// one does: that somebody else's push may go unseen, unless a fence says otherwise.
#[cfg(loom)]
mod fifo {
    use std::collections::VecDeque;

    use crate::sync::atomic::{AtomicUsize, Ordering};
    use crate::sync::{Mutex, lock};

    pub(crate) struct Fifo<T> {
        len: AtomicUsize,
        tasks: Mutex<VecDeque<T>>,
    }

    impl<T> Fifo<T> {
        pub(crate) fn new() -> Self {
            Self { len: AtomicUsize::new(0), tasks: Mutex::new(VecDeque::new()) }
        }

        pub(crate) fn push(&self, task: T) {
            lock(&self.tasks).push_back(task);
            self.len.fetch_add(1, Ordering::Release);
        }

        pub(crate) fn pop(&self) -> Option<T> {
            if self.len() == 0 {
                return None;
            }
            let task = lock(&self.tasks).pop_front();
            if task.is_some() {
                self.len.fetch_sub(1, Ordering::Release);
            }
            task
        }

        pub(crate) fn len(&self) -> usize {
            self.len.load(Ordering::Acquire)
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::ThreadPool;
    use crate::sync::{Mutex, lock};

    /// Last in, first out.
    struct NewestFirst<T>(Mutex<Vec<T>>);

    impl<T: Send> Order<T> for NewestFirst<T> {
        fn push(&self, task: T) {
            lock(&self.0).push(task);
        }

        fn pop(&self) -> Option<T> {
            lock(&self.0).pop()
        }

        fn len(&self) -> usize {
            lock(&self.0).len()
        }
    }

    /// In which order a pool of one worker runs three tasks.
    fn check(order: Option<NewestFirst<Task>>, expected: [u32; 3]) {
        let builder = ThreadPool::builder().workers(1);
        let builder = match order {
            Some(order) => builder.order(Box::new(order)),
            None => builder,
        };
        let pool = builder.build().expect("no fault");
        let (told, heard) = mpsc::channel();
        pool.pause();
        for n in 1..=3 {
            let told = told.clone();
            pool.spawn(move || told.send(n).expect("somebody listens")).expect("there is room");
        }
        pool.resume();
        assert_eq!([heard.recv(), heard.recv(), heard.recv()], expected.map(Ok));
    }

    type Task = crate::engine::Entry<crate::task::SmallWork>;

    #[test]
    fn tasks_leave_in_the_order_in_which_they_came() {
        check(None, [1, 2, 3]);
    }

    #[test]
    fn another_order_is_another_line_and_nothing_else() {
        check(Some(NewestFirst(Mutex::new(Vec::new()))), [3, 2, 1]);
    }
}
