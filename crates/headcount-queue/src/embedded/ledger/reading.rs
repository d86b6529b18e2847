//! The queue in numbers, and page by page.

use headcount_core::Timestamp;
use headcount_core::jobs::port::{Cursor, Listing, StoreError};
use headcount_core::jobs::{Holder, JobId, Key, Label, QueueStats, State};

use crate::embedded::row::Row;

use super::queue::{Queue, Spot};

/// Where a page ended: the job it ended with, by what its state is listed by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A ready one: priority, tenant, place.
    Lane(u8, Option<Label>, i64),
    /// A ready one that was set aside: key, place in its line.
    Aside(Key, i64),
    /// One that waits for its time.
    Due(u64, JobId),
    /// Any other.
    Id(JobId),
}

impl Queue {
    pub(crate) fn stats(&self, now: u64) -> QueueStats {
        let heads = self.lanes.heads().map(|slot| self.jobs[slot].row.due_at);
        QueueStats {
            jobs: self.counts,
            now: Timestamp::from_millis(now),
            oldest_ready_at: heads.min().map(Timestamp::from_millis),
            next_due_at: self.next_due().map(Timestamp::from_millis),
            paused: self.numbers.paused,
            holders: u32::try_from(self.leases.len()).unwrap_or(u32::MAX),
            totals: self.numbers.totals,
        }
    }

    /// What is known of a job, and who holds it.
    pub(crate) fn job(&self, id: JobId) -> Option<(Row, Option<(Holder, u64)>)> {
        let slot = *self.slots.get(&id)?;
        let held = self.holds.get(&slot).map(|hold| (hold.holder, hold.epoch));
        Some((self.jobs[slot].row, held))
    }

    /// The ids of a page, and where the next one begins if there is one.
    pub(crate) fn page(
        &self,
        state: State,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<(Vec<JobId>, Option<Cursor>), StoreError> {
        let limit = limit.clamp(1, Listing::LIMIT_MAX);
        let from = cursor.map(|cursor| Place::parse(cursor, state)).transpose()?;
        let mut ids = self.listed(state, from, limit + 1);
        let more = limit < ids.len();
        ids.truncate(limit);
        let last = ids.last().and_then(|id| self.slots.get(id)).filter(|_| more);
        let next = last.map(|slot| self.place(*slot).cursor());
        Ok((ids, next))
    }

    /// Some ids of a state in the order of its listing, from after a place on.
    pub(super) fn listed(&self, state: State, from: Option<Place>, limit: usize) -> Vec<JobId> {
        let id = |slot: u32| self.jobs[slot].id;
        match state {
            State::Ready => {
                let (lane, aside) = match from {
                    Some(Place::Lane(priority, tenant, place)) => {
                        (Some(Some((priority, tenant, place))), None)
                    }
                    Some(Place::Aside(key, place)) => (None, Some((key, place))),
                    _ => (Some(None), None),
                };
                let lanes = lane.into_iter().flat_map(|last| self.lanes.after(last));
                lanes.chain(self.keys.after(aside)).take(limit).map(id).collect()
            }
            State::Scheduled | State::Retrying => {
                let timed = &self.timed[usize::from(state == State::Retrying)];
                let after = match from {
                    Some(Place::Due(due, id)) => std::ops::Bound::Excluded((due, id)),
                    _ => std::ops::Bound::Unbounded,
                };
                let range = timed.range((after, std::ops::Bound::Unbounded));
                range.take(limit).map(|((_, id), _)| *id).collect()
            }
            _ => {
                let after = match from {
                    Some(Place::Id(id)) => std::ops::Bound::Excluded(id),
                    _ => std::ops::Bound::Unbounded,
                };
                let ids = self.by_id[state as usize].range((after, std::ops::Bound::Unbounded));
                ids.take(limit).copied().collect()
            }
        }
    }

    fn place(&self, slot: u32) -> Place {
        let entry = &self.jobs[slot];
        match (entry.row.state, entry.spot, entry.key) {
            (State::Ready, Spot::Aside(place), Some(key)) => {
                Place::Aside(self.keys.name(key).clone(), place)
            }
            (State::Ready, ..) => {
                let (priority, tenant) = self.lanes.name(entry.lane);
                Place::Lane(priority, tenant.cloned(), entry.row.place)
            }
            (State::Scheduled | State::Retrying, ..) => Place::Due(entry.row.due_at, entry.id),
            _ => Place::Id(entry.id),
        }
    }
}

impl Place {
    fn cursor(&self) -> Cursor {
        Cursor::new(match self {
            Self::Lane(priority, None, place) => format!("l:{priority}:{place}"),
            Self::Lane(priority, Some(tenant), place) => format!("l:{priority}:{place}:{tenant}"),
            Self::Aside(key, place) => format!("a:{place}:{key}"),
            Self::Due(due, id) => format!("d:{due}:{id}"),
            Self::Id(id) => format!("i:{id}"),
        })
    }

    fn parse(cursor: &Cursor, state: State) -> Result<Self, StoreError> {
        let refused = || {
            let text = cursor.as_str();
            StoreError::Refused(format!(
                "{text:?} is no place in a list of {state} jobs; begin anew"
            ))
        };
        Self::read(cursor.as_str()).filter(|place| place.fits(state)).ok_or_else(refused)
    }

    fn read(text: &str) -> Option<Self> {
        // A key may have colons in it.
        if let Some((place, key)) = text.strip_prefix("a:").and_then(|rest| rest.split_once(':')) {
            return Some(Self::Aside(key.parse().ok()?, place.parse().ok()?));
        }
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["l", priority, place] => {
                Some(Self::Lane(priority.parse().ok()?, None, place.parse().ok()?))
            }
            ["l", priority, place, tenant] => {
                let tenant = Some(tenant.parse().ok()?);
                Some(Self::Lane(priority.parse().ok()?, tenant, place.parse().ok()?))
            }
            ["d", due, id] => Some(Self::Due(due.parse().ok()?, id.parse().ok()?)),
            ["i", id] => Some(Self::Id(id.parse().ok()?)),
            _ => None,
        }
    }

    const fn fits(&self, state: State) -> bool {
        match state {
            State::Ready => matches!(self, Self::Lane(..) | Self::Aside(..)),
            State::Scheduled | State::Retrying => matches!(self, Self::Due(..)),
            _ => matches!(self, Self::Id(_)),
        }
    }
}
