//! Divides a budget of workers fairly among those who want some.
//!
//! Three rounds, each by priority, highest first: everybody's minimum, then one worker for those
//! who have none, then as much as is wanted. Where a round cannot be filled, those of the priority
//! at which the budget runs out share it like water: one level rises for all of them, each
//! getting its weight times the level, until it has enough or the budget is spent. Workers are
//! whole, so somebody gets a part of one too many and another a part too few; what each is owed is
//! carried over to the next call, and over time everybody gets exactly its part.

use std::fmt;

/// How much a demand counts beside others of its priority.
///
/// Twice the weight is twice the share, until enough is had.
///
/// ```
/// use headcount_core::share::Weight;
///
/// assert_eq!(Weight::new(1.0), Ok(Weight::ONE));
/// let error = Weight::new(f64::NAN).unwrap_err();
/// assert_eq!(error.to_string(), "weight is NaN; allowed is from 0.000001 to 1000000");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "f64", into = "f64"))]
pub struct Weight {
    // Whole numbers, because shares of them come out the same on every machine.
    millionths: u64,
}

impl Weight {
    /// The weight of those who do not say otherwise.
    pub const ONE: Self = Self { millionths: MILLION };
    /// The least weight.
    pub const MIN: f64 = 1e-6;
    /// The greatest weight.
    pub const MAX: f64 = 1e6;

    /// A weight, kept to six decimal places.
    ///
    /// # Errors
    ///
    /// When `weight` is not from [`Weight::MIN`] to [`Weight::MAX`].
    pub fn new(weight: f64) -> Result<Self, WeightError> {
        if !(Self::MIN..=Self::MAX).contains(&weight) {
            return Err(WeightError::OutOfRange(weight));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        let millionths = (weight * MILLION as f64).round() as u64;
        Ok(Self { millionths })
    }
}

const MILLION: u64 = 1_000_000;

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

impl From<Weight> for f64 {
    fn from(weight: Weight) -> Self {
        weight.millionths as Self / MILLION as Self
    }
}

impl TryFrom<f64> for Weight {
    type Error = WeightError;

    fn try_from(weight: f64) -> Result<Self, WeightError> {
        Self::new(weight)
    }
}

/// Why a weight was refused.
///
/// ```
/// use headcount_core::share::{Weight, WeightError};
///
/// assert_eq!(Weight::new(0.0), Err(WeightError::OutOfRange(0.0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum WeightError {
    /// Zero, negative, not a number, or beyond the limits.
    OutOfRange(f64),
}

impl fmt::Display for WeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::OutOfRange(weight) = self;
        write!(f, "weight is {weight}; allowed is from {} to {}", Weight::MIN, Weight::MAX)
    }
}

impl std::error::Error for WeightError {}

/// What one party wants of the budget.
///
/// ```
/// use headcount_core::share::{Demand, Remainders, divide};
///
/// let modest = Demand { min: 2, ..Demand::of(3) };
/// let urgent = Demand { priority: 1, max: 6, ..Demand::of(100) };
/// let grants = divide(8, &[modest, urgent], &mut Remainders::default());
/// assert_eq!(grants, [2, 6], "a minimum goes before a priority");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Demand {
    /// Higher goes first. 0 by default.
    pub priority: u8,
    /// How much it counts beside others of its priority. 1 by default.
    pub weight: Weight,
    /// What it gets before anybody gets more than a minimum, if it wants that much. 0 by default.
    pub min: u32,
    /// What it gets at most; wins over the minimum. No limit by default.
    pub max: u32,
    /// What it could use.
    pub wanted: u32,
}

impl Demand {
    /// A demand for `wanted` workers with nothing special about it.
    #[must_use]
    pub const fn of(wanted: u32) -> Self {
        Self { priority: 0, weight: Weight::ONE, min: 0, max: u32::MAX, wanted }
    }

    /// What it may get in `round`, all rounds before included.
    fn cap(&self, round: Round) -> u32 {
        let most = self.wanted.min(self.max);
        let least = self.min.min(most);
        match round {
            Round::Minimum => least,
            Round::One => least.max(most.min(1)),
            Round::Rest => most,
        }
    }
}

/// The parts of a worker that everybody is still owed, or has had too much, by position.
///
/// A plain value that can be saved. Each part stays within [`Remainders::OWED_MAX`].
///
/// ```
/// use headcount_core::share::{Demand, Remainders, divide};
///
/// let two = [Demand::of(9), Demand::of(9)];
/// let mut remainders = Remainders::default();
/// assert_eq!(divide(3, &two, &mut remainders), [2, 1]);
/// assert_eq!(divide(3, &two, &mut remainders), [1, 2], "the half worker was not forgotten");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Remainders {
    owed_billionths: Vec<i64>,
}

impl Remainders {
    /// The most workers that anybody is owed, or has had too many.
    pub const OWED_MAX: u32 = 8;

    /// Forgets the party at `index`; those after it move up by one, as in a `Vec`.
    pub fn remove(&mut self, index: usize) {
        if index < self.owed_billionths.len() {
            self.owed_billionths.remove(index);
        }
    }

    /// What the party at `index` is owed, in workers. Negative: it has had too much.
    #[must_use]
    pub fn owed(&self, index: usize) -> f64 {
        let owed = self.owed_billionths.get(index).copied().unwrap_or(0);
        owed as f64 / BILLION as f64
    }

    /// Makes it as long as `demands`, and sound even if it was read from a damaged file.
    fn fit(&mut self, demands: &[Demand]) {
        self.owed_billionths.resize(demands.len(), 0);
        for (index, demand) in demands.iter().enumerate() {
            // Nobody is owed anything who wants nothing.
            let wants = 0 < demand.cap(Round::Rest);
            self.set(index, if wants { self.owed_billionths[index] } else { 0 });
        }
    }

    fn set(&mut self, index: usize, owed: i64) {
        let owed_max = i64::from(Self::OWED_MAX) * BILLION;
        self.owed_billionths[index] = owed.clamp(-owed_max, owed_max);
    }
}

const BILLION: i64 = 1_000_000_000;

/// Divides `budget` among `demands`; the grants are in the order of the demands.
///
/// - The grants add up to the budget, or to all that is wanted and allowed where that is less.
/// - Nobody gets more than it wants, or than its maximum.
/// - Minimums come first, as far as they are wanted; where they do not all fit, by priority.
/// - Then nobody who wants one goes without while another gets more than its minimum; by priority
///   where there are not enough.
/// - Then higher priorities are filled before lower ones.
/// - Within a priority shares are in the ratio of the weights, as far as minimum and maximum
///   allow, to within one worker now and exactly over time. Ties go to the first.
///
/// Equal arguments give equal grants. `remainders` belongs to this list of demands: positions mean
/// the same from call to call.
///
/// ```
/// use headcount_core::share::{Demand, Remainders, Weight, divide};
///
/// let heavy = Demand { weight: Weight::new(3.0).expect("a weight"), ..Demand::of(100) };
/// let light = Demand::of(100);
/// let urgent = Demand { priority: 1, ..Demand::of(4) };
/// let grants = divide(16, &[heavy, light, urgent], &mut Remainders::default());
/// assert_eq!(grants, [9, 3, 4]);
/// ```
#[must_use]
pub fn divide(budget: u32, demands: &[Demand], remainders: &mut Remainders) -> Vec<u32> {
    remainders.fit(demands);
    let mut grants = vec![0; demands.len()];
    let mut left = u64::from(budget);
    for round in [Round::Minimum, Round::One, Round::Rest] {
        for members in by_priority(demands) {
            let class = Class::new(&members, demands, &grants, round);
            let room = class.room();
            if left < room {
                class.split(left, &mut grants, remainders);
                return grants;
            }
            class.fill(&mut grants, remainders);
            left -= room;
        }
    }
    grants
}

/// One after the other; what is left over goes to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Minimum,
    One,
    Rest,
}

/// The positions of the demands of each priority, highest priority first.
fn by_priority(demands: &[Demand]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    // Stable, so that the first stays the first within its priority.
    order.sort_by_key(|&index| std::cmp::Reverse(demands[index].priority));
    order
        .chunk_by(|&left, &right| demands[left].priority == demands[right].priority)
        .map(<[usize]>::to_vec)
        .collect()
}

/// The demands of one priority in one round.
struct Class {
    round: Round,
    vessels: Vec<Vessel>,
}

/// One demand as a vessel: it holds `low` already, and at most `high` in this round.
struct Vessel {
    index: usize,
    weight: u128,
    low: u32,
    high: u32,
}

/// How a vessel stands to the water level.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It holds more than the level would give it, so it keeps what it has.
    Above,
    /// It holds its weight times the level.
    Level,
    /// It is full.
    Full,
}

impl Class {
    fn new(members: &[usize], demands: &[Demand], grants: &[u32], round: Round) -> Self {
        let vessel = |&index: &usize| Vessel {
            index,
            weight: u128::from(demands[index].weight.millionths),
            low: grants[index],
            high: demands[index].cap(round),
        };
        Self { round, vessels: members.iter().map(vessel).collect() }
    }

    /// What all of them can take in this round.
    fn room(&self) -> u64 {
        self.vessels.iter().map(|vessel| u64::from(vessel.high - vessel.low)).sum()
    }

    /// Gives all of them what they can take.
    fn fill(&self, grants: &mut [u32], remainders: &mut Remainders) {
        for vessel in &self.vessels {
            grants[vessel.index] = vessel.high;
            self.satisfied(vessel, remainders);
        }
    }

    /// Nobody is owed anything who has all that it wants.
    fn satisfied(&self, vessel: &Vessel, remainders: &mut Remainders) {
        if self.round == Round::Rest {
            remainders.set(vessel.index, 0);
        }
    }

    /// Divides `left`, which is less than they can take, among them.
    fn split(&self, left: u64, grants: &mut [u32], remainders: &mut Remainders) {
        let standings = self.standings(left);
        let mut water = u128::from(left);
        let mut weight = 0;
        for (vessel, standing) in self.vessels.iter().zip(&standings) {
            match standing {
                Standing::Above => {}
                Standing::Level => {
                    water += u128::from(vessel.low);
                    weight += vessel.weight;
                }
                Standing::Full => {
                    water -= u128::from(vessel.high - vessel.low);
                    grants[vessel.index] = vessel.high;
                    self.satisfied(vessel, remainders);
                }
            }
        }
        let level = self.vessels.iter().zip(&standings);
        let level = level.filter(|(_, standing)| **standing == Standing::Level);
        pour(water, weight, level.map(|(vessel, _)| vessel), grants, remainders);
    }

    /// Lets the level rise from mark to mark until `left` is used up.
    fn standings(&self, left: u64) -> Vec<Standing> {
        let at_rest = |vessel: &Vessel| {
            if vessel.low < vessel.high { Standing::Above } else { Standing::Full }
        };
        let mut standings: Vec<Standing> = self.vessels.iter().map(at_rest).collect();
        // What the vessels hold is `fixed`, and `weight` times the level for those it lifts.
        let mut fixed: u128 = self.vessels.iter().map(|vessel| u128::from(vessel.low)).sum();
        let total = fixed + u128::from(left);
        let mut weight = 0;
        for mark in self.marks() {
            let vessel = &self.vessels[mark.member];
            if total * vessel.weight < fixed * vessel.weight + weight * mark.workers {
                break;
            }
            if mark.standing == Standing::Level {
                fixed -= mark.workers;
                weight += vessel.weight;
            } else {
                fixed += mark.workers;
                weight -= vessel.weight;
            }
            standings[mark.member] = mark.standing;
        }
        standings
    }

    /// The levels at which a vessel begins to rise or is full, lowest first.
    fn marks(&self) -> Vec<Mark> {
        let rising = self.vessels.iter().enumerate().filter(|(_, vessel)| vessel.low < vessel.high);
        let mut marks: Vec<Mark> = rising
            .flat_map(|(member, vessel)| {
                [(vessel.low, Standing::Level), (vessel.high, Standing::Full)]
                    .map(|(workers, standing)| Mark { workers: workers.into(), member, standing })
            })
            .collect();
        // The level of a mark is its workers over the weight; crosswise there is no division.
        let weight = |mark: &Mark| self.vessels[mark.member].weight;
        marks.sort_by(|a, b| (a.workers * weight(b)).cmp(&(b.workers * weight(a))));
        marks
    }
}

/// A level at which the standing of a vessel changes.
struct Mark {
    workers: u128,
    member: usize,
    standing: Standing,
}

/// Gives each its weight's part of `water`: whole workers first, then one each to those who are
/// owed most. None of these vessels is full, so each can take that one.
fn pour<'a>(
    water: u128,
    weight: u128,
    vessels: impl Iterator<Item = &'a Vessel>,
    grants: &mut [u32],
    remainders: &mut Remainders,
) {
    let mut extra = water;
    let mut due = Vec::new();
    for vessel in vessels {
        let part = water * vessel.weight;
        let whole = u32::try_from(part / weight).expect("a part is at most what was wanted");
        let fraction = part % weight * u128::from(BILLION.unsigned_abs()) / weight;
        let fraction = i64::try_from(fraction).expect("a fraction is less than one");
        grants[vessel.index] = whole;
        extra -= u128::from(whole);
        let owed = remainders.owed_billionths[vessel.index] + fraction;
        remainders.set(vessel.index, owed);
        due.push((owed, vessel.index));
    }
    // Stable, so that ties go to the first.
    due.sort_by_key(|&(owed, _)| std::cmp::Reverse(owed));
    let extra = usize::try_from(extra).expect("fewer workers are left over than there are parts");
    for (owed, index) in due.into_iter().take(extra) {
        grants[index] += 1;
        remainders.set(index, owed - BILLION);
    }
}
