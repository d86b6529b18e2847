//! All schedules of a consumer, and what is due of them.

use headcount_core::Timestamp;
use headcount_core::jobs::port::NewJob;

use super::calendar::Schedule;

/// All schedules of a consumer, and what is due of them.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    schedule: Schedule,
    /// Up to when its ticks are submitted, or skipped.
    done_until: Timestamp,
}

impl Roster {
    /// What somebody keeps who begins now.
    pub(crate) fn new(schedules: Vec<Schedule>, now: Timestamp) -> Self {
        let entry = |schedule: Schedule| {
            let done_until = schedule.begin(now);
            Entry { schedule, done_until }
        };
        Self { entries: schedules.into_iter().map(entry).collect() }
    }

    /// The jobs that are due now. Asked again, it says them again, until [`Roster::submitted`].
    pub(crate) fn due(&self, now: Timestamp) -> Vec<NewJob> {
        let due = self.entries.iter().filter_map(|entry| {
            let tick = entry.schedule.due(entry.done_until, now)?;
            Some(entry.schedule.tick(tick))
        });
        due.collect()
    }

    /// All that was due now is in the store.
    pub(crate) fn submitted(&mut self, now: Timestamp) {
        for entry in &mut self.entries {
            entry.done_until = entry.done_until.max(now);
        }
    }

    /// When the next tick of any of them is.
    pub(crate) fn next(&self, now: Timestamp) -> Option<Timestamp> {
        let next = |entry: &Entry| entry.schedule.next_after(entry.done_until.max(now));
        self.entries.iter().filter_map(next).min()
    }
}
