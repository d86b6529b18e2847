//! The machine that a pool runs on: how it is, and how much of that is seen.

use std::time::Duration;

use headcount_core::Timestamp;
use headcount_core::health::Health;

/// The machine that pools run on.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::world::{Host, Spell};
/// use std::time::Duration;
///
/// let sick = Spell { from: Timestamp::from_secs(60), score: 20.0, knee: 8.0 };
/// let well = Spell { from: Timestamp::from_secs(90), ..Spell::WELL };
/// let host = Host { spells: vec![sick, well], ..Host::default() };
/// let seen = host.seen_at(Timestamp::from_secs(70)).expect("it is measured");
/// assert_eq!(seen.score, 20.0);
/// assert_eq!(host.spell_at(Timestamp::from_secs(99)), well);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// How it is from when on, in order of time; well before the first.
    pub spells: Vec<Spell>,
    /// How often it is measured.
    pub sampled_every: Duration,
    /// From when on its sensors are stuck at what they said last. `None`: never.
    pub stuck_from: Option<Timestamp>,
}

/// How a machine is for a while.
///
/// ```
/// use headcount_sim::world::Spell;
///
/// assert!(Spell::WELL.knee.is_infinite(), "a machine that is well slows nobody down");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spell {
    /// Since when.
    pub from: Timestamp,
    /// Its score, from 0, the worst, to 100.
    pub score: f64,
    /// How many jobs it runs at full speed meanwhile.
    pub knee: f64,
}

impl Spell {
    /// Nothing is wrong.
    pub const WELL: Self = Self { from: Timestamp::ORIGIN, score: 100.0, knee: f64::INFINITY };
}

impl Default for Host {
    fn default() -> Self {
        Self { spells: Vec::new(), sampled_every: Duration::from_secs(1), stuck_from: None }
    }
}

impl Host {
    /// How it is at one moment.
    #[must_use]
    pub fn spell_at(&self, at: Timestamp) -> Spell {
        let begun = self.spells.iter().take_while(|spell| spell.from <= at).last();
        begun.copied().unwrap_or(Spell::WELL)
    }

    /// What is known of it at one moment.
    #[must_use]
    pub fn seen_at(&self, at: Timestamp) -> Option<Health> {
        let looked = self.stuck_from.map_or(at, |stuck| stuck.min(at));
        let every = u64::try_from(self.sampled_every.as_nanos()).unwrap_or(u64::MAX).max(1);
        let measured_at = Timestamp::from_nanos(looked.as_nanos() / every * every);
        Some(Health { measured_at, score: self.spell_at(measured_at).score, worst: None })
    }
}
