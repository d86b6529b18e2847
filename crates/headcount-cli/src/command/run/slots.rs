//! Numbers for jobs that run at the same time: the lowest that is free, from 1 on.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Gives out slots.
#[derive(Debug, Default)]
pub(super) struct Slots {
    free: Mutex<(BTreeSet<usize>, usize)>,
}

/// A slot that is held; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    pub(super) number: usize,
}

impl Slots {
    pub(super) fn take(&self) -> Slot<'_> {
        let mut guard = self.lock();
        let (free, given) = &mut *guard;
        let number = free.pop_first().unwrap_or_else(|| {
            *given += 1;
            *given
        });
        Slot { slots: self, number }
    }

    fn lock(&self) -> MutexGuard<'_, (BTreeSet<usize>, usize)> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.slots.lock().0.insert(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_one_is_given() {
        let slots = Slots::default();
        let (first, second, third) = (slots.take(), slots.take(), slots.take());
        assert_eq!([first.number, second.number, third.number], [1, 2, 3]);
        drop((first, second));
        let (again, next) = (slots.take(), slots.take());
        assert_eq!([again.number, next.number], [1, 2]);
    }
}
