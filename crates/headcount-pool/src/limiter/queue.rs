//! Those who wait, in their order. Pure.
//!
//! Who gives up leaves a gap, so that nobody behind has to move; there are never more gaps than
//! people.

use std::collections::VecDeque;

/// Places that an empty queue keeps for the next ones.
const KEPT_MAX: usize = 1024;

/// A queue in which everybody has a number.
#[derive(Debug)]
pub(super) struct Queue<W> {
    /// By number. The first is no gap.
    places: VecDeque<(u64, Option<W>)>,
    len: usize,
    next_number: u64,
}

impl<W> Queue<W> {
    pub(super) fn new() -> Self {
        Self { places: VecDeque::new(), len: 0, next_number: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The number of the first, or of the next one to come where nobody waits.
    pub(super) fn first_number(&self) -> u64 {
        self.places.front().map_or(self.next_number, |(number, _)| *number)
    }

    pub(super) fn first(&self) -> Option<&W> {
        self.places.front().and_then(|(_, waiter)| waiter.as_ref())
    }

    /// Stands at the end, with this number.
    pub(super) fn push(&mut self, waiter: W) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.len += 1;
        self.places.push_back((number, Some(waiter)));
        number
    }

    pub(super) fn pop(&mut self) -> Option<W> {
        let waiter = self.places.pop_front().and_then(|(_, waiter)| waiter);
        self.len -= waiter.iter().len();
        self.close_gaps();
        waiter
    }

    /// Who has this number. `None`: nobody has it any more.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut W> {
        let index = self.index_of(number)?;
        self.places[index].1.as_mut()
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<W> {
        let index = self.index_of(number)?;
        let waiter = self.places[index].1.take()?;
        self.len -= 1;
        self.close_gaps();
        Some(waiter)
    }

    /// Takes everybody out.
    pub(super) fn clear(&mut self) -> Vec<W> {
        self.len = 0;
        std::mem::take(&mut self.places).into_iter().filter_map(|(_, waiter)| waiter).collect()
    }

    fn index_of(&self, number: u64) -> Option<usize> {
        self.places.binary_search_by_key(&number, |(number, _)| *number).ok()
    }

    fn close_gaps(&mut self) {
        while self.places.front().is_some_and(|(_, waiter)| waiter.is_none()) {
            self.places.pop_front();
        }
        // As many have given up since the last time as are moved now.
        if 2 * self.len < self.places.len() {
            self.places.retain(|(_, waiter)| waiter.is_some());
        }
        if self.places.is_empty() {
            self.places.shrink_to(KEPT_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The middle of the queue gives up behind somebody who waits for ever.
    #[test]
    fn gaps_do_not_pile_up() {
        let mut queue = Queue::new();
        let patient = queue.push(0);
        for n in 1..10_000 {
            let number = queue.push(n);
            assert_eq!(queue.remove(number), Some(n));
            assert!(queue.places.len() <= 2 * queue.len(), "{} places", queue.places.len());
        }
        assert_eq!((queue.len(), queue.first_number()), (1, patient));
    }

    #[test]
    fn an_empty_queue_keeps_little() {
        let mut queue = Queue::new();
        for n in 0..100_000 {
            queue.push(n);
        }
        while queue.pop().is_some() {}
        assert!(queue.places.capacity() <= 2 * KEPT_MAX);
    }
}
