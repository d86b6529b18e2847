//! Room where tasks have ended in the line.
//!
//! A task that is cancelled in the line, or whose time is up there, leaves its shell in its place.
//! Where the line is full, those who want a place clear the shells out.

use std::sync::Arc;

use super::Kind;
use super::machine::Engine;
use super::notice::ROOM;
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
        self.visit(0, |desk, _, errands| {
            desk.serve_room(&self.floor, errands);
            // Where nothing else waited, the pool is idle now.
            desk.news(errands);
        });
        0 < cleared
    }

    /// A task has left its shell, which was counted: those who wait for room may get its place.
    pub(crate) fn shell_was_left(self: &Arc<Self>) {
        // Pairs with the one after `ROOM` was raised: either we see the flag or they the shell.
        fence(Ordering::SeqCst);
        if self.floor.notice.read() & ROOM != 0 {
            self.clear_shells();
        }
    }
}
