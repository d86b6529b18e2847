//! What if the numbers are a little wrong?

use super::no_plan::NoPlan;
use super::planned::needed;
use crate::maths::{BadNumber, Service, Slo, Traffic};

/// How much longer jobs take, how much more they vary, how much burstier they come.
const LONGER: f64 = 1.2;
const VARIES: f64 = 2.0;
const BURSTIER: f64 = 4.0;

/// A number that turns out different from what was planned for.
///
/// ```
/// use headcount_sim::plan::Change;
///
/// assert_eq!(Change::ServiceLonger.to_string(), "service 20 % longer");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Jobs take a fifth longer.
    ServiceLonger,
    /// The variance of the service time is twice what it was.
    ServiceVaries,
    /// Arrivals are four times as bursty.
    ArrivalsBurst,
    /// All of it at once.
    All,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::ServiceLonger => "service 20 % longer",
            Self::ServiceVaries => "service variance x 2",
            Self::ArrivalsBurst => "arrivals 4 x as bursty",
            Self::All => "all three at once",
        })
    }
}

impl Change {
    fn of(self, traffic: &Traffic) -> Result<Traffic, BadNumber> {
        let service = traffic.service();
        let longer = || Service::new(service.mean() * LONGER, service.scv());
        let varied = || Service::new(service.mean(), service.scv() * VARIES);
        let (service, burst) = match self {
            Self::ServiceLonger => (longer()?, 1.0),
            Self::ServiceVaries => (varied()?, 1.0),
            Self::ArrivalsBurst => (service, BURSTIER),
            Self::All => (Service::new(longer()?.mean(), varied()?.scv())?, BURSTIER),
        };
        Traffic::poisson(traffic.rate(), service)?.with_arrivals_scv(traffic.arrivals_scv() * burst)
    }
}

/// How many workers a change would need.
///
/// ```
/// use headcount_sim::maths::{Service, Slo, Traffic};
/// use headcount_sim::plan::{Change, Plan, Question};
///
/// let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
/// let plan = Plan::of(&Question::new(traffic, Slo::wait(0.050, 0.01)?))?;
/// let longer = plan.what_ifs[0];
/// assert_eq!((longer.change, longer.workers), (Change::ServiceLonger, Ok(76)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WhatIf {
    /// What would be different.
    pub change: Change,
    /// The workers that would be needed, or why there is no number of them.
    pub workers: Result<u32, NoPlan>,
}

impl WhatIf {
    pub(super) fn all(traffic: &Traffic, slo: &Slo) -> Vec<Self> {
        let needed = |change: Change| {
            let other = change.of(traffic).map_err(NoPlan::from);
            Self { change, workers: other.and_then(|other| needed(&other, slo)) }
        };
        [Change::ServiceLonger, Change::ServiceVaries, Change::ArrivalsBurst, Change::All]
            .map(needed)
            .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(slo: Slo, expected: [Option<u32>; 4]) {
        let service = Service::lognormal(0.050, 0.200).unwrap();
        let traffic = Traffic::poisson(1000.0, service).unwrap();
        let workers: Vec<_> =
            WhatIf::all(&traffic, &slo).iter().map(|what_if| what_if.workers.ok()).collect();
        assert_eq!(workers, expected);
    }

    #[test]
    fn each_change_needs_workers_of_its_own() {
        check(Slo::wait(0.050, 0.01).unwrap(), [Some(76), Some(64), Some(69), Some(84)]);
    }

    #[test]
    fn some_changes_break_the_promise_by_themselves() {
        check(Slo::latency(0.210, 0.01).unwrap(), [None, None, Some(69), None]);
    }
}
