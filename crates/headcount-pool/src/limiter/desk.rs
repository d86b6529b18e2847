//! Two ways in and out: by the wicket without a lock, and by the desk.
//!
//! Whoever stands at the desk has the lock and the wicket's word. It leaves the wicket open behind
//! it if nobody has to ask.

use std::ops::{Deref, DerefMut};

use headcount_core::Timestamp;

use super::gate::Entry;
use super::state::State;
use super::wicket::{Passage, Wicket};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, lock};

#[derive(Debug)]
pub(super) struct Gatehouse {
    wicket: Wicket,
    /// How many were refused at the wicket and are not in the books yet.
    refused: AtomicU64,
    state: Mutex<State>,
}

impl Gatehouse {
    pub(super) fn new(limit: u32, now: Timestamp) -> Self {
        let state = Mutex::new(State::new(limit, now));
        Self { wicket: Wicket::new(limit), refused: AtomicU64::new(0), state }
    }

    /// Comes in, if that needs no lock.
    pub(super) fn pass(&self) -> Passage {
        self.wicket.enter()
    }

    /// Leaves, if that needs no lock, and says whether it did.
    pub(super) fn leave(&self) -> bool {
        self.wicket.leave()
    }

    /// Refuses somebody for whom the wicket had no place, and counts it.
    pub(super) fn refuse(&self) -> Entry {
        self.refused.fetch_add(1, Ordering::Relaxed);
        Entry::Full
    }

    /// Hands over the count of those refused, for the books.
    pub(super) fn take_refused(&self) -> u64 {
        self.refused.swap(0, Ordering::Relaxed)
    }

    pub(super) fn desk(&self) -> Desk<'_> {
        let mut state = lock(&self.state);
        // Then whoever was here last has left it open.
        if state.gate().free_for_all().is_some() {
            state.passed(self.wicket.shut());
        }
        Desk { gatehouse: self, state }
    }
}

/// The state, for as long as nobody else can change it.
pub(super) struct Desk<'a> {
    gatehouse: &'a Gatehouse,
    state: MutexGuard<'a, State>,
}

impl Deref for Desk<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Desk<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for Desk<'_> {
    /// Before the lock is let go, which happens after this.
    fn drop(&mut self) {
        if let Some(free) = self.state.gate().free_for_all() {
            self.gatehouse.wicket.open(free);
        }
    }
}
