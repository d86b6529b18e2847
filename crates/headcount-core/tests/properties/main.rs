//! What must hold for every policy, every observation and every order of events.
//!
//! The tests beside the code say what the core does where somebody thought of it; these say what
//! it never does where nobody did. Policies, observations and lives are made up by chance and cut
//! down to the smallest that breaks a law.

mod numbers;
mod policies;
mod ticks;
mod life;
mod chain;

mod checking;
mod deciding;
mod holding;
mod cooling;
mod repeating;
mod restarting;
mod found;
#[cfg(feature = "serde")]
mod recording;

use std::fmt;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Holds `law` against what `chance` makes up.
///
/// The usual number of cases are the same cases each time, so that a push fails for what it
/// changed. With more of them (`PROPTEST_CASES=10000`) every run has its own.
#[track_caller]
fn always<S: Strategy>(chance: &S, law: impl Fn(S::Value))
where
    S::Value: fmt::Debug,
{
    let written = Config::default();
    let rng_seed = match (written.cases, written.rng_seed) {
        (256, RngSeed::Random) => RngSeed::Fixed(20),
        (_, seed) => seed,
    };
    // Wrong policies are thrown away by the thousand before a right one breaks a law.
    let max_local_rejects = u32::MAX;
    let config = Config { rng_seed, max_local_rejects, failure_persistence: None, ..written };
    let told = TestRunner::new(config).run(chance, |case| {
        law(case);
        Ok(())
    });
    if let Err(broken) = told {
        panic!("{broken}");
    }
}
