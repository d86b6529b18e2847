//! What was decided at the desk and is done after its lock was released.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use headcount_core::Poke;
use headcount_core::roster::WorkerId;

use super::Kind;
use super::badge::Badge;
use crate::event::Event;

/// Who visits the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visitor {
    /// Brings a task, and runs what waits if nobody else will.
    Submitter,
    /// Looks at the time anyway.
    Keeper,
    /// Comes for something else, and runs no task.
    Other,
}

/// A list of things to do, in the order in which they are done.
pub(crate) struct Errands<K: Kind> {
    pub(crate) rouse: Vec<Arc<Badge<K>>>,
    pub(crate) wake: Vec<Waker>,
    pub(crate) ring_keeper: bool,
    pub(crate) visitor: Visitor,
    /// Whether tasks wait and no worker will come for them.
    pub(crate) deserted: bool,
    pub(crate) events: Vec<Event>,
    /// Whoever asked to be called when the pool is full.
    pub(crate) poke: Option<Poke>,
    pub(crate) start: Vec<WorkerId>,
    /// Whether alarms are rung after these, and whoever hears them may hold the keeper up.
    pub(crate) rings_alarms: bool,
}

impl<K: Kind> Errands<K> {
    /// None yet, for whoever visits.
    pub(crate) fn of(visitor: Visitor) -> Self {
        Self {
            rouse: Vec::new(),
            wake: Vec::new(),
            ring_keeper: false,
            visitor,
            deserted: false,
            events: Vec::new(),
            poke: None,
            start: Vec::new(),
            rings_alarms: false,
        }
    }

    pub(crate) fn rouse(&mut self, badge: Arc<Badge<K>>) {
        self.rouse.push(badge);
    }

    pub(crate) fn wake_all(&mut self, wakers: impl Iterator<Item = Waker>) {
        self.wake.extend(wakers);
    }

    /// They are the keeper's own, who looks at the time anyway.
    pub(crate) fn are_keepers(&mut self) {
        self.visitor = Visitor::Keeper;
    }

    pub(crate) fn is_keepers(&self) -> bool {
        self.visitor == Visitor::Keeper
    }

    /// Whether the keeper has workers to start, and nobody to call who could hold it up.
    pub(crate) fn only_start(&self) -> bool {
        !self.start.is_empty() && self.wake.is_empty() && !self.rings_alarms
    }

    pub(crate) fn ring_keeper(&mut self) {
        self.ring_keeper = !self.is_keepers();
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(crate) fn start(&mut self, worker: WorkerId) {
        self.start.push(worker);
    }
}

impl<K: Kind> fmt::Debug for Errands<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errands").finish_non_exhaustive()
    }
}
