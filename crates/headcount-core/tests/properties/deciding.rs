//! Whatever is observed, a decision comes out, within the bounds and in plain words.

use headcount_core::guard::Because;
use headcount_core::{Bounds, Decision, Mode, Observation, Policy};

use crate::chain::folded;
use crate::life::{Life, chapters};
use crate::policies::{Known, sound};
use crate::ticks::wild_ticks;
use crate::{always, numbers};

/// Everything that holds for one decision on `seen` by itself.
#[track_caller]
pub(crate) fn check(policy: &Policy, seen: &Observation, decision: &Decision) {
    check_bounds(policy.bounds(), seen, decision);
    check_floor(decision);
    check_numbers(decision);
    check_texts(decision);
    assert_eq!(folded(decision), decision.to, "the rulings lead from the wish to the end");
}

#[track_caller]
fn check_bounds(bounds: Bounds, seen: &Observation, decision: &Decision) {
    let Bounds { min, max } = bounds;
    assert_eq!(decision.bounds, bounds);
    let (from, to) = (decision.from, decision.to);
    assert!(from.floor <= from.ceiling, "{from:?}");
    if is_idle(decision) {
        assert_eq!(to, from, "the pool stays as it is");
        assert!(decision.rulings.is_empty(), "nobody is asked");
        return;
    }
    // A minimum that is not granted is waited for.
    let min = min.min(seen.allowance.unwrap_or(u32::MAX));
    assert!(min <= to.floor && to.floor <= to.ceiling && to.ceiling <= max, "{to:?}");
    let last = decision.rulings.iter().last();
    assert_eq!(last.map(|review| review.guard.as_str()), Some("bounds"), "the last word");
    if decision.mode == Mode::Advise {
        assert_eq!(decision.resize(), None, "advice is not applied");
    }
}

/// Off, or manual without a target: nothing is decided.
fn is_idle(decision: &Decision) -> bool {
    let is_untold = decision.mode == Mode::Manual && decision.proposal.wanted.is_none();
    decision.mode == Mode::Off || is_untold
}

/// Who means a floor only takes no ceiling away.
#[track_caller]
fn check_floor(decision: &Decision) {
    let Some(wanted) = decision.proposal.wanted.filter(|_| decision.proposal.floor_only) else {
        return;
    };
    assert!(decision.from.ceiling <= wanted.ceiling, "{}", decision.explain());
}

/// What is not finite is refused at the door and found nowhere behind it.
#[track_caller]
fn check_numbers(decision: &Decision) {
    let readings = decision.readings.iter().filter_map(|reading| reading.value);
    let estimates = decision.proposal.estimates.iter().map(|estimate| estimate.value);
    let evidence = decision.proposal.evidence;
    let compared = evidence.iter().flat_map(|evidence| [evidence.value, evidence.limit]);
    for number in readings.chain(estimates).chain(compared) {
        assert!(number.is_finite(), "{decision:?}");
    }
    for review in &decision.rulings {
        if let Some(Because::Errors(rate)) = review.ruling.because() {
            assert!(rate.is_finite(), "{review:?}");
        }
    }
}

#[track_caller]
fn check_texts(decision: &Decision) {
    let line = decision.explain().to_string();
    assert!(!line.contains('\n') && !line.is_empty(), "one line: {line}");
    for text in [line, decision.explain_fully().to_string()] {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        assert!(!words.any(|word| word == "NaN" || word == "inf"), "{text}");
    }
}

#[test]
fn nothing_that_is_observed_breaks_a_decision() {
    always(&(sound(), wild_ticks()), |(Known { policy, .. }, ticks)| {
        let mut autoscaler = policy.build();
        for tick in &ticks {
            check(&policy, &tick.observation, &tick.run(&mut autoscaler));
        }
        for sample in autoscaler.samples() {
            let told = [sample.utilization, sample.queued_per_worker, sample.throughput];
            assert!(told.iter().flatten().all(|number| number.is_finite()), "{sample:?}");
        }
    });
}

#[test]
fn nothing_that_happens_in_a_life_breaks_a_decision() {
    let begin = (numbers::workers(), numbers::workers());
    always(&(sound(), begin, chapters(30)), |(Known { policy, .. }, begin, chapters)| {
        let staffing = headcount_core::Staffing::between(begin.0, begin.1);
        for (seen, decision) in Life::of(&policy, staffing).story(&chapters) {
            check(&policy, &seen, &decision);
        }
    });
}
