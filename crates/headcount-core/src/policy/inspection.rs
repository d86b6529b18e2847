//! Reads a written policy and notes everything that is wrong with it, not only the first thing.

use std::fmt;
use std::time::Duration;

use crate::Name;
use crate::scaling::signal::Source;

/// Something in a written policy that cannot be.
///
/// ```
/// use headcount_core::{Policy, PolicyConfig};
///
/// let config = PolicyConfig { workers_min: Some(5), workers_max: Some(3), ..Default::default() };
/// let faults = Policy::check(&config, 8).expect_err("the bounds cross");
/// assert_eq!(
///     faults[0].to_string(),
///     "workers_max is 3; it must be at least workers_min, which is 5"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands, as a path: `decider.parts[1].setpoint`.
    pub field: String,
    /// What was written.
    pub value: String,
    /// What is allowed there.
    pub allowed: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}; {}", self.field, self.value, self.allowed)
    }
}

impl std::error::Error for Fault {}

/// Something in a written policy that can be, and that its author may regret.
///
/// ```
/// use headcount_core::guard::Cooldown;
/// use headcount_core::{GuardsConfig, Policy, PolicyConfig};
/// use std::time::Duration;
///
/// let cooldown = Some(Cooldown::new(Duration::from_secs(60), Duration::from_secs(30)));
/// let guards = GuardsConfig { cooldown, ..GuardsConfig::default() };
/// let config = PolicyConfig { guards, ..PolicyConfig::default() };
/// let policy = Policy::check(&config, 8).expect("unwise is not wrong");
/// assert_eq!(
///     policy.hints()[0].to_string(),
///     "guards.cooldown.shrink: 30s is shorter than grow, 60s; shrinking should be slower"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where it stands.
    pub field: String,
    /// What is unwise about it, and what would be better.
    pub advice: String,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.advice)
    }
}

/// Collects faults and hints, and the signals that the parts of a policy ask for.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    path: String,
    declared: Vec<(Name, Source)>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) hints: Vec<Hint>,
    /// Signals that were asked for by the name of a source and declared by nobody.
    pub(crate) implied: Vec<(Name, Source)>,
}

impl Inspection {
    /// Begins with the signals that the policy declares.
    pub(crate) fn of(declared: Vec<(Name, Source)>) -> Self {
        Self { declared, ..Self::default() }
    }

    /// Inspects a part that stands under `field`.
    pub(crate) fn within(&mut self, field: &str, inspect: impl FnOnce(&mut Self)) {
        let outer = self.path.len();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(field);
        inspect(self);
        self.path.truncate(outer);
    }

    /// Notes that `field` cannot be `value`.
    pub(crate) fn fault(&mut self, field: &str, value: impl fmt::Display, allowed: &str) {
        let field = self.full(field);
        self.faults.push(Fault { field, value: value.to_string(), allowed: allowed.to_owned() });
    }

    /// Notes that `field` is unwise.
    pub(crate) fn hint(&mut self, field: &str, advice: impl Into<String>) {
        let field = self.full(field);
        self.hints.push(Hint { field, advice: advice.into() });
    }

    /// A number that is finite and more than zero.
    pub(crate) fn positive(&mut self, field: &str, value: f64) {
        if !(value.is_finite() && 0.0 < value) {
            self.fault(field, value, "a finite number above 0 is needed");
        }
    }

    /// A number that is finite and not below zero.
    pub(crate) fn not_negative(&mut self, field: &str, value: f64) {
        if !(value.is_finite() && 0.0 <= value) {
            self.fault(field, value, "a finite number of 0 or more is needed");
        }
    }

    /// A number that is finite.
    pub(crate) fn finite(&mut self, field: &str, value: f64) {
        if !value.is_finite() {
            self.fault(field, value, "a finite number is needed");
        }
    }

    /// A share between nothing and all, both left out.
    pub(crate) fn inner_share(&mut self, field: &str, value: f64) {
        if !(0.0 < value && value < 1.0) {
            self.fault(field, value, "a share above 0 and below 1 is needed");
        }
    }

    /// A share that may be all and may not be nothing.
    pub(crate) fn share(&mut self, field: &str, value: f64) {
        if !(0.0 < value && value <= 1.0) {
            self.fault(field, value, "a share above 0 and up to 1 is needed");
        }
    }

    /// A count of at least one.
    pub(crate) fn at_least_one(&mut self, field: &str, value: u32) {
        if value == 0 {
            self.fault(field, value, "at least 1 is needed");
        }
    }

    /// A span that is not zero.
    pub(crate) fn some_time(&mut self, field: &str, value: Duration) {
        if value.is_zero() {
            self.fault(field, "0 s", "a span above 0 is needed");
        }
    }

    /// A signal that is declared, or that bears the name of a source.
    pub(crate) fn signal(&mut self, field: &str, name: &Name) {
        if self.source(name).is_some() {
            return;
        }
        match Source::named(name.as_str()) {
            Some(source) => self.implied.push((*name, source)),
            None => self.fault(
                field,
                name,
                "no such signal; declare it under signals, or use external.NAME",
            ),
        }
    }

    /// What the signal called `name` reads, where there is one.
    pub(crate) fn source(&self, name: &Name) -> Option<Source> {
        let known = self.declared.iter().chain(&self.implied);
        known.into_iter().find(|(known, _)| known == name).map(|(_, source)| *source)
    }

    fn full(&self, field: &str) -> String {
        match (self.path.is_empty(), field.is_empty()) {
            (true, _) => field.to_owned(),
            (_, true) => self.path.clone(),
            _ => format!("{}.{field}", self.path),
        }
    }
}
