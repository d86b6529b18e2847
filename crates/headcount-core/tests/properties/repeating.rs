//! Equal inputs give equal decisions, and asking changes nothing.

use headcount_core::{Autoscaler, Decision, Mode, Policy};
use proptest::prelude::*;

use crate::policies::{Known, sound};
use crate::ticks::wild_ticks;
use crate::{always, deciding};

/// All that people and machines see of a decision.
pub(crate) fn told(decision: &Decision) -> String {
    format!("{decision:?}\n{}\n{}", decision.explain(), decision.explain_fully())
}

/// All that an autoscaler knows.
fn known(autoscaler: &Autoscaler) -> String {
    format!("{autoscaler:?} {:?}", autoscaler.save())
}

#[test]
fn two_of_one_policy_decide_the_same() {
    always(&(sound(), wild_ticks()), |(Known { config, cores, policy }, ticks)| {
        let again = Policy::check(&config, cores).expect("it was right before");
        let (mut one, mut other) = (policy.build(), again.build());
        for tick in &ticks {
            assert_eq!(told(&tick.run(&mut one)), told(&tick.run(&mut other)));
        }
        assert_eq!(known(&one), known(&other));
    });
}

#[test]
fn to_ask_changes_nothing_and_tells_what_comes() {
    let asked = prop::collection::vec(prop::bool::weighted(0.6), 16);
    always(&(sound(), wild_ticks(), asked), |(Known { policy, .. }, ticks, asked)| {
        let (mut quiet, mut asker) = (policy.build(), policy.build());
        for ((index, tick), asks) in ticks.iter().enumerate().zip(asked) {
            tick.obey(&mut asker);
            let before = known(&asker);
            // Any observation may be asked about, not only the one that comes next.
            let other = &ticks[(index * 7 + 3) % ticks.len()].observation;
            let answers = asks.then(|| {
                deciding::check(&policy, other, &asker.advise(other));
                (asker.evaluate(other), asker.evaluate(&tick.observation))
            });
            assert_eq!(known(&asker), before, "to ask changes nothing");
            let decision = tick.run(&mut asker);
            if let Some((_, answer)) = answers {
                assert_eq!(told(&answer), told(&decision), "what was told comes");
            }
            assert_eq!(told(&decision), told(&tick.run(&mut quiet)));
        }
        assert_eq!(known(&quiet), known(&asker));
        assert_eq!(quiet.stats(), asker.stats());
    });
}

#[test]
fn to_advise_is_to_be_automatic_without_a_target() {
    always(&(sound(), wild_ticks()), |(Known { policy, .. }, ticks)| {
        let mut autoscaler = policy.build();
        for tick in &ticks {
            tick.obey(&mut autoscaler);
            let advice = autoscaler.advise(&tick.observation);
            let mut free = autoscaler.clone();
            free.set_mode(Mode::Automatic);
            free.set_manual(None);
            let decision = free.tick(&tick.observation);
            assert_eq!((advice.mode, advice.resize()), (Mode::Advise, None));
            assert_eq!(told(&Decision { mode: Mode::Automatic, ..advice }), told(&decision));
            tick.run(&mut autoscaler);
        }
    });
}
