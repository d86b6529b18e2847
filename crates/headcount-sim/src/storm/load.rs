//! What comes in a storm: any kind of arrivals, any kind of sizes.

use std::time::Duration;

use crate::dice::Dice;
use crate::load::{Arrivals, Buckets, Job, Load, Sizes};

/// About so many jobs come to a pool at most, so that a storm is over soon.
const JOBS_MAX: f64 = 3000.0;

/// For how long the jobs of all pools come.
pub(super) fn span(dice: &mut Dice) -> Duration {
    Duration::from_secs_f64(dice.between(5.0, 300.0))
}

/// The jobs of one pool.
pub(super) fn jobs(span: Duration, dice: &mut Dice) -> Vec<Job> {
    let mean = dice.between(0.001, 3.0);
    let erlangs = dice.between(0.1, 40.0);
    let rate = (erlangs / mean).min(JOBS_MAX / span.as_secs_f64());
    let load = Load { arrivals: arrivals(rate, span, dice), sizes: sizes(mean, dice), span };
    let seed = dice.share().to_bits();
    load.jobs(seed).expect("every number is within its range")
}

fn arrivals(rate: f64, span: Duration, dice: &mut Dice) -> Arrivals {
    let part = |share: f64| span.mul_f64(share).max(Duration::from_millis(10));
    match dice.one_of(8) {
        0 => Arrivals::Poisson { rate },
        1 => Arrivals::Mmpp {
            rates: (0..=dice.one_of(4)).map(|_| 2.0 * rate * dice.share()).collect(),
            stay: part(dice.between(0.01, 0.3)),
        },
        2 => {
            let before = 2.0 * rate * dice.share();
            Arrivals::Step { before, after: 2.0 * rate - before, at: part(dice.share()) }
        }
        3 => {
            let from = 2.0 * rate * dice.share();
            Arrivals::Ramp { from, to: 2.0 * rate - from }
        }
        4 => Arrivals::Sine {
            mean: rate,
            swing: rate * dice.share(),
            period: part(dice.between(0.01, 1.0)),
        },
        5 => Arrivals::OnOff {
            rate: 2.0 * rate,
            on: part(dice.between(0.01, 0.5)),
            off: part(dice.between(0.01, 0.5)),
        },
        6 => Arrivals::SelfSimilar { mean: rate, bias: 0.5 + 0.3 * dice.share() },
        _ => {
            let steps = 1 + dice.one_of(50);
            let expected = |dice: &mut Dice| dice.sometimes(0.1, 3.0) * rate;
            let counts = (0..steps).map(|_| expected(dice) * span.as_secs_f64() / steps as f64);
            Arrivals::Traced(Buckets::new(part(1.0 / steps as f64), counts.collect()))
        }
    }
}

fn sizes(mean: f64, dice: &mut Dice) -> Sizes {
    match dice.one_of(8) {
        0 => Sizes::Classes(vec![(1.0, kind(mean, dice)), (dice.share() + 0.1, kind(mean, dice))]),
        _ => kind(mean, dice),
    }
}

fn kind(mean: f64, dice: &mut Dice) -> Sizes {
    let seconds = Duration::from_secs_f64(mean);
    match dice.one_of(6) {
        0 => Sizes::Constant(seconds),
        1 => Sizes::Exponential { mean: seconds },
        2 => Sizes::Lognormal { mean: seconds, scv: dice.between(0.1, 16.0) },
        3 => Sizes::Bimodal { short: seconds / 2, long: 20 * seconds, long_share: 0.03 },
        4 => Sizes::Pareto { mean: seconds, shape: 1.2 + 2.0 * dice.share() },
        _ => Sizes::Listed((1..=5).map(|times| seconds * times / 3).collect()),
    }
}
