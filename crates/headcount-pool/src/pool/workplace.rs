//! The pool, as its tasks see it: where they run, and what keeps their promises.

use std::fmt;
use std::sync::{Arc, Weak};

use headcount_core::roster::WorkerId;
use headcount_core::{Name, Timestamp};

use crate::engine::{Alarm, Badge, Deadline, Engine, Fate, Kind};
use crate::task::{BlocksOn, Home, Workplace};

/// Where a worker works, as its task sees it. Every worker has one, so it is small: it fits where
/// the start of its thread has given memory back, as its badge does.
pub(crate) struct Place<K: Kind> {
    engine: Arc<Engine<K>>,
    worker: WorkerId,
    badge: Arc<Badge<K>>,
}

impl<K: Kind> Place<K> {
    pub(crate) fn at(
        engine: &Arc<Engine<K>>,
        worker: WorkerId,
        badge: &Arc<Badge<K>>,
    ) -> Arc<dyn Workplace> {
        let (engine, badge) = (Arc::clone(engine), Arc::clone(badge));
        Arc::new(Self { engine, worker, badge })
    }
}

impl<K: Kind> Workplace for Place<K> {
    fn pool(&self) -> usize {
        self.engine.number()
    }

    fn blocks(&self, on: BlocksOn) {
        if self.badge.opens_section() {
            self.engine.blocks(self.worker, &self.badge, on);
        }
    }

    fn unblocks(&self) {
        if self.badge.closes_section() {
            self.engine.unblocks(self.worker, &self.badge);
        }
    }
}

impl<K: Kind> fmt::Debug for Place<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

impl<K: Kind> Home for Engine<K> {
    fn pool(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn now(&self) -> Timestamp {
        Engine::now(self)
    }

    fn ended(&self, fate: Fate) {
        self.ended_unrun(fate);
    }

    fn shell_left(&self) {
        self.floor.shell_left();
    }

    fn shell_taken(&self) {
        self.floor.shell_taken();
    }

    fn shell_was_left(self: Arc<Self>) {
        Engine::shell_was_left(&self);
    }

    #[cfg(feature = "tokio")]
    fn beside(self: Arc<Self>) -> Box<dyn Send + Sync> {
        Box::new(Engine::beside(&self))
    }

    fn expired(&self, class: Option<Name>) {
        Engine::expired(self, class);
    }

    fn panicked(&self, class: Option<Name>, message: &str) {
        Engine::panicked(self, class, message.to_owned());
    }

    fn remind(&self, at: Timestamp, deadline: Weak<dyn Deadline>) {
        self.remind_at(at, Alarm::Tell(deadline));
    }
}
