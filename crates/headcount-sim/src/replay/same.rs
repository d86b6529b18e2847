//! The recorded policy on the recorded observations: the same decisions, to the last bit.

use headcount_core::{Decision, ExtraParts, Observation, PolicyConfig};

use super::follower::{Follower, Unreplayable};

/// What came of a row.
///
/// ```
/// use headcount_core::{Observation, Policy, PoolSnapshot, Preset, Staffing};
/// use headcount_sim::replay::{Again, Same};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let decision = policy.build().tick(&Observation::default());
/// let again = Same::default().tick(&Observation::default(), &decision);
/// assert_eq!(again, Again::Unknown, "by which policy it was made was not said");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Again {
    /// It comes out the same, to the last bit.
    Identical,
    /// It comes out like this.
    Differs(Box<Decision>),
    /// It stands before its policy, and cannot be told.
    Unknown,
}

/// Decides again on what was observed, and compares with what was decided.
///
/// ```
/// use headcount_core::{
///     ExtraParts, Observation, Policy, PoolSnapshot, Preset, Staffing, Timestamp,
/// };
/// use headcount_sim::replay::{Again, Same};
///
/// let written = Preset::gopipe().config();
/// let mut live = Policy::check(&written, 1).expect("no fault").build();
/// let mut same = Same::default();
/// let none = ExtraParts::default();
/// same.policy(&written, &none, live.save().words()).expect("its own notes");
///
/// let busy = PoolSnapshot::at_work(Staffing::exactly(1), 1);
/// let observation = Observation::new(Timestamp::from_secs(1), busy);
/// let mut decision = live.tick(&observation);
/// assert_eq!(same.clone().tick(&observation, &decision), Again::Identical);
///
/// decision.to = Staffing::exactly(7);
/// let Again::Differs(again) = same.tick(&observation, &decision) else { panic!("it was 7") };
/// assert_eq!(again.explain().to_string(), "hold 1: wants 2 (all busy) -> bounds 1");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Same {
    follower: Option<Follower>,
}

impl Same {
    /// From here on it goes by this policy, which remembers what the notes say. Of parts that it
    /// had beside its own, what they said is taken from each recorded decision; everything else is
    /// decided again.
    ///
    /// # Errors
    ///
    /// When the policy or the notes are none of ours. What follows is unknown then.
    pub fn policy(
        &mut self,
        written: &PolicyConfig,
        extras: &ExtraParts,
        notes: &[u64],
    ) -> Result<(), Unreplayable> {
        self.follower = None;
        self.follower = Some(Follower::new(written, extras, notes)?);
        Ok(())
    }

    /// Decides on `observation`, and says whether that is what was recorded.
    pub fn tick(&mut self, observation: &Observation, recorded: &Decision) -> Again {
        let Some(follower) = &mut self.follower else { return Again::Unknown };
        let again = follower.tick(observation, recorded);
        match is_same(&again, recorded) {
            true => Again::Identical,
            false => Again::Differs(Box::new(again)),
        }
    }
}

/// To compare says nothing of the sign of a zero; in writing it shows, here as in a file.
fn is_same(one: &Decision, other: &Decision) -> bool {
    one == other && format!("{one:?}") == format!("{other:?}")
}
