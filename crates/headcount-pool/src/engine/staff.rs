//! The workers of a pool, each in the slot that the roster gave it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::roster::WorkerId;
use headcount_core::{Name, Timestamp};

use super::Kind;
use super::badge::Badge;

/// The workers that exist, by slot.
pub(crate) struct Staff<K: Kind> {
    posts: Vec<Option<Post<K>>>,
    count: usize,
    /// What those took who are gone.
    taken_by_gone: u64,
}

/// One worker.
pub(crate) struct Post<K: Kind> {
    pub(crate) worker: WorkerId,
    pub(crate) badge: Arc<Badge<K>>,
    pub(crate) hired_at: Timestamp,
    /// What is left to bury. `None`: not started yet, or the keeper has it.
    hand: Option<K::Hand>,
    /// The beginning of a task that was told to be stuck.
    stuck: Option<Timestamp>,
}

impl<K: Kind> Default for Staff<K> {
    fn default() -> Self {
        Self { posts: Vec::new(), count: 0, taken_by_gone: 0 }
    }
}

impl<K: Kind> Staff<K> {
    pub(crate) fn hire(&mut self, worker: WorkerId, badge: Arc<Badge<K>>, now: Timestamp) {
        if self.posts.len() <= worker.slot() {
            self.posts.resize_with(worker.slot() + 1, || None);
        }
        let post = Post { worker, badge, hired_at: now, hand: None, stuck: None };
        let before = self.posts[worker.slot()].replace(post);
        assert!(before.is_none(), "the roster gives a slot to one worker at a time");
        self.count += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The workers that exist.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Post<K>> {
        self.posts.iter().flatten()
    }

    /// How many workers have such a badge.
    pub(crate) fn count(&self, such: impl Fn(&Badge<K>) -> bool) -> u32 {
        let count = self.iter().filter(|post| such(&post.badge)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    pub(crate) fn badge(&self, worker: WorkerId) -> Arc<Badge<K>> {
        Arc::clone(&self.post(worker).badge)
    }

    pub(crate) fn hired_at(&self, worker: WorkerId) -> Timestamp {
        self.post(worker).hired_at
    }

    /// The worker was started, and this is what is left when it ends.
    ///
    /// Nobody is buried before its hand is known. One that was lost meanwhile is not there any
    /// more, and has nothing to bury.
    pub(crate) fn set_hand(&mut self, worker: WorkerId, hand: K::Hand) {
        let post = self.posts[worker.slot()].as_mut().filter(|post| post.worker == worker);
        if let Some(post) = post {
            post.hand = Some(hand);
        }
    }

    pub(crate) fn has_hand(&self, worker: WorkerId) -> bool {
        self.post(worker).hand.is_some()
    }

    pub(crate) fn take_hand(&mut self, worker: WorkerId) -> Option<K::Hand> {
        self.posts[worker.slot()].as_mut()?.hand.take()
    }

    pub(crate) fn remove(&mut self, worker: WorkerId) {
        if let Some(post) = self.posts[worker.slot()].take() {
            self.taken_by_gone += post.badge.taken();
            self.count -= 1;
        }
    }

    /// How many tasks workers took since the beginning.
    pub(crate) fn taken(&self) -> u64 {
        self.taken_by_gone + self.iter().map(|post| post.badge.taken()).sum::<u64>()
    }

    /// How many tasks workers took that have not been counted by what became of them.
    pub(crate) fn in_hand(&self) -> u64 {
        self.iter().map(|post| post.badge.in_hand()).sum()
    }

    /// Those whose task has run for as long as that and was not told of before: the worker, since
    /// when, and the task's class.
    pub(crate) fn newly_stuck(
        &mut self,
        now: Timestamp,
        stuck_after: Duration,
    ) -> Vec<(WorkerId, Timestamp, Option<Name>)> {
        let mut found = Vec::new();
        for post in self.posts.iter_mut().flatten() {
            let Some(since) = post.badge.since() else { continue };
            if stuck_after <= now.since(since) && post.stuck != Some(since) {
                post.stuck = Some(since);
                found.push((post.worker, since, post.badge.class()));
            }
        }
        found
    }

    fn post(&self, worker: WorkerId) -> &Post<K> {
        let post = self.posts.get(worker.slot()).and_then(Option::as_ref);
        post.expect("the roster only speaks of workers that exist")
    }
}

impl<K: Kind> fmt::Debug for Staff<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Staff").field("count", &self.count).finish_non_exhaustive()
    }
}
