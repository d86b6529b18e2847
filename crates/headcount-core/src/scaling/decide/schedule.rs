//! Keeps so many workers at such a time of day.
//!
//! It only ever asks for a floor. Beside other deciders it raises what they want, in time for the
//! morning; alone it keeps the floor and leaves the ceiling where it is. Between shifts it gives
//! the floor back.

use super::Decider;
use crate::policy::Inspection;
use crate::{Calendar, Proposal, Reason, Situation, Weekday};

/// The written form of a [`Schedule`].
///
/// ```
/// use headcount_core::decide::{DeciderConfig, ScheduleConfig, ShiftConfig};
/// use headcount_core::{Calendar, Observation, Policy, PolicyConfig, Weekday};
///
/// let day = ShiftConfig { days: vec![], from_second: 28_800, to_second: 64_800, workers: 4 };
/// let rush = ShiftConfig { from_second: 43_200, to_second: 50_400, workers: 9, ..day.clone() };
/// let decider = Some(DeciderConfig::Schedule(ScheduleConfig { shifts: vec![day, rush] }));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 16).expect("no fault").build();
/// let mut floor_at = |hour| {
///     let calendar = Calendar::new(Weekday::Monday, hour, 0);
///     autoscaler.tick(&Observation { calendar, ..Observation::default() }).to.floor
/// };
/// assert_eq!([8, 12].map(&mut floor_at), [4, 9], "the largest shift counts");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct ScheduleConfig {
    /// The shifts. Where several hold at once the largest counts. Default: none.
    pub shifts: Vec<ShiftConfig>,
}

/// Keeps so many workers from one time of day to another.
///
/// ```
/// use headcount_core::decide::{Decider, ScheduleConfig, ShiftConfig};
/// use headcount_core::{Calendar, History, Observation, Situation, Weekday};
///
/// // From ten on Friday evening to six in the morning.
/// let days = vec![Weekday::Friday];
/// let night = ShiftConfig { days, from_second: 79_200, to_second: 21_600, workers: 8 };
/// let mut schedule = ScheduleConfig { shifts: vec![night] }.build();
/// let calendar = Calendar::new(Weekday::Saturday, 5, 0);
/// let observation = Observation { calendar, ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// assert_eq!(schedule.decide(&situation).wanted.map(|wanted| wanted.floor), Some(8));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ShiftConfig {
    /// The days on which it begins. Empty: every day.
    #[cfg_attr(feature = "serde", serde(default))]
    pub days: Vec<Weekday>,
    /// When it begins, in seconds since midnight.
    pub from_second: u32,
    /// When it ends, in seconds since midnight. At or before `from_second`: on the next day.
    pub to_second: u32,
    /// How many workers.
    pub workers: u32,
}

/// Proposes the workers of the shift that holds now as the least there should be.
///
/// ```
/// use headcount_core::decide::{Decider, ScheduleConfig, ShiftConfig};
/// use headcount_core::{Calendar, History, Observation, Situation, Weekday};
///
/// let day = ShiftConfig { days: vec![], from_second: 28_800, to_second: 64_800, workers: 4 };
/// let mut schedule = ScheduleConfig { shifts: vec![day] }.build();
/// let mut wish_at = |calendar| {
///     let observation = Observation { calendar, ..Observation::default() };
///     let history = History::default();
///     let situation = Situation { observation: &observation, readings: &[], history: &history };
///     schedule.decide(&situation).wanted.map(|wanted| wanted.floor)
/// };
/// assert_eq!(wish_at(Calendar::new(Weekday::Monday, 9, 0)), Some(4));
/// assert_eq!(wish_at(Calendar::new(Weekday::Monday, 19, 0)), Some(0), "the floor is given back");
/// assert_eq!(wish_at(None), None, "without a calendar it abstains");
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    shifts: Vec<ShiftConfig>,
}

impl ScheduleConfig {
    /// How many shifts a schedule may have.
    pub const SHIFTS_MAX: usize = 256;

    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        if self.shifts.is_empty() {
            inspection.fault("shifts", "empty", "at least one shift is needed");
        }
        if Self::SHIFTS_MAX < self.shifts.len() {
            let many = format!("{} shifts", self.shifts.len());
            let allowed = format!("at most {} are allowed", Self::SHIFTS_MAX);
            inspection.fault("shifts", many, &allowed);
        }
        for (index, shift) in self.shifts.iter().enumerate() {
            inspection.within(&format!("shifts[{index}]"), |inspection| {
                let ends = [("from_second", shift.from_second), ("to_second", shift.to_second)];
                for (field, second) in ends {
                    if Calendar::DAY <= second {
                        inspection.fault(field, second, "a day ends at second 86399");
                    }
                }
                inspection.at_least_one("workers", shift.workers);
            });
        }
    }

    /// Builds the decider.
    #[must_use]
    pub fn build(&self) -> Schedule {
        Schedule { shifts: self.shifts.clone() }
    }
}

impl ShiftConfig {
    fn begins_on(&self, day: Weekday) -> bool {
        self.days.is_empty() || self.days.contains(&day)
    }

    fn holds_at(&self, now: Calendar) -> bool {
        let second = now.second_of_day();
        if self.from_second < self.to_second {
            return self.begins_on(now.weekday())
                && self.from_second <= second
                && second < self.to_second;
        }
        // Over midnight: the evening belongs to today's shift, the morning to yesterday's.
        (self.begins_on(now.weekday()) && self.from_second <= second)
            || (self.begins_on(now.weekday().previous()) && second < self.to_second)
    }
}

impl Decider for Schedule {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let Some(now) = situation.observation.calendar else {
            return Proposal::abstain(Reason::NoData);
        };
        let holding = self.shifts.iter().filter(|shift| shift.holds_at(now));
        let workers = holding.map(|shift| shift.workers).max();
        Proposal::at_least(workers.unwrap_or(0), Reason::Scheduled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check_observed;

    fn shift(days: &[Weekday], from_hour: u32, to_hour: u32, workers: u32) -> ShiftConfig {
        let (from_second, to_second) = (from_hour * 3600, to_hour * 3600);
        ShiftConfig { days: days.to_vec(), from_second, to_second, workers }
    }

    fn check(shifts: &[ShiftConfig], day: Weekday, hour: u32, expected: &str) {
        let schedule = ScheduleConfig { shifts: shifts.to_vec() }.build();
        let now = Calendar::new(day, hour, 0);
        check_observed(schedule, 4, |o| o.calendar = now, expected);
    }

    #[test]
    fn the_largest_shift_that_holds_counts() {
        let shifts = [shift(&[], 8, 18, 10), shift(&[Weekday::Friday], 12, 14, 30)];
        check(&shifts, Weekday::Friday, 12, "30 scheduled");
        check(&shifts, Weekday::Friday, 14, "10 scheduled");
        check(&shifts, Weekday::Monday, 12, "10 scheduled");
        check(&shifts, Weekday::Monday, 18, "0 scheduled");
    }

    #[test]
    fn a_shift_may_run_over_midnight() {
        let night = [shift(&[Weekday::Friday], 22, 6, 8)];
        check(&night, Weekday::Friday, 23, "8 scheduled");
        check(&night, Weekday::Saturday, 5, "8 scheduled");
        check(&night, Weekday::Saturday, 6, "0 scheduled");
        check(&night, Weekday::Friday, 5, "0 scheduled");
    }

    #[test]
    fn a_shift_from_an_hour_to_the_same_lasts_a_day() {
        let day = [shift(&[Weekday::Sunday], 9, 9, 3)];
        check(&day, Weekday::Monday, 8, "3 scheduled");
        check(&day, Weekday::Monday, 9, "0 scheduled");
    }

    #[test]
    fn without_a_calendar_it_abstains() {
        let schedule = ScheduleConfig { shifts: vec![shift(&[], 0, 1, 3)] }.build();
        check_observed(schedule, 4, |_| {}, "abstains no data");
    }
}
