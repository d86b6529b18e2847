//! The jobs that wait, oldest first.

use std::collections::VecDeque;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::roster::{Turn, Waiting};

use crate::load::Job;

/// A job that waits, or runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queued {
    pub(super) job: Job,
    /// Which job of its pool it is.
    pub(super) number: u32,
    /// When it was last put in the line.
    pub(super) since: Timestamp,
    /// How often it failed.
    pub(super) failures: u8,
}

/// The jobs that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(VecDeque<Queued>);

impl Line {
    pub(super) fn push(&mut self, queued: Queued) {
        self.0.push_back(queued);
    }

    /// Takes the one whose turn it is.
    pub(super) fn pop(
        &mut self,
        now: Timestamp,
        newest_first_after: Option<Duration>,
    ) -> Option<Queued> {
        let oldest_waited = now.since(self.0.front()?.since);
        match Turn::of(newest_first_after, oldest_waited) {
            Turn::Oldest => self.0.pop_front(),
            Turn::Newest => self.0.pop_back(),
        }
    }

    /// Takes all of them, oldest first.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Queued> + use<> {
        std::mem::take(&mut self.0).into_iter()
    }

    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Takes out one that has waited for longer than it may.
    pub(super) fn pop_expired(&mut self, now: Timestamp, after: Duration) -> Option<Queued> {
        let is_expired = self.0.front().is_some_and(|queued| after < now.since(queued.since));
        is_expired.then(|| self.0.pop_front()).flatten()
    }
}

impl Waiting for Line {
    fn queued(&self) -> u64 {
        self.len()
    }

    fn submitted(&self, rank: u64) -> Option<Timestamp> {
        self.0.get(usize::try_from(rank).ok()?).map(|queued| queued.since)
    }
}
