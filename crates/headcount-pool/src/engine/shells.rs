//! Room where tasks have ended in the line.
//!
//! A task that is cancelled in the line, or whose time is up there, leaves its shell in its place,
//! and so does one that somebody begins who waits for it, or the hint to a task of a scope that
//! somebody else has begun. Where the line is full, those who want a place clear the shells out.
//! Where the pool is paused and nothing else waits, those who wait for calm do.

use std::sync::Arc;

use super::Kind;
use super::machine::Engine;
use super::notice::{CALM, ROOM};
use crate::sync::atomic::{Ordering, fence};

impl<K: Kind> Engine<K> {
    /// Clears shells out of the line, if there are enough of them, and says whether there was one.
    #[cold]
    pub(crate) fn clear_shells(self: &Arc<Self>) -> bool {
        if !self.floor.has_many_shells() {
            return false;
        }
        let cleared = self.floor.clear_shells(K::take_shell);
        // Whatever was cleared: a worker that took one meanwhile may have counted another twice as
        // it moved, and called nobody.
        self.places_are_free();
        0 < cleared
    }

    /// Clears shells out where nothing else waits, so that a paused pool can be idle.
    #[cold]
    pub(crate) fn clear_last_shells(self: &Arc<Self>) {
        let has_shells = 0 < self.floor.shells();
        // Where none could be taken out nobody is told: whoever waits would only come here again.
        if has_shells && 0 < self.floor.clear_last_shells(K::take_shell) {
            self.places_are_free();
        }
    }

    fn places_are_free(self: &Arc<Self>) {
        self.visit(0, |desk, _, errands| {
            desk.serve_room(&self.floor, errands);
            // Where nothing else waited, the pool is idle now.
            desk.news(errands);
        });
    }

    /// A task has left its shell, which was counted: those who wait for room may get its place.
    pub(crate) fn shell_was_left(self: &Arc<Self>) {
        // Pairs with the one after a flag was raised: either we see the flag or they the shell.
        fence(Ordering::SeqCst);
        let flags = self.floor.notice.read();
        if flags & ROOM != 0 {
            self.clear_shells();
        }
        if flags & CALM != 0 {
            self.clear_last_shells();
        }
    }
}
