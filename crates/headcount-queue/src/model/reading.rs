//! The queue in numbers, and page by page.

use headcount_core::Timestamp;
use headcount_core::jobs::port::{Cursor, Listing, Page, StoreError};
use headcount_core::jobs::{JobId, QueueStats, State};

use super::queue::Queue;

impl Queue {
    pub(super) fn stats(&self, now: Timestamp) -> QueueStats {
        let mut stats = QueueStats { now, ..QueueStats::default() };
        for job in self.jobs.values() {
            stats.jobs[job.state] += 1;
        }
        let heads = self.lines.heads();
        stats.oldest_ready_at = heads.iter().map(|id| self.job(*id).due_at).min();
        stats.next_due_at = self.timed().first().map(|(due_at, _)| *due_at);
        stats.paused = self.paused;
        stats.holders = u32::try_from(self.leases.len()).unwrap_or(u32::MAX);
        stats.totals = self.totals;
        stats
    }

    /// The ids of a state, in the order of its listing.
    pub(super) fn listed(&self, state: State) -> Vec<JobId> {
        match state {
            State::Ready => self.lines.all(),
            State::Scheduled | State::Retrying => {
                let ids = self.timed().into_iter().map(|(_, id)| id);
                ids.filter(|id| self.job(*id).state == state).collect()
            }
            _ => self.in_state(state).map(|job| job.id).collect(),
        }
    }

    pub(super) fn list(&self, listing: Listing) -> Result<Page, StoreError> {
        let (state, cursor, limit) = match listing {
            Listing::In { state, cursor, limit } => (state, cursor, limit),
            Listing::Ids(ids) => {
                let jobs = ids.iter().filter_map(|id| self.jobs.get(id)).cloned().collect();
                return Ok(Page { jobs, next: None });
            }
        };
        let limit = limit.clamp(1, Listing::LIMIT_MAX);
        let from = cursor.as_ref().map_or(Ok(0), place)?;
        let ids = self.listed(state);
        let until = ids.len().min(from.saturating_add(limit));
        let page = ids.get(from..until).unwrap_or_default();
        let next = (until < ids.len()).then(|| Cursor::new(until.to_string()));
        Ok(Page { jobs: page.iter().map(|id| self.job(*id).clone()).collect(), next })
    }
}

fn place(cursor: &Cursor) -> Result<usize, StoreError> {
    cursor.as_str().parse().map_err(|_| {
        StoreError::Refused(format!("{:?} is no place in a list; begin anew", cursor.as_str()))
    })
}
