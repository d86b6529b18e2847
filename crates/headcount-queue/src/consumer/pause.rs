//! How long to leave a store alone that does not answer.

use std::time::Duration;

use crate::chance::jittered;

/// How long to leave a store alone: longer each time, never long, and never in step with others.
#[derive(Debug)]
pub(super) struct Pause {
    next: Duration,
}

impl Pause {
    const LEAST: Duration = Duration::from_millis(100);
    const MOST: Duration = Duration::from_secs(2);

    pub(super) const fn new() -> Self {
        Self { next: Self::LEAST }
    }

    pub(super) const fn reset(&mut self) {
        self.next = Self::LEAST;
    }

    pub(super) fn next(&mut self) -> Duration {
        let span = jittered(self.next);
        self.next = (self.next * 2).min(Self::MOST);
        span
    }
}
