//! Grows when any rule says so, shrinks when all rules say so.
//!
//! Any sign of overload is reason enough to grow; only strong evidence is reason to shrink. A rule
//! whose signal has no reading says nothing: it cannot make the pool grow, and it keeps it from
//! shrinking.
//!
//! *Gain*: one step per cooldown. With the effect of a step seen `d` ticks late it stays within one
//! worker of where it settles for any `d`, because a step under way is not taken twice; readings
//! that are smoothed over `k` ticks need a cooldown of `k` ticks or more.

use super::steps::EPSILON;
use super::{Decider, Step};
use crate::policy::Inspection;
use crate::scaling::signal::Source;
use crate::scaling::situation::Known;
use crate::{Comparison, Evidence, Name, Proposal, Reason, Situation, Staffing};

/// Grows when any of its rules says so, shrinks when all of its rules say so.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, Rule, Step, Threshold};
/// use headcount_core::{Name, Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
///
/// let util = Name::new("utilization").expect("a name");
/// let threshold = Threshold {
///     grow_when_any: vec![Rule::above(util, 0.8)],
///     shrink_when_all: vec![Rule::below(util, 0.3)],
///     grow_step: Step::Add(2),
///     shrink_step: Step::Add(1),
/// };
/// let decider = Some(DeciderConfig::Threshold(threshold));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let pool = PoolSnapshot { busy: 4, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// assert_eq!(decision.to, Staffing::exactly(6));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Threshold {
    /// The rules of which one is enough to grow. Default: utilization above 0.8.
    pub grow_when_any: Vec<Rule>,
    /// The rules of which all are needed to shrink; none at all never shrinks. Default:
    /// utilization below 0.3.
    pub shrink_when_all: Vec<Rule>,
    /// How far to grow. Default: 1 worker.
    pub grow_step: Step,
    /// How far to shrink. Default: 1 worker.
    pub shrink_step: Step,
}

/// The gap between the limits to grow and to shrink below which a pool is apt to oscillate.
const GAP_MIN: f64 = 0.3;

/// A signal held against a limit.
///
/// ```
/// use headcount_core::decide::{DeciderConfig, Rule, Threshold};
/// use headcount_core::{Name, Observation, Policy, PolicyConfig, PoolSnapshot, Staffing};
/// use std::time::Duration;
///
/// let oldest = Name::new("oldest_wait").expect("a name");
/// let grow_when_any = vec![Rule::above(oldest, 0.5)];
/// let decider = Some(DeciderConfig::Threshold(Threshold { grow_when_any, ..Default::default() }));
/// let config = PolicyConfig { decider, ..PolicyConfig::default() };
/// let mut autoscaler = Policy::check(&config, 8).expect("no fault").build();
/// let oldest_wait = Some(Duration::from_millis(900));
/// let pool = PoolSnapshot { queued: 1, oldest_wait, ..PoolSnapshot::of(Staffing::exactly(4)) };
/// let decision = autoscaler.tick(&Observation { pool, ..Observation::default() });
/// let line = "grow 4 to 5: wants 5 (oldest wait 0.9 s > 0.5 s) -> bounds 5";
/// assert_eq!(decision.explain().to_string(), line);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Rule {
    /// The signal.
    pub signal: Name,
    /// How its reading must compare.
    pub comparison: Comparison,
    /// With what.
    pub limit: f64,
}

impl Default for Threshold {
    fn default() -> Self {
        let utilization = Name::cut("utilization");
        Self {
            grow_when_any: vec![Rule::above(utilization, 0.8)],
            shrink_when_all: vec![Rule::below(utilization, 0.3)],
            grow_step: Step::Add(1),
            shrink_step: Step::Add(1),
        }
    }
}

impl Rule {
    /// The reading must be above `limit`.
    #[must_use]
    pub fn above(signal: Name, limit: f64) -> Self {
        Self { signal, comparison: Comparison::Above, limit }
    }

    /// The reading must be below `limit`.
    #[must_use]
    pub fn below(signal: Name, limit: f64) -> Self {
        Self { signal, comparison: Comparison::Below, limit }
    }

    /// The reading must be `limit` or more.
    #[must_use]
    pub fn at_least(signal: Name, limit: f64) -> Self {
        Self { signal, comparison: Comparison::AtLeast, limit }
    }

    /// The reason and the evidence, where the rule says yes.
    fn says(&self, situation: &Situation<'_>) -> Option<(Reason, Evidence)> {
        let known = situation.reading(self.signal.as_str())?;
        let holds = self.comparison.holds(known.value, self.limit);
        holds.then(|| (known.reading.reason, evidence(known, self.comparison, self.limit)))
    }
}

impl Rule {
    /// A share of busy workers can be above 0 to 1, and below 1; other limits never come true, or
    /// always.
    fn inspect_utilization(&self, inspection: &mut Inspection) {
        if inspection.source(&self.signal) != Some(Source::Utilization) || self.limit.is_nan() {
            return;
        }
        let upward = matches!(self.comparison, Comparison::Above | Comparison::AtLeast);
        let (fits, allowed) = match upward {
            true => (
                0.0 < self.limit && self.limit <= 1.0,
                "a share above 0 and up to 1 is needed to grow",
            ),
            false => (
                0.0 <= self.limit && self.limit < 1.0,
                "a share from 0 to below 1 is needed to shrink",
            ),
        };
        if !fits {
            inspection.fault("limit", self.limit, allowed);
        }
    }
}

impl Threshold {
    /// How many rules each way are looked at.
    pub const RULES_MAX: usize = 16;

    pub(crate) fn inspect(&self, inspection: &mut Inspection) {
        for (field, rules) in
            [("grow_when_any", &self.grow_when_any), ("shrink_when_all", &self.shrink_when_all)]
        {
            if Self::RULES_MAX < rules.len() {
                let allowed = format!("at most {} are allowed", Self::RULES_MAX);
                inspection.fault(field, format!("{} rules", rules.len()), &allowed);
            }
            for (index, rule) in rules.iter().enumerate() {
                inspection.within(&format!("{field}[{index}]"), |inspection| {
                    inspection.signal("signal", &rule.signal);
                    inspection.finite("limit", rule.limit);
                    rule.inspect_utilization(inspection);
                });
            }
        }
        if self.grow_when_any.is_empty() && self.shrink_when_all.is_empty() {
            inspection.fault("grow_when_any", "empty", "at least one rule is needed");
        }
        self.grow_step.inspect("grow_step", inspection);
        self.shrink_step.inspect("shrink_step", inspection);
        self.inspect_gaps(inspection);
    }

    /// The same signal on both sides needs a gap, or the pool turns around for ever.
    fn inspect_gaps(&self, inspection: &mut Inspection) {
        for up in &self.grow_when_any {
            for down in self.shrink_when_all.iter().filter(|down| down.signal == up.signal) {
                Self::inspect_gap(up, down, inspection);
            }
        }
    }

    fn inspect_gap(up: &Rule, down: &Rule, inspection: &mut Inspection) {
        let upward = matches!(up.comparison, Comparison::Above | Comparison::AtLeast);
        let downward = matches!(down.comparison, Comparison::Below | Comparison::AtMost);
        if !(upward && downward) {
            return;
        }
        let (high, low) = (up.limit, down.limit);
        let field = format!("shrink_when_all limit of {}", up.signal);
        if high <= low {
            let allowed = format!("it must be below the limit to grow, which is {high}");
            inspection.fault(&field, low, &allowed);
        }
        let is_share = inspection.source(&up.signal) == Some(Source::Utilization);
        if is_share && low < high && high - low < GAP_MIN - EPSILON {
            let advice = format!("{low} is within {GAP_MIN} of the limit to grow, {high}");
            inspection.hint(&field, format!("{advice}; the pool may oscillate"));
        }
    }
}

impl Decider for Threshold {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        if let Some((reason, evidence)) =
            self.grow_when_any.iter().find_map(|rule| rule.says(situation))
        {
            let size = self.grow_step.up(situation.pool());
            return Proposal::want(Staffing::exactly(size), reason).because(evidence);
        }
        let mut agreed = self.shrink_when_all.iter().map(|rule| rule.says(situation));
        let first = agreed.next().flatten();
        if let Some((reason, evidence)) = first
            && agreed.all(|says| says.is_some())
        {
            let size = self.shrink_step.down(situation.pool());
            return Proposal::want(Staffing::exactly(size), reason).because(evidence);
        }
        self.rest(situation)
    }
}

impl Threshold {
    /// No rule says anything: a vote for the present size, where there is a say in both ways.
    fn rest(&self, situation: &Situation<'_>) -> Proposal {
        let mut rules = self.grow_when_any.iter().chain(&self.shrink_when_all);
        if !rules.any(|rule| situation.reading(rule.signal.as_str()).is_some()) {
            return Proposal::abstain(Reason::NoData);
        }
        // A decider that can only grow has no view on shrinking; beside others it stands aside.
        match self.grow_when_any.is_empty() || self.shrink_when_all.is_empty() {
            true => Proposal::abstain(Reason::Steady),
            false => Proposal::want(situation.from(), Reason::Steady),
        }
    }
}

/// The comparison as it is shown to people.
pub(crate) fn evidence(known: Known, comparison: Comparison, limit: f64) -> Evidence {
    let (name, unit) = (known.reading.name, known.reading.unit);
    Evidence { name, unit, value: known.value, comparison, limit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::decide::harness::check;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn threshold() -> Threshold {
        Threshold {
            grow_when_any: vec![
                Rule::above(name("utilization"), 0.8),
                Rule::above(name("queue_depth"), 100.0),
            ],
            shrink_when_all: vec![
                Rule::below(name("utilization"), 0.3),
                Rule::below(name("queue_depth"), 10.0),
            ],
            ..Threshold::default()
        }
    }

    #[test]
    fn any_rule_grows() {
        check(threshold(), 4, &[("utilization", 0.9)], "5 worker utilization");
        check(threshold(), 4, &[("utilization", 0.1), ("queue_depth", 101.0)], "5 queue depth");
        check(threshold(), 4, &[("utilization", 0.8), ("queue_depth", 100.0)], "4 steady");
    }

    #[test]
    fn all_rules_shrink() {
        check(
            threshold(),
            4,
            &[("utilization", 0.1), ("queue_depth", 9.0)],
            "3 worker utilization",
        );
        check(threshold(), 4, &[("utilization", 0.1), ("queue_depth", 10.0)], "4 steady");
        check(threshold(), 4, &[("utilization", 0.3), ("queue_depth", 0.0)], "4 steady");
    }

    #[test]
    fn no_reading_never_shrinks() {
        check(threshold(), 4, &[("utilization", 0.1)], "4 steady");
        check(threshold(), 4, &[], "abstains no data");
    }

    #[test]
    fn a_one_sided_rule_has_no_view_of_the_other_side() {
        let grow_only = Threshold { shrink_when_all: Vec::new(), ..threshold() };
        check(grow_only, 4, &[("utilization", 0.1)], "abstains steady");
    }

    #[test]
    fn steps_may_multiply() {
        let burst = Threshold { grow_step: Step::Multiply(1.5), ..threshold() };
        check(burst, 4, &[("utilization", 0.9)], "6 worker utilization");
    }
}
