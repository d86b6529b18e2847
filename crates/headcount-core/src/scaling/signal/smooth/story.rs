//! The door through which combinators are tested: a story of readings in, what is read out.

use std::time::Duration;

use super::{Aggregate, Change, Clamp, Ewma, Samples, Window};
use crate::scaling::signal::{ArrivalRate, Signal};
use crate::{Noted, Notes, Observation, PoolSnapshot, Timestamp};

/// Says whatever the observation carries as its blocked share, finite or not.
#[derive(Clone, Debug)]
pub(super) struct Teller;

impl Signal for Teller {
    fn name(&self) -> &'static str {
        "teller"
    }
    fn read(&mut self, observation: &Observation) -> Option<f64> {
        observation.pool.blocked_share
    }
}

/// An observation in which [`Teller`] says `value`.
pub(super) fn told(second: u64, value: Option<f64>) -> Observation {
    let mut pool = PoolSnapshot { blocked_share: value, ..PoolSnapshot::default() };
    pool.counters.submitted = second * second;
    Observation::new(Timestamp::from_secs(second), pool)
}

/// Tells `signal` a story such as `0:3 1:- 2:5` (second and value, `-` for none) and compares
/// what it reads, rounded to nine places.
pub(super) fn check(mut signal: impl Signal, story: &str, readings: &str) {
    let read = |word: &str| {
        let (second, value) = word.split_once(':').expect("second:value");
        let value = (value != "-").then(|| value.parse().expect("a number"));
        match signal.read(&told(second.parse().expect("a second"), value)) {
            Some(reading) => ((reading * 1e9).round() / 1e9).to_string(),
            None => "-".to_owned(),
        }
    };
    assert_eq!(story.split(' ').map(read).collect::<Vec<_>>().join(" "), readings);
}

/// One of each, around a signal without memory and around one with it.
fn one_of_each() -> Vec<Box<dyn Signal>> {
    let tau = Duration::from_secs(7);
    let inner: [Box<dyn Signal>; 2] = [Box::new(Teller), Box::<ArrivalRate>::default()];
    let around = |inner: Box<dyn Signal>| -> [Box<dyn Signal>; 7] {
        [
            Box::new(Ewma::new("ewma", inner.clone(), tau)),
            Box::new(Window::last("last", inner.clone(), 3, Aggregate::Mean)),
            Box::new(Window::over("over", inner.clone(), tau, 4, Aggregate::Percentile(75))),
            Box::new(Change::new("change", inner.clone())),
            Box::new(Clamp::between("between", inner.clone(), -1.0, 5.0)),
            Box::new(Clamp::near_median("near", inner.clone(), 3, 2.0)),
            Box::new(Samples::new("samples", inner, 4)),
        ]
    };
    inner.into_iter().flat_map(around).collect()
}

/// A story with noise, gaps, a clock that stands still and one that steps back.
fn long_story() -> Vec<Observation> {
    let mut state = 1_u64;
    let tell = |step: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let noise = state >> 33;
        let second = step + noise % 3 - u64::from(step == 40) * 9;
        told(second, (!noise.is_multiple_of(5)).then_some((noise % 97) as f64))
    };
    (10..80).map(tell).collect()
}

#[test]
fn a_restart_at_any_moment_goes_unnoticed_for_ever_after() {
    let story = long_story();
    for fresh in one_of_each() {
        let mut old = fresh.clone();
        for (observation, moment) in story.iter().zip(1..) {
            old.read(observation);
            goes_unnoticed(old.clone(), fresh.clone(), &story[moment..]);
        }
    }
}

fn goes_unnoticed(mut old: Box<dyn Signal>, mut new: Box<dyn Signal>, after: &[Observation]) {
    let mut notes = Notes::default();
    old.save(&mut notes);
    let mut reader = notes.reader();
    assert_eq!(new.load(&mut reader), Some(()), "{}", old.name());
    assert!(reader.is_at_end(), "{} reads all that it wrote", old.name());
    for observation in after {
        assert_eq!(old.read(observation), new.read(observation), "{}", old.name());
    }
}

#[test]
fn reading_an_observation_twice_changes_nothing() {
    for once in one_of_each() {
        let (mut once, mut twice) = (once.clone(), once);
        for observation in long_story() {
            let reading = once.read(&observation);
            assert_eq!(twice.read(&observation), reading, "{}", once.name());
            assert_eq!(twice.read(&observation), reading, "{} again", once.name());
        }
    }
}

#[test]
fn notes_that_do_not_fit_are_refused() {
    let words = |words: &[u64]| {
        let mut notes = Notes::default();
        for word in words {
            word.write(&mut notes);
        }
        notes
    };
    let window = || Window::last("last", Box::new(Teller), 2, Aggregate::Mean);
    let refused = |notes: Notes| window().load(&mut notes.reader()).is_none();
    assert!(refused(words(&[])), "nothing at all");
    assert!(refused(words(&[3, 1, 0, 2, 0, 3, 0])), "more readings than there is room for");
    assert!(refused(words(&[2, 5, 0, 5, 0])), "readings out of order");
    assert!(!refused(words(&[2, 5, 0, 6, 0])));
}
