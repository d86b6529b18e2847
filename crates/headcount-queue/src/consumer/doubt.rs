//! Whether the store has handed out what never arrived.
//!
//! A call of `lease` whose answer is lost may have moved jobs to this holder. It does not know of
//! them, and yet keeps them by renewing: they would never run. So whenever such a call fails, the
//! holder asks the store what it holds, and gives back what it has not heard of. It asks again
//! some time later, because a call that was given up may be carried out after that.

use std::collections::BTreeSet;
use std::time::Duration;

use headcount_core::jobs::port::{Ending, Listing, Settlement, StoreError};
use headcount_core::jobs::{JobRecord, State};
use tokio::time::Instant;

use super::shared::Shared;
use crate::sync::lock;

/// How often the store is asked after a failed call.
const LOOKS: u32 = 2;
/// How long after the first look the second is: longer than any call waits for its answer.
const LATER: Duration = Duration::from_secs(10);
/// How long it leaves a store alone that did not answer.
const SOON: Duration = Duration::from_secs(1);

/// Looks that are still to be made. Nobody but the loop that leases has one, so nothing is leased
/// while it looks.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    looks: u32,
    next: Option<Instant>,
}

impl Doubt {
    /// A call failed.
    pub(super) fn rises(&mut self) {
        self.looks = LOOKS;
        self.next = None;
    }

    /// Gives back what this holder holds without knowing, when it is time to look.
    pub(super) async fn settle(&mut self, shared: &Shared) {
        if self.looks == 0 || self.next.is_some_and(|next| Instant::now() < next) {
            return;
        }
        match give_back_unknown(shared).await {
            Ok(()) => {
                self.looks -= 1;
                self.next = Some(Instant::now() + LATER);
            }
            Err(error) => {
                shared.store_failed("list", error);
                self.next = Some(Instant::now() + SOON);
            }
        }
    }
}

async fn give_back_unknown(shared: &Shared) -> Result<(), StoreError> {
    // Looked at first: what is settled during the look was known, and needs no word of ours.
    let (holder, known) = {
        let held = lock(&shared.held);
        (held.holder, held.runs.keys().copied().collect::<BTreeSet<_>>())
    };
    let given_back = |job: &JobRecord| {
        let (by, epoch) = job.held?;
        let ending = Ending::Release { checkpoint: None };
        let is_unknown = by == holder && !known.contains(&(job.id, epoch));
        is_unknown.then_some(Settlement { id: job.id, epoch, ending })
    };
    let mut cursor = None;
    let mut unknown = Vec::new();
    loop {
        let (state, limit) = (State::Running, Listing::LIMIT_MAX);
        let page = shared.store().list(shared.name(), Listing::In { state, cursor, limit }).await?;
        unknown.extend(page.jobs.iter().filter_map(given_back));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    // One that has ended meanwhile is stale, and rightly so.
    shared.store().settle(shared.name(), holder, unknown).await.map(drop)
}
