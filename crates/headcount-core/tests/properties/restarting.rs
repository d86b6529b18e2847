//! A restart goes unnoticed; notes of somebody else, or damaged ones, do no harm.

use std::time::Duration;

use headcount_core::decide::{
    Combine, CompositeConfig, DeciderConfig, PartConfig, PidConfig, SloConfig,
};
use headcount_core::guard::{HoldPeak, WarmUp};
use headcount_core::{
    Autoscaler, GuardsConfig, Notes, Policy, PolicyConfig, RestoreError, Staffing,
};
use proptest::prelude::*;

use crate::always;
use crate::deciding;
use crate::life::{Life, chapters};
use crate::policies::{Known, sound};
use crate::repeating::told;
use crate::ticks::{Tick, wild_ticks};

/// A new autoscaler of `policy` that took over from `old`.
#[track_caller]
fn successor(policy: &Policy, old: &Autoscaler) -> Autoscaler {
    let mut new = policy.build();
    new.set_mode(old.mode());
    assert_eq!(new.restore(&old.save()), Ok(()), "its own notes: {old:?}");
    assert_eq!(new.save(), old.save(), "what was read is what was written");
    new
}

#[test]
fn a_restart_goes_unnoticed_whatever_is_observed() {
    let when = any::<prop::sample::Index>();
    always(&(sound(), wild_ticks(), when), |(Known { policy, .. }, ticks, when)| {
        let (before, after) = ticks.split_at(when.index(ticks.len()));
        let mut old = policy.build();
        for tick in before {
            tick.run(&mut old);
        }
        let mut new = successor(&policy, &old);
        for tick in after {
            assert_eq!(told(&tick.run(&mut new)), told(&tick.run(&mut old)));
        }
        assert_eq!((new.save(), new.history()), (old.save(), old.history()));
    });
}

#[test]
fn a_restart_at_any_tick_of_a_life_goes_unnoticed() {
    let when = any::<prop::sample::Index>();
    always(&(sound(), chapters(40), when), |(Known { policy, .. }, chapters, when)| {
        let mut life = Life::of(&policy, Staffing::between(1, 9));
        let restart = when.index(chapters.len());
        let mut shadow = policy.build();
        for (index, chapter) in chapters.iter().enumerate() {
            if index == restart {
                shadow = successor(&policy, &life.autoscaler);
            }
            let observation = life.observe(chapter);
            let seen = shadow.tick(&observation);
            let decision = life.decide(&observation);
            if restart <= index {
                assert_eq!(told(&seen), told(&decision));
            }
            if decision.resize().is_some() {
                shadow.applied(&decision);
            }
        }
    });
}

/// What can happen to a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u32),
    Put(prop::sample::Index, u64),
    Swap(prop::sample::Index, prop::sample::Index),
    Longer(u64),
}

impl Damage {
    fn done_to(self, saved: &Notes) -> Notes {
        let mut words = saved.words().to_vec();
        let len = words.len();
        match self {
            _ if words.is_empty() => {}
            Self::Cut(at) => words.truncate(at.index(len)),
            Self::Flip(at, bit) => words[at.index(len)] ^= 1 << bit,
            Self::Put(at, word) => words[at.index(len)] = word,
            Self::Swap(a, b) => words.swap(a.index(len), b.index(len)),
            Self::Longer(word) => words.push(word),
        }
        Notes::of_words(words)
    }
}

/// A word that was never written.
fn word() -> BoxedStrategy<u64> {
    prop_oneof![
        3 => 0_u64..40,
        2 => Just(u64::from(u32::MAX)),
        1 => any::<u64>(),
        1 => prop::sample::select(vec![f64::MAX, f64::MIN, 5e-324]).prop_map(f64::to_bits),
    ]
    .boxed()
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        1 => at().prop_map(Damage::Cut),
        2 => (at(), 0_u32..64).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        4 => (at(), word()).prop_map(|(at, word)| Damage::Put(at, word)),
        2 => (at(), at()).prop_map(|(a, b)| Damage::Swap(a, b)),
        1 => word().prop_map(Damage::Longer),
    ]
}

/// Restores `notes`, and sees that they are refused as a whole or do no harm.
#[track_caller]
fn check_harmless(policy: &Policy, notes: &Notes) -> Autoscaler {
    let mut autoscaler = policy.build();
    let before = format!("{autoscaler:?}");
    if autoscaler.restore(notes).is_err() {
        assert_eq!(format!("{autoscaler:?}"), before, "refused as a whole");
    }
    autoscaler
}

fn run(policy: &Policy, autoscaler: &mut Autoscaler, ticks: &[Tick]) {
    for tick in ticks {
        deciding::check(policy, &tick.observation, &tick.run(autoscaler));
    }
}

#[test]
fn damaged_notes_do_no_harm() {
    let damage = prop::collection::vec(damage(), 1..4);
    let story = (chapters(30), chapters(30), wild_ticks());
    always(&(sound(), story, damage), |(Known { policy, .. }, story, damage)| {
        let mut life = Life::of(&policy, Staffing::between(1, 9));
        for chapter in &story.0 {
            let observation = life.observe(chapter);
            life.decide(&observation);
        }
        let worse = |notes: Notes, damage: &Damage| damage.done_to(&notes);
        let notes = damage.iter().fold(life.autoscaler.save(), worse);
        life.autoscaler = check_harmless(&policy, &notes);
        for chapter in &story.1 {
            let observation = life.observe(chapter);
            deciding::check(&policy, &observation, &life.decide(&observation));
        }
        run(&policy, &mut life.autoscaler, &story.2);
    });
}

#[test]
fn notes_that_are_too_short_or_too_long_are_refused() {
    let cut = any::<prop::sample::Index>();
    always(&(sound(), wild_ticks(), cut, word()), |(Known { policy, .. }, ticks, cut, word)| {
        let mut autoscaler = policy.build();
        run(&policy, &mut autoscaler, &ticks);
        let saved = autoscaler.save().words().to_vec();
        let shorter = Notes::of_words(saved[..cut.index(saved.len())].to_vec());
        let longer = Notes::of_words([saved.as_slice(), &[word]].concat());
        for damaged in [shorter, longer] {
            assert!(policy.build().restore(&damaged).is_err());
        }
    });
}

#[test]
fn no_single_word_of_the_notes_does_harm() {
    let slo = DeciderConfig::Slo(SloConfig { trust_start: 8, ..SloConfig::default() });
    let parts = vec![PartConfig::of(DeciderConfig::Pid(PidConfig::default())), PartConfig::of(slo)];
    let both = DeciderConfig::Composite(CompositeConfig { combine: Combine::Max, parts });
    let hold_peak = Some(HoldPeak { window: Duration::from_secs(5) });
    let warm_up = Some(WarmUp { span: Duration::ZERO });
    let guards = GuardsConfig { hold_peak, warm_up, ..GuardsConfig::default() };
    let config = PolicyConfig { decider: Some(both), guards, ..PolicyConfig::default() };
    let policy = Policy::check(&config, 16).expect("a sound policy");
    always(&(chapters(20), chapters(12), word()), |(before, after, word)| {
        let mut life = Life::of(&policy, Staffing::between(1, 9));
        for chapter in &before {
            let observation = life.observe(chapter);
            life.decide(&observation);
        }
        let words = life.autoscaler.save().words().to_vec();
        for index in 0..words.len() {
            let mut damaged = words.clone();
            damaged[index] = word;
            let mut life = life.clone();
            life.autoscaler = check_harmless(&policy, &Notes::of_words(damaged));
            for chapter in &after {
                let observation = life.observe(chapter);
                deciding::check(&policy, &observation, &life.decide(&observation));
            }
        }
    });
}

#[test]
fn notes_of_another_policy_do_no_harm() {
    let story = (wild_ticks(), wild_ticks());
    always(&(sound(), sound(), story), |(ours, theirs, (before, after))| {
        let mut other = theirs.policy.build();
        for tick in &before {
            tick.run(&mut other);
        }
        let mut autoscaler = check_harmless(&ours.policy, &other.save());
        // A policy that is only tuned otherwise takes them; one of another kind does not.
        let sources = |policy: &Policy| -> Vec<_> {
            policy.signals().iter().map(|signal| (signal.name, signal.source)).collect()
        };
        let is_other_kind = ours.policy.decider().name() != theirs.policy.decider().name()
            || sources(&ours.policy) != sources(&theirs.policy);
        if is_other_kind {
            let refused = autoscaler.restore(&other.save());
            assert_eq!(refused, Err(RestoreError::OtherPolicy));
        }
        run(&ours.policy, &mut autoscaler, &after);
    });
}
