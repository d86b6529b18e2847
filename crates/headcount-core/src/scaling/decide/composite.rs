//! Several deciders, one proposal.
//!
//! Every part is asked at every tick, so that each keeps its memory up to date. A part that
//! abstains has no say; when all abstain, so does the whole.

use super::steps::EPSILON;
use super::{Decider, DeciderConfig};
use crate::policy::Inspection;
use crate::scaling::notes::{Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Bounds, Direction, Proposal, Reason, Situation, Staffing};

/// How several proposals become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Combine {
    /// The most workers that any part wants.
    #[default]
    Max,
    /// The fewest workers that any part wants.
    Min,
    /// What the first part wants that does not abstain.
    First,
    /// The mean of what the parts want, by their weights.
    Weighted,
    /// What the first part wants, unless another one wants to go the other way.
    Veto,
}

/// The written form of a [`Composite`].
///
/// ```
/// use headcount_core::decide::{Aimd, Combine, CompositeConfig, DeciderConfig, PartConfig, Target};
///
/// let config = CompositeConfig {
///     combine: Combine::Max,
///     parts: vec![
///         PartConfig::of(DeciderConfig::Aimd(Aimd::default())),
///         PartConfig::of(DeciderConfig::Target(Target::default())),
///     ],
/// };
/// assert_eq!(config.parts[0].weight, 1.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct CompositeConfig {
    /// How the proposals become one. Default: the most workers.
    pub combine: Combine,
    /// The parts, in order. Default: none.
    pub parts: Vec<PartConfig>,
}

/// One part of a composite.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PartConfig {
    /// How much it counts under [`Combine::Weighted`]. Default: 1.
    #[cfg_attr(feature = "serde", serde(default = "PartConfig::one"))]
    pub weight: f64,
    /// The decider.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub decider: DeciderConfig,
}

impl PartConfig {
    /// A part of weight one.
    #[must_use]
    pub fn of(decider: DeciderConfig) -> Self {
        Self { weight: 1.0, decider }
    }

    #[cfg(feature = "serde")]
    fn one() -> f64 {
        1.0
    }
}

impl CompositeConfig {
    /// How many parts a composite may have.
    pub const PARTS_MAX: usize = 8;
    /// How deep composites may stand in one another.
    pub const DEPTH_MAX: usize = 4;

    pub(crate) fn inspect(&self, depth: usize, inspection: &mut Inspection) {
        if Self::DEPTH_MAX <= depth {
            inspection.fault("parts", "nested too deep", "at most 4 composites deep are allowed");
            return;
        }
        if self.parts.is_empty() || Self::PARTS_MAX < self.parts.len() {
            let many = format!("{} parts", self.parts.len());
            inspection.fault("parts", many, "1 to 8 parts are needed");
        }
        for (index, part) in self.parts.iter().enumerate() {
            inspection.within(&format!("parts[{index}]"), |inspection| {
                inspection.positive("weight", part.weight);
                part.decider.inspect_at(depth + 1, inspection);
            });
        }
    }

    pub(crate) fn build(&self, bounds: Bounds) -> Composite {
        let parts = self.parts.iter().map(|part| (part.weight, part.decider.build(bounds)));
        Composite { combine: self.combine, parts: parts.collect() }
    }
}

/// Several deciders, one proposal.
#[derive(Clone, Debug)]
pub struct Composite {
    combine: Combine,
    parts: Vec<(f64, Box<dyn Decider>)>,
}

impl Composite {
    /// Puts parts and their weights together.
    #[must_use]
    pub fn new(combine: Combine, parts: Vec<(f64, Box<dyn Decider>)>) -> Self {
        Self { combine, parts }
    }

    /// Keeps the proposal that is further in one direction, with both ends of both.
    fn extreme(&mut self, situation: &Situation<'_>, way: Direction) -> Option<Proposal> {
        self.fold(situation, |best, next, _| {
            let (Some(ours), Some(theirs)) = (best.wanted, next.wanted) else { return };
            let further = Direction::between(ours, theirs) == way;
            let both = match way {
                Direction::Shrink => ours.no_more_than(theirs),
                _ => ours.no_less_than(theirs),
            };
            if further {
                *best = next;
            }
            best.wanted = Some(both);
        })
    }

    /// The first proposal that is none of abstention.
    fn first(&mut self, situation: &Situation<'_>) -> Option<Proposal> {
        self.fold(situation, |_, _, _| {})
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
    fn weighted(&mut self, situation: &Situation<'_>) -> Option<Proposal> {
        let mut sums = (0.0, 0.0, 0.0);
        let mut heaviest: Option<(f64, Proposal)> = None;
        for (weight, part) in &mut self.parts {
            let proposal = part.decide(situation);
            let Some(wanted) = proposal.wanted else { continue };
            sums.0 += *weight;
            sums.1 += *weight * f64::from(wanted.floor);
            sums.2 += *weight * f64::from(wanted.ceiling);
            if heaviest.as_ref().is_none_or(|(most, _)| *most < *weight) {
                heaviest = Some((*weight, proposal));
            }
        }
        let (_, mut proposal) = heaviest?;
        let mean = |sum: f64| (sum / sums.0 - EPSILON).ceil() as u32;
        proposal.wanted = Some(Staffing::between(mean(sums.1), mean(sums.2)));
        Some(proposal)
    }

    /// The leader's proposal, or a hold where anybody objects.
    fn vetoed(&mut self, situation: &Situation<'_>) -> Option<Proposal> {
        let from = situation.from();
        let way = |proposal: &Proposal| Direction::between(from, proposal.wanted.unwrap_or(from));
        let (_, leader) = self.parts.first_mut()?;
        let mut leading = leader.decide(situation);
        let wish = way(&leading);
        let mut objections = 0.0;
        for (_, part) in self.parts.iter_mut().skip(1) {
            let other = way(&part.decide(situation));
            if other != Direction::Hold && wish != Direction::Hold && other != wish {
                objections += 1.0;
            }
        }
        if 0.0 < objections {
            leading.wanted = Some(from);
            leading.estimate("objections", Unit::Count, objections);
        }
        leading.wanted.is_some().then_some(leading)
    }

    /// Folds the proposals that are none of abstention, in order.
    fn fold(
        &mut self,
        situation: &Situation<'_>,
        mut join: impl FnMut(&mut Proposal, Proposal, f64),
    ) -> Option<Proposal> {
        let mut folded: Option<Proposal> = None;
        for (weight, part) in &mut self.parts {
            let proposal = part.decide(situation);
            match &mut folded {
                _ if proposal.wanted.is_none() => {}
                None => folded = Some(proposal),
                Some(folded) => join(folded, proposal, *weight),
            }
        }
        folded
    }
}

impl Decider for Composite {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let proposal = match self.combine {
            Combine::Max => self.extreme(situation, Direction::Grow),
            Combine::Min => self.extreme(situation, Direction::Shrink),
            Combine::First => self.first(situation),
            Combine::Weighted => self.weighted(situation),
            Combine::Veto => self.vetoed(situation),
        };
        proposal.unwrap_or_else(|| Proposal::abstain(Reason::NoData))
    }

    fn save(&self, notes: &mut Notes) {
        self.parts.iter().for_each(|(_, part)| part.save(notes));
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.parts.iter_mut().try_for_each(|(_, part)| part.load(notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::{Says, check};

    fn check_combined(combine: Combine, sizes: &[Option<u32>], expected: &str) {
        let weights = [1.0, 3.0, 1.0];
        let parts = sizes.iter().zip(weights);
        let parts = parts.map(|(size, weight)| {
            let part: Box<dyn Decider> = Box::new(Says(*size));
            (weight, part)
        });
        check(Composite::new(combine, parts.collect()), 8, &[], expected);
    }

    #[test]
    fn max_and_min_take_the_furthest() {
        check_combined(Combine::Max, &[Some(4), Some(9), Some(6)], "9 external reading");
        check_combined(Combine::Min, &[Some(4), Some(9), Some(3)], "3 external reading");
    }

    #[test]
    fn who_abstains_has_no_say() {
        check_combined(Combine::Max, &[None, Some(2), None], "2 external reading");
        check_combined(Combine::Min, &[None, Some(2), None], "2 external reading");
        check_combined(Combine::First, &[None, Some(5), Some(9)], "5 external reading");
        check_combined(Combine::Weighted, &[None, Some(5), None], "5 external reading");
        check_combined(Combine::Max, &[None, None, None], "abstains no data");
    }

    #[test]
    fn weights_weigh() {
        check_combined(Combine::Weighted, &[Some(10), Some(2), Some(10)], "6 external reading");
    }

    #[test]
    fn one_that_wants_the_other_way_is_enough_for_a_veto() {
        check_combined(Combine::Veto, &[Some(12), Some(8), None], "12 external reading");
        check_combined(Combine::Veto, &[Some(12), Some(7), None], "8 external reading");
        check_combined(Combine::Veto, &[Some(4), Some(9), None], "8 external reading");
        check_combined(Combine::Veto, &[None, Some(9), None], "abstains no data");
    }
}
