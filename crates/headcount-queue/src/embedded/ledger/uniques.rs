//! Unique keys: who took which, and for how long.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use headcount_core::jobs::{JobId, Key, Unique, UniqueSpan};

use crate::embedded::effect::{Claim, ClaimSpan};

use super::queue::millis;

/// All unique keys of a queue that are taken.
#[derive(Debug, Default)]
pub(crate) struct Uniques {
    claims: HashMap<Key, Claim>,
    /// Keys that run out, by when.
    expiries: BTreeSet<(u64, Key)>,
    /// Keys that are free when their job has ended, by its slot.
    until_ended: HashMap<u32, Key>,
}

impl Uniques {
    /// Who stands in the way of a submit with this key.
    pub(crate) fn taken_by(&self, unique: &Unique, now: u64) -> Option<JobId> {
        let claim = self.claims.get(&unique.key)?;
        stands(claim.span, unique.span, now).then_some(claim.id)
    }

    /// A submit takes a key. Answers the claim where it outlives the job.
    pub(crate) fn take(&mut self, slot: u32, id: JobId, unique: &Unique, now: u64) -> Claim {
        let claim = Claim { id, span: span_of(unique.span, now) };
        self.restore(unique.key.clone(), claim);
        if claim.span == ClaimSpan::Ended {
            self.until_ended.insert(slot, unique.key.clone());
        }
        claim
    }

    /// A key is taken, as it was written down.
    pub(crate) fn restore(&mut self, key: Key, claim: Claim) {
        let before = self.claims.insert(key.clone(), claim);
        if let Some(Claim { span: ClaimSpan::Until(at), .. }) = before {
            self.expiries.remove(&(at, key.clone()));
        }
        if let ClaimSpan::Until(at) = claim.span {
            self.expiries.insert((at, key));
        }
    }

    /// The job in this slot has ended.
    pub(crate) fn free_of(&mut self, slot: u32) {
        if let Some(key) = self.until_ended.remove(&slot) {
            self.claims.remove(&key);
        }
    }

    /// Frees a key that has run out, if there is one.
    pub(crate) fn expire(&mut self, now: u64) -> Option<Arc<str>> {
        let (at, _) = self.expiries.first()?;
        if now < *at {
            return None;
        }
        let (_, key) = self.expiries.pop_first()?;
        self.claims.remove(&key);
        Some(key.as_str().into())
    }
}

/// Whether a claim stands in the way of a submit of this span.
pub(super) fn stands(claim: ClaimSpan, submit: UniqueSpan, now: u64) -> bool {
    match (claim, submit) {
        (ClaimSpan::Until(at), _) => now < at,
        (ClaimSpan::Above(last), UniqueSpan::Above(number)) => number <= last,
        (ClaimSpan::Ended | ClaimSpan::Above(_), _) => true,
    }
}

pub(super) fn span_of(span: UniqueSpan, now: u64) -> ClaimSpan {
    match span {
        UniqueSpan::UntilEnded => ClaimSpan::Ended,
        UniqueSpan::For(span) => ClaimSpan::Until(now.saturating_add(millis(span))),
        UniqueSpan::Above(number) => ClaimSpan::Above(number),
    }
}
