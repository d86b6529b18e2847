//! An autoscaler that goes through a recorded run as the recorded one did.

use std::fmt;

use headcount_core::{
    Autoscaler, Decision, ExtraParts, Fault, ManualTarget, Mode, Notes, Observation, Policy,
    PolicyConfig, Reason, RestoreError, Staffing,
};

/// Why what follows a row cannot be replayed.
///
/// ```
/// use headcount_core::{ExtraParts, PolicyConfig};
/// use headcount_sim::replay::Same;
///
/// let (empty, none) = (PolicyConfig::default(), ExtraParts::default());
/// let error = Same::default().policy(&empty, &none, &[7]).expect_err("cut off");
/// assert!(error.to_string().starts_with("the notes are damaged or cut off"), "{error}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreplayable {
    /// The recorded policy is none.
    Policy(Vec<Fault>),
    /// What its autoscaler remembered cannot be taken back.
    Notes(RestoreError),
}

impl fmt::Display for Unreplayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(faults) => {
                let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
                write!(f, "the recorded policy is refused: {}", faults.join("; "))
            }
            Self::Notes(RestoreError::OtherPolicy) => f.write_str(
                "the notes are of other signals or another decider than the recorded policy has; \
                 parts of one's own are not in a trace of version 1",
            ),
            Self::Notes(RestoreError::OtherVersion(version)) => {
                write!(f, "the notes are of version {version}, which this program does not read")
            }
            Self::Notes(_) => f.write_str("the notes are damaged or cut off"),
        }
    }
}

impl std::error::Error for Unreplayable {}

/// The recorded policy at work.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    pub(super) autoscaler: Autoscaler,
}

impl Follower {
    /// As a row says: this policy, with those parts beside its own, which remembers that.
    pub(super) fn new(
        written: &PolicyConfig,
        extras: &ExtraParts,
        notes: &[u64],
    ) -> Result<Self, Unreplayable> {
        // A recorded policy has its bounds, so the cores of the machine are of no account.
        let policy = Policy::check(written, 1).map_err(Unreplayable::Policy)?;
        let built = policy.build_to_replay(extras);
        let mut autoscaler = built.map_err(|fault| Unreplayable::Policy(vec![fault]))?;
        let notes = Notes::of_words(notes.to_vec());
        autoscaler.restore(&notes).map_err(Unreplayable::Notes)?;
        Ok(Self { autoscaler })
    }

    /// Decides on it as the recorded one did, and takes note of what was applied then.
    pub(super) fn tick(&mut self, observation: &Observation, recorded: &Decision) -> Decision {
        let again = match self.asked_by_hand(recorded) {
            Some(workers) => self.autoscaler.tick_by_hand_again(observation, workers, recorded),
            None => self.autoscaler.tick_again(observation, recorded),
        };
        // What happened is what counts for what follows, even where it would come out otherwise.
        if applied(observation, recorded).is_some() {
            self.autoscaler.applied(recorded);
        }
        again
    }

    /// The size that somebody asked for once, where the recorded decision is one on that. It is
    /// what a person said, as the observation is what the pool said: nothing to find out again.
    pub(super) fn asked_by_hand(&self, recorded: &Decision) -> Option<u32> {
        let wanted = recorded.proposal.wanted.filter(|_| recorded.reason() == Reason::Manual)?;
        let held_at =
            |manual: ManualTarget| manual.holds_at(recorded.at) && manual.workers == wanted.ceiling;
        let is_held = self.autoscaler.manual().is_some_and(held_at);
        let is_by_itself = self.autoscaler.mode() == recorded.mode && is_held;
        (recorded.mode == Mode::Manual && !is_by_itself).then_some(wanted.ceiling)
    }
}

/// What was made of a recorded decision. `None`: the pool stayed as it was.
pub(super) fn applied(observation: &Observation, decision: &Decision) -> Option<Staffing> {
    let granted = observation.allowance.unwrap_or(u32::MAX);
    // A pool that is closed hears of no size any more.
    let wanted = decision.resize().filter(|_| !observation.pool.draining);
    wanted.map(|wanted| wanted.at_most(granted)).filter(|to| *to != decision.from)
}
