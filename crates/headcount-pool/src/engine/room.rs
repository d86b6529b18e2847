//! Who waits for a place in the line, the longest first.
//!
//! Whoever queues is called once and is then out of the queue, whether it takes the place or not.
//! A waker is the user's, so none is dropped or woken here: it is handed out.

use std::collections::VecDeque;
use std::task::Waker;

/// Those who wait for a place, by ticket.
#[derive(Debug, Default)]
pub(crate) struct RoomQueue {
    waiting: VecDeque<(u64, Waker)>,
    tickets: u64,
}

impl RoomQueue {
    /// Queues for a place in the line. The caller raises `ROOM` and counts once more.
    pub(crate) fn join(&mut self, waker: Waker) -> u64 {
        self.tickets += 1;
        self.waiting.push_back((self.tickets, waker));
        self.tickets
    }

    /// Whether it still queues.
    pub(crate) fn has(&self, ticket: u64) -> bool {
        self.waiting.iter().any(|(known, _)| *known == ticket)
    }

    /// Does not queue any more, if it still did. What is left of it is to be dropped away from the
    /// desk.
    pub(crate) fn leave(&mut self, ticket: u64) -> Option<Waker> {
        let index = self.waiting.iter().position(|(known, _)| *known == ticket)?;
        self.waiting.remove(index).map(|(_, waker)| waker)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Calls the first of them, as many as there are places.
    pub(crate) fn call(&mut self, places: u64) -> impl Iterator<Item = Waker> {
        let called = usize::try_from(places).unwrap_or(usize::MAX).min(self.waiting.len());
        self.waiting.drain(..called).map(|(_, waker)| waker)
    }
}
