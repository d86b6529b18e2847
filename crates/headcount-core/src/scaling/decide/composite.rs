//! Several deciders, one proposal.
//!
//! Every part is asked at every tick, so that each keeps its memory up to date. A part that
//! abstains has no say; when all abstain, so does the whole. A part that means a floor only raises
//! what the others come to, however they are combined.

use super::steps::EPSILON;
use super::{Decider, DeciderConfig};
use crate::policy::Inspection;
use crate::scaling::notes::{Notes, NotesReader};
use crate::scaling::signal::Unit;
use crate::{Bounds, Direction, Proposal, Reason, Situation, Staffing};

/// How several proposals become one.
///
/// ```
/// use headcount_core::decide::{AllBusy, Combine, Composite, Decider, QueueDepth, Step};
/// use headcount_core::{History, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot { busy: 4, queued: 200, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let (observation, history) = (Observation { pool, ..Default::default() }, History::default());
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let size = |combine| {
///     let deep = QueueDepth { grow_step: Step::Add(5), ..QueueDepth::default() };
///     let parts: Vec<(f64, Box<dyn Decider>)> =
///         vec![(1.0, Box::new(AllBusy::default())), (1.0, Box::new(deep))];
///     Composite::new(combine, parts).decide(&situation).wanted.map_or(0, |wanted| wanted.ceiling)
/// };
/// assert_eq!([Combine::Min, Combine::Weighted, Combine::Max].map(size), [5, 7, 9]);
/// ```
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
/// use headcount_core::decide::{
///     AllBusy, Combine, CompositeConfig, DeciderConfig, PartConfig, Target,
/// };
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let parts = vec![
///     PartConfig::of(DeciderConfig::AllBusy(AllBusy::default())),
///     PartConfig::of(DeciderConfig::Target(Target::default())),
/// ];
/// let composite = CompositeConfig { combine: Combine::Max, parts };
/// let decider = Some(DeciderConfig::Composite(composite));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 16).expect("no fault").build();
/// let pool = PoolSnapshot { busy: 10, ..PoolSnapshot::of(Staffing::exactly(10)) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.to, Staffing::exactly(15), "one part wants 11, the other one 15");
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

/// Where a part stands: the second part of the first part of a composite is at `[0, 1]`.
pub type PartPath = Vec<usize>;

/// One part of a composite.
///
/// ```
/// use headcount_core::decide::{
///     AllBusy, Combine, CompositeConfig, DeciderConfig, PartConfig, Target,
/// };
/// use headcount_core::{Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let all_busy = PartConfig::of(DeciderConfig::AllBusy(AllBusy::default()));
/// let target = PartConfig::of(DeciderConfig::Target(Target::default()));
/// let parts = vec![PartConfig { weight: 3.0, ..all_busy }, target];
/// let composite = CompositeConfig { combine: Combine::Weighted, parts };
/// let decider = Some(DeciderConfig::Composite(composite));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 16).expect("no fault").build();
/// let pool = PoolSnapshot { busy: 10, ..PoolSnapshot::of(Staffing::exactly(10)) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.to, Staffing::exactly(12), "three times 11 and once 15, by four");
/// ```
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
            let allowed = format!("at most {} composites deep are allowed", Self::DEPTH_MAX);
            inspection.fault("parts", "nested too deep", &allowed);
            return;
        }
        if self.parts.is_empty() || Self::PARTS_MAX < self.parts.len() {
            let many = format!("{} parts", self.parts.len());
            let allowed = format!("1 to {} parts are needed", Self::PARTS_MAX);
            inspection.fault("parts", many, &allowed);
        }
        for (index, part) in self.parts.iter().enumerate() {
            inspection.within(&format!("parts[{index}]"), |inspection| {
                inspection.positive("weight", part.weight);
                part.decider.inspect_at(depth + 1, inspection);
            });
        }
    }

    pub(crate) fn build(&self, bounds: Bounds) -> Composite {
        self.build_with(bounds, &mut Vec::new(), &[])
    }

    /// The same with `own` parts in the places that they name; those are taken out. This composite
    /// stands at `path` itself.
    pub(crate) fn build_with(
        &self,
        bounds: Bounds,
        own: &mut Vec<(PartPath, Box<dyn Decider>)>,
        path: &[usize],
    ) -> Composite {
        let parts = self.parts.iter().enumerate().map(|(index, part)| {
            let path = [path, &[index]].concat();
            let place = own.iter().position(|(place, _)| *place == path);
            let decider = match (place, &part.decider) {
                (Some(place), _) => own.swap_remove(place).1,
                (None, DeciderConfig::Composite(inner)) => {
                    Box::new(inner.build_with(bounds, own, &path))
                }
                (None, decider) => decider.build(bounds),
            };
            (part.weight, decider)
        });
        Composite { combine: self.combine, parts: parts.collect() }
    }

    /// Whether a part stands there.
    pub(crate) fn has_part(&self, path: &[usize]) -> bool {
        let Some((index, rest)) = path.split_first() else { return false };
        match (self.parts.get(*index).map(|part| &part.decider), rest) {
            (Some(_), []) => true,
            (Some(DeciderConfig::Composite(inner)), rest) => inner.has_part(rest),
            _ => false,
        }
    }
}

/// Asks several deciders, and makes one proposal of what they say.
///
/// ```
/// use headcount_core::decide::{AllBusy, Combine, Composite, ScheduleConfig, ShiftConfig};
/// use headcount_core::{Calendar, Extras, Observation, Policy, PolicyConfig, Weekday};
///
/// let day = ShiftConfig { days: vec![], from_second: 28_800, to_second: 64_800, workers: 6 };
/// let schedule = ScheduleConfig { shifts: vec![day] }.build();
/// let parts = vec![(1.0, Box::new(AllBusy::default()) as _), (1.0, Box::new(schedule) as _)];
/// let policy = Policy::check(&PolicyConfig::default(), 8).expect("no fault");
/// let mut autoscaler = policy.build_with(Extras::decider(Composite::new(Combine::Max, parts)));
/// let calendar = Calendar::new(Weekday::Monday, 12, 0);
/// let decision = autoscaler.tick(&Observation { calendar, ..Observation::default() });
/// assert_eq!(decision.to.floor, 6, "the shift raises what the load asks for");
/// ```
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
}

/// What the parts said so far.
struct Tally {
    combine: Combine,
    from: Staffing,
    /// What comes of it, if anybody had a say.
    joined: Option<Proposal>,
    /// The most that a part wants as the least.
    floor: Option<Proposal>,
    weights: f64,
    floors: f64,
    ceilings: f64,
    heaviest: f64,
    objections: u32,
}

impl Tally {
    fn new(combine: Combine, from: Staffing) -> Self {
        let (weights, floors, ceilings, heaviest) = (0.0, 0.0, 0.0, 0.0);
        let (joined, floor, objections) = (None, None, 0);
        Self { combine, from, joined, floor, weights, floors, ceilings, heaviest, objections }
    }

    /// Takes in what the part at `index` said.
    fn add(&mut self, index: usize, weight: f64, said: Proposal) {
        let Some(wanted) = said.wanted else { return };
        if said.floor_only {
            let most = self.floor.and_then(|floor| floor.wanted);
            if most.is_none_or(|most| most.floor < wanted.floor) {
                self.floor = Some(said);
            }
            return;
        }
        self.weights += weight;
        self.floors += weight * f64::from(wanted.floor);
        self.ceilings += weight * f64::from(wanted.ceiling);
        if index != 0 && self.combine == Combine::Veto {
            self.object(wanted);
            return;
        }
        let Some(joined) = &mut self.joined else {
            self.heaviest = weight;
            self.joined = Some(said);
            return;
        };
        let ours = joined.wanted.unwrap_or(wanted);
        let leads = match self.combine {
            Combine::Max => Direction::between(ours, wanted) == Direction::Grow,
            Combine::Min => Direction::between(ours, wanted) == Direction::Shrink,
            Combine::Weighted => self.heaviest < weight,
            Combine::First | Combine::Veto => false,
        };
        // Everybody's estimates are shown, those of the part that leads first.
        if leads {
            let followed = std::mem::replace(joined, said);
            joined.also_estimates(&followed);
        } else {
            joined.also_estimates(&said);
        }
        joined.wanted = Some(match self.combine {
            Combine::Max => ours.no_less_than(wanted),
            Combine::Min => ours.no_more_than(wanted),
            _ => ours,
        });
        self.heaviest = self.heaviest.max(weight);
    }

    /// Counts a part that wants the opposite of what the first one wants.
    fn object(&mut self, wanted: Staffing) {
        let way = |to| Direction::between(self.from, to);
        let wish = self.joined.and_then(|leader| leader.wanted).map_or(Direction::Hold, way);
        let other = way(wanted);
        if wish != Direction::Hold && other != Direction::Hold && wish != other {
            self.objections += 1;
        }
    }

    /// One proposal out of all.
    fn outcome(self) -> Option<Proposal> {
        let Some(mut joined) = self.joined else { return self.floor };
        if self.combine == Combine::Weighted {
            // The mean is nobody's own wish, so nobody's evidence stands for it.
            joined.wanted =
                Some(Staffing::between(self.mean(self.floors), self.mean(self.ceilings)));
            joined.evidence = None;
        }
        if 0 < self.objections {
            joined.wanted = Some(self.from);
            joined.reason = Reason::Objection;
            joined.estimate("objections", Unit::Count, f64::from(self.objections));
        }
        let floor = self.floor.and_then(|floor| floor.wanted).map_or(0, |wanted| wanted.floor);
        joined.wanted = joined.wanted.map(|wanted| wanted.at_least(floor));
        Some(joined)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
    fn mean(&self, sum: f64) -> u32 {
        (sum / self.weights - EPSILON).ceil() as u32
    }
}

impl Decider for Composite {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let mut tally = Tally::new(self.combine, situation.from());
        for (index, (weight, part)) in self.parts.iter_mut().enumerate() {
            tally.add(index, *weight, part.decide(situation));
        }
        tally.outcome().unwrap_or_else(|| Proposal::abstain(Reason::NoData))
    }

    fn kind(&self, text: &mut String) {
        text.push_str("composite");
        self.parts.iter().for_each(|(_, part)| part.kind(text));
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
    use crate::decide::{PidConfig, ScheduleConfig, ShiftConfig, SloConfig};
    use crate::scaling::decide::harness::{Says, check, check_observed};
    use crate::scaling::signal::Reading;
    use crate::{Calendar, History, Name, Observation, PoolSnapshot, Timestamp, Weekday};

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
    fn a_floor_raises_what_the_others_come_to() {
        for (combine, expected) in [(Combine::Min, "5"), (Combine::Max, "5"), (Combine::First, "5")]
        {
            let shift = ShiftConfig { days: vec![], from_second: 0, to_second: 0, workers: 5 };
            let schedule = ScheduleConfig { shifts: vec![shift] }.build();
            let parts: Vec<(f64, Box<dyn Decider>)> =
                vec![(1.0, Box::new(schedule)), (1.0, Box::new(Says(Some(2))))];
            let noon = Calendar::new(Weekday::Monday, 12, 0);
            let told = format!("{expected} external reading");
            let composite = Composite::new(combine, parts);
            check_observed(composite, 8, |o| o.calendar = noon, &told);
        }
    }

    #[test]
    fn everybodys_estimates_are_shown() {
        let slo = DeciderConfig::Slo(SloConfig::default());
        let aimd = DeciderConfig::Pid(PidConfig::default());
        let config = CompositeConfig {
            combine: Combine::Min,
            parts: vec![PartConfig::of(aimd), PartConfig::of(slo)],
        };
        let mut composite = config.build(Bounds { min: 1, max: 8 });
        let observation =
            Observation::new(Timestamp::ORIGIN, PoolSnapshot::of(Staffing::exactly(4)));
        let name = Name::cut("utilization");
        let (unit, reason, value) = (Unit::Ratio, Reason::WorkerUtilization, Some(0.7));
        let readings = [Reading { name, unit, reason, value }];
        let history = History::default();
        let situation =
            Situation { observation: &observation, readings: &readings, history: &history };
        let proposal = composite.decide(&situation);
        let names: Vec<_> = proposal.estimates.iter().map(|e| e.name.to_string()).collect();
        assert!(names.contains(&"increment".to_owned()) && names.contains(&"trust".to_owned()));
    }

    #[test]
    fn one_that_wants_the_other_way_is_enough_for_a_veto() {
        check_combined(Combine::Veto, &[Some(12), Some(8), None], "12 external reading");
        check_combined(Combine::Veto, &[Some(12), Some(7), None], "8 objection");
        check_combined(Combine::Veto, &[Some(4), Some(9), None], "8 objection");
        check_combined(Combine::Veto, &[None, Some(9), None], "abstains no data");
    }
}
