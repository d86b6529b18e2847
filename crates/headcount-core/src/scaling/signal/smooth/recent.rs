//! The last few readings of a signal, in the order of their time.

use std::collections::VecDeque;

use crate::{Noted, Notes, NotesReader, Timestamp};

/// Readings and their times, oldest first, at most `samples_max` of them.
///
/// All the room is taken when it is made.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    samples: VecDeque<(Timestamp, f64)>,
    samples_max: usize,
    /// Where readings are ranked, so that the order of `samples` stays.
    scratch: Vec<f64>,
}

impl Recent {
    pub(super) fn new(samples_max: usize) -> Self {
        Self {
            samples: VecDeque::with_capacity(samples_max),
            samples_max,
            scratch: Vec::with_capacity(samples_max),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.samples.iter().map(|(_, value)| *value)
    }

    /// Forgets what was read before `first`.
    pub(super) fn forget_before(&mut self, first: Timestamp) {
        while self.samples.front().is_some_and(|(at, _)| *at < first) {
            self.samples.pop_front();
        }
    }

    /// Forgets what was read at `now` or after it: the same observation once more, or a clock that
    /// stepped back.
    pub(super) fn forget_from(&mut self, now: Timestamp) {
        while self.samples.back().is_some_and(|(at, _)| now <= *at) {
            self.samples.pop_back();
        }
    }

    /// Adds a reading later than all the others. The oldest one makes room.
    pub(super) fn push(&mut self, now: Timestamp, value: f64) {
        if self.samples.len() == self.samples_max {
            self.samples.pop_front();
        }
        self.samples.push_back((now, value));
    }

    /// The least number that `percent` of the last `samples` readings, as seen through `view`, do
    /// not exceed.
    pub(super) fn percentile(
        &mut self,
        percent: u8,
        samples: usize,
        view: impl Fn(f64) -> f64,
    ) -> Option<f64> {
        self.scratch.clear();
        let latest = self.samples.iter().rev().take(samples);
        self.scratch.extend(latest.map(|(_, value)| view(*value)));
        let rank = (self.scratch.len() * usize::from(percent)).div_ceil(100);
        if self.scratch.len() < rank.max(1) {
            return None;
        }
        let (_, value, _) = self.scratch.select_nth_unstable_by(rank.max(1) - 1, f64::total_cmp);
        Some(*value)
    }

    pub(super) fn save(&self, notes: &mut Notes) {
        self.samples.write(notes);
    }

    /// Reads what `save` wrote, or `None` where it does not fit in here.
    pub(super) fn read(&self, notes: &mut NotesReader<'_>) -> Option<VecDeque<(Timestamp, f64)>> {
        let samples: VecDeque<(Timestamp, f64)> = Noted::read(notes)?;
        let in_order = samples.iter().zip(samples.iter().skip(1)).all(|(a, b)| a.0 < b.0);
        (in_order && samples.len() <= self.samples_max).then_some(samples)
    }

    /// Takes over what [`Recent::read`] read, and keeps its room.
    pub(super) fn replace(&mut self, samples: VecDeque<(Timestamp, f64)>) {
        self.samples.clear();
        self.samples.extend(samples);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_the_room_is_taken_at_once() {
        let mut recent = Recent::new(5);
        let room = |recent: &Recent| (recent.samples.capacity(), recent.scratch.capacity());
        let before = room(&recent);
        for second in 0..100 {
            recent.push(Timestamp::from_secs(second), second as f64);
            recent.percentile(50, 5, |value| value);
        }
        let mut notes = Notes::default();
        recent.save(&mut notes);
        let samples = recent.read(&mut notes.reader()).expect("what was saved");
        recent.replace(samples);
        assert_eq!((recent.len(), room(&recent)), (5, before));
    }
}
