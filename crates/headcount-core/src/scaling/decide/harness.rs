//! One door to all deciders: a pool, its readings, and the proposal as text.

use super::Decider;
use crate::scaling::signal::{Reading, Source, Unit};
use crate::{
    History, Name, Observation, PoolSnapshot, Proposal, Reason, Situation, Staffing, Timestamp,
};

/// A pool of `size` with these readings.
pub(crate) fn check(decider: impl Decider, size: u32, readings: &[(&str, f64)], expected: &str) {
    check_with(decider, size, readings, |_| {}, expected);
}

/// A pool of `size` in this state.
pub(crate) fn check_pool(
    decider: impl Decider,
    size: u32,
    change: impl FnOnce(&mut PoolSnapshot),
    expected: &str,
) {
    check_with(decider, size, &[], |observation| change(&mut observation.pool), expected);
}

/// A pool of `size` in this world.
pub(crate) fn check_observed(
    decider: impl Decider,
    size: u32,
    change: impl FnOnce(&mut Observation),
    expected: &str,
) {
    check_with(decider, size, &[], change, expected);
}

/// All of it at once.
pub(crate) fn check_with(
    mut decider: impl Decider,
    size: u32,
    readings: &[(&str, f64)],
    change: impl FnOnce(&mut Observation),
    expected: &str,
) {
    let pool = PoolSnapshot::of(Staffing::exactly(size));
    let mut observation = Observation::new(Timestamp::ORIGIN, pool);
    change(&mut observation);
    let proposal = decide(&mut decider, &observation, readings);
    let text = match proposal.wanted {
        Some(wanted) => format!("{wanted} {}", proposal.reason),
        None => format!("abstains {}", proposal.reason),
    };
    assert_eq!(text, expected);
}

/// One reading a second, each proposal applied at once.
pub(crate) fn story(
    mut decider: impl Decider,
    mut size: u32,
    signal: &str,
    values: &[f64],
    expected: &str,
) {
    let mut sizes = Vec::new();
    for (second, value) in values.iter().enumerate() {
        let pool = PoolSnapshot::of(Staffing::exactly(size));
        let observation = Observation::new(Timestamp::from_secs(second as u64), pool);
        let proposal = decide(&mut decider, &observation, &[(signal, *value)]);
        size = proposal.wanted.map_or(size, |wanted| wanted.ceiling);
        sizes.push(size.to_string());
    }
    assert_eq!(sizes.join(" "), expected);
}

fn decide(
    decider: &mut dyn Decider,
    observation: &Observation,
    readings: &[(&str, f64)],
) -> Proposal {
    let reading = |(name, value): &(&str, f64)| Reading {
        name: Name::cut(name),
        unit: Unit::Number,
        reason: Source::named(name).map_or(Reason::External, |source| source.build().reason()),
        value: Some(*value),
    };
    let readings: Vec<_> = readings.iter().map(reading).collect();
    let history = History::default();
    decider.decide(&Situation { observation, readings: &readings, history: &history })
}

/// Always says the same, or always abstains.
#[derive(Clone, Debug)]
pub(crate) struct Says(pub(crate) Option<u32>);

impl Decider for Says {
    fn decide(&mut self, _situation: &Situation<'_>) -> Proposal {
        match self.0 {
            Some(size) => Proposal::want(Staffing::exactly(size), Reason::External),
            None => Proposal::abstain(Reason::NoData),
        }
    }
}
