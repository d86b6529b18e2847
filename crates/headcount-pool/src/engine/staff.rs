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
    /// How many tasks were told to have begun.
    started_told: u64,
}

/// One worker.
pub(crate) struct Post<K: Kind> {
    pub(crate) worker: WorkerId,
    /// `None`: it has not come yet.
    pub(crate) badge: Option<Arc<Badge<K>>>,
    pub(crate) hired_at: Timestamp,
    /// What is left to bury. `None`: not started yet, or the keeper has it.
    hand: Option<K::Hand>,
}

impl<K: Kind> Default for Staff<K> {
    fn default() -> Self {
        Self { posts: Vec::new(), count: 0, taken_by_gone: 0, started_told: 0 }
    }
}

impl<K: Kind> Staff<K> {
    pub(crate) fn hire(&mut self, worker: WorkerId, now: Timestamp) {
        if self.posts.len() <= worker.slot() {
            self.posts.resize_with(worker.slot() + 1, || None);
        }
        let post = Post { worker, badge: None, hired_at: now, hand: None };
        let before = self.posts[worker.slot()].replace(post);
        assert!(before.is_none(), "the roster gives a slot to one worker at a time");
        self.count += 1;
    }

    /// It has come, and wears this.
    pub(crate) fn came(&mut self, worker: WorkerId, badge: Arc<Badge<K>>) {
        let post = self.posts[worker.slot()].as_mut().filter(|post| post.worker == worker);
        post.expect("whoever comes was hired").badge = Some(badge);
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
        let count = self.badges().filter(|badge| such(badge)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// What a worker wears, if it has come.
    pub(crate) fn badge(&self, worker: WorkerId) -> Option<&Arc<Badge<K>>> {
        self.post(worker).badge.as_ref()
    }

    /// The badges of those who have come.
    pub(crate) fn badges(&self) -> impl Iterator<Item = &Badge<K>> {
        self.iter().filter_map(|post| post.badge.as_deref())
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
            self.taken_by_gone += post.badge.map_or(0, |badge| badge.taken());
            self.count -= 1;
        }
    }

    /// How many tasks workers took since the beginning.
    pub(crate) fn taken(&self) -> u64 {
        self.taken_by_gone + self.badges().map(Badge::taken).sum::<u64>()
    }

    /// How many tasks have begun, of whom so many have ended, as read before this.
    ///
    /// Whoever has counted one in between, and settled, counts neither here nor there. So what was
    /// told before stands: it was none too many, and a count that falls is no count.
    pub(crate) fn started_of(&mut self, completed: u64, accepted: u64) -> u64 {
        let started = (completed + self.in_hand()).min(accepted);
        self.started_told = self.started_told.max(started);
        self.started_told
    }

    /// How many tasks workers took that have not been counted by what became of them.
    fn in_hand(&self) -> u64 {
        self.badges().map(Badge::in_hand).sum()
    }

    /// Those whose task has run for as long as that and was not told of before: the worker, since
    /// when, and the task's class.
    pub(crate) fn newly_stuck(
        &self,
        now: Timestamp,
        stuck_after: Duration,
    ) -> Vec<(WorkerId, Timestamp, Option<Name>)> {
        let stuck = self.iter().filter_map(|post| {
            let badge = post.badge.as_ref()?;
            let since = badge.since().filter(|since| stuck_after <= now.since(*since))?;
            badge.is_stuck_since(since).then(|| (post.worker, since, badge.class()))
        });
        stuck.collect()
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
