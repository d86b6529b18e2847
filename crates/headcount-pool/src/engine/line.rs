//! Where tasks wait: a port, with first in first out as its plain form.
//!
//! The plain form is not behind a pointer, so whoever wants no other order pays for none.

use std::fmt;

use crossbeam_queue::SegQueue;

use super::ring::Ring;

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

/// Beyond this length a ring would take up too much, and the line is a list.
const RING_LEN_MAX: u64 = 1 << 16;

/// The tasks that wait.
#[expect(clippy::large_enum_variant, reason = "there is one line to a pool, and no way around")]
pub(crate) enum Line<T> {
    /// First in, first out.
    Fifo(Ring<T>),
    /// In another order, or too long for a ring.
    Ordered(Box<dyn Order<T>>),
}

impl<T: Send + 'static> Line<T> {
    /// For at most `len_max` tasks, in this order, or first in first out.
    pub(crate) fn new(len_max: u64, order: Option<Box<dyn Order<T>>>) -> Self {
        match order {
            Some(order) => Self::Ordered(order),
            None if len_max <= RING_LEN_MAX => Self::Fifo(Ring::new(len_max)),
            None => Self::Ordered(Box::new(SegQueue::new())),
        }
    }
}

impl<T: Send> Line<T> {
    /// Puts the task in that the door gave this number.
    pub(crate) fn put(&self, number: u64, task: T) {
        match self {
            Self::Fifo(line) => line.put(number, task),
            Self::Ordered(line) => line.push(task),
        }
    }

    /// Takes the task whose turn it is into `hand`, and says whether it was here.
    ///
    /// Into a hand, because a task is large: each time it is returned it is copied.
    pub(crate) fn pop(&self, hand: &mut Option<T>) -> bool {
        match self {
            Self::Fifo(line) => line.pop(hand),
            Self::Ordered(line) => {
                *hand = line.pop();
                hand.is_some()
            }
        }
    }

    /// The same, whether the line is held or not. For whoever has the lock of the aside.
    pub(crate) fn pop_held(&self, hand: &mut Option<T>) -> bool {
        match self {
            Self::Fifo(line) => line.pop_held(hand),
            Self::Ordered(_) => self.pop(hand),
        }
    }

    /// Lets nobody take but by `pop_held`, and says whether this line can be held.
    pub(crate) fn hold(&self) -> bool {
        match self {
            Self::Fifo(line) => {
                line.hold();
                true
            }
            Self::Ordered(_) => false,
        }
    }

    /// Lets everybody take again.
    pub(crate) fn release(&self) {
        if let Self::Fifo(line) = self
            && line.is_held()
        {
            line.release();
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        matches!(self, Self::Fifo(line) if line.is_held())
    }

    /// How many wait, where so many were let in as `admitted` says when it is asked.
    pub(crate) fn len(&self, admitted: impl FnOnce() -> u64) -> u64 {
        match self {
            Self::Fifo(line) => {
                // In this order: what is taken meanwhile is counted once too often, none too few.
                let taken = line.taken();
                admitted().saturating_sub(taken)
            }
            Self::Ordered(line) => line.len() as u64,
        }
    }
}

impl<T: Send> Order<T> for SegQueue<T> {
    fn push(&self, task: T) {
        self.push(task);
    }

    fn pop(&self) -> Option<T> {
        self.pop()
    }

    fn len(&self) -> usize {
        self.len()
    }
}

impl<T> fmt::Debug for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
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
