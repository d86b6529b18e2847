//! Sums over the last so much time, in a fixed number of buckets.
//!
//! A bucket is a thirtieth of the span, so what counts reaches back by the span and at most a
//! thirtieth less.

use std::time::Duration;

use crate::scaling::notes::{Noted, Notes, NotesReader};
use crate::{List, Timestamp};

const BUCKETS: usize = 30;
/// More than any sum comes to.
const SUM_MAX: f64 = 1e60;

/// Sums of `K` amounts and of the time that they took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sliding<const K: usize> {
    buckets: [Bucket<K>; BUCKETS],
}

#[derive(Clone, Copy, Debug)]
struct Bucket<const K: usize> {
    /// Which bucket since the origin of time; another one in its place is an old one.
    number: u64,
    seconds: f64,
    amounts: [f64; K],
}

impl<const K: usize> Default for Bucket<K> {
    fn default() -> Self {
        Self { number: 0, seconds: 0.0, amounts: [0.0; K] }
    }
}

impl<const K: usize> Default for Sliding<K> {
    fn default() -> Self {
        Self { buckets: [Bucket::default(); BUCKETS] }
    }
}

impl<const K: usize> Sliding<K> {
    /// Adds what came together in the `seconds` up to `now`.
    pub(super) fn add(&mut self, now: Timestamp, span: Duration, seconds: f64, amounts: [f64; K]) {
        let number = number(now, span);
        #[allow(clippy::cast_possible_truncation)] // Below the number of buckets.
        let bucket = &mut self.buckets[(number % BUCKETS as u64) as usize];
        if bucket.number != number {
            *bucket = Bucket { number, ..Bucket::default() };
        }
        bucket.seconds = (bucket.seconds + seconds).min(SUM_MAX);
        for (sum, more) in bucket.amounts.iter_mut().zip(amounts) {
            *sum = (*sum + more).clamp(-SUM_MAX, SUM_MAX);
        }
    }

    /// The seconds and the amounts of the last span.
    pub(super) fn sums(&self, now: Timestamp, span: Duration) -> (f64, [f64; K]) {
        let newest = number(now, span);
        let oldest = newest.saturating_sub(BUCKETS as u64 - 1);
        let counts = |bucket: &&Bucket<K>| (oldest..=newest).contains(&bucket.number);
        let (mut seconds, mut amounts) = (0.0, [0.0; K]);
        for bucket in self.buckets.iter().filter(counts) {
            seconds += bucket.seconds;
            for (sum, more) in amounts.iter_mut().zip(bucket.amounts) {
                *sum += more;
            }
        }
        (seconds, amounts)
    }
}

fn number(now: Timestamp, span: Duration) -> u64 {
    let width = span.as_nanos() / BUCKETS as u128;
    // A quotient of what fits into a word fits into one.
    u64::try_from(u128::from(now.as_nanos()) / width.max(1)).unwrap_or(u64::MAX)
}

impl<const K: usize> Noted for Bucket<K> {
    fn write(&self, notes: &mut Notes) {
        (self.number, self.seconds).write(notes);
        self.amounts.iter().for_each(|amount| amount.write(notes));
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let (number, seconds) = Noted::read(notes)?;
        let mut amounts = [0.0; K];
        for amount in &mut amounts {
            *amount = f64::read(notes).filter(|amount| amount.abs() <= SUM_MAX)?;
        }
        (0.0..=SUM_MAX).contains(&seconds).then_some(Self { number, seconds, amounts })
    }
}

impl<const K: usize> Noted for Sliding<K> {
    fn write(&self, notes: &mut Notes) {
        self.buckets.iter().for_each(|bucket| bucket.write(notes));
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let mut read: List<Bucket<K>, BUCKETS> = List::new();
        for _ in 0..BUCKETS {
            let fits = read.push(Bucket::read(notes)?);
            assert!(fits, "there is room for as many as there are");
        }
        let mut sliding = Self::default();
        sliding.buckets.copy_from_slice(read.as_slice());
        Some(sliding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_span_no_longer_counts() {
        let (mut sliding, minute) = (Sliding::<1>::default(), Duration::from_secs(60));
        for second in 1..=100 {
            let amount = if second <= 30 { 7.0 } else { 1.0 };
            sliding.add(Timestamp::from_secs(second), minute, 1.0, [amount]);
        }
        assert_eq!(sliding.sums(Timestamp::from_secs(100), minute), (59.0, [59.0]));
        assert_eq!(sliding.sums(Timestamp::from_secs(1000), minute), (0.0, [0.0]));
    }
}
