//! Work that passes several pools: which of them holds it up, and what each needs.
//!
//! A promise for the whole way is shared out: each visit gets an equal part of the wait, and of
//! the share that may be late. Should every visit keep its part, the whole keeps the promise,
//! whatever the wait at one stage knows of another; so the numbers err on the safe side.

use crate::maths::{BadNumber, Measured, Service, ServiceSum, Slo, Traffic, workers_needed};

use super::no_plan::NoPlan;
use super::planned::{Present, needed};
use super::standing::Standing;

/// One of the pools that a job passes.
///
/// ```
/// use headcount_sim::maths::Service;
/// use headcount_sim::plan::Stage;
///
/// let service = Service::new(0.020, 1.0)?;
/// let thumbs = Stage { calls: 1.5, ..Stage::new("thumbs", service) };
/// assert_eq!(thumbs.demand(), 0.030, "seconds of its workers that a job takes");
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// What it is called.
    pub name: String,
    /// How long one visit takes.
    pub service: Service,
    /// How often a job comes here, on average.
    pub calls: f64,
    /// How many workers it has today. `None`: not known.
    pub workers: Option<u32>,
}

impl Stage {
    /// A stage that every job visits once.
    #[must_use]
    pub fn new(name: &str, service: Service) -> Self {
        Self { name: name.to_owned(), service, calls: 1.0, workers: None }
    }

    /// Seconds of its workers that a job takes, all visits together.
    #[must_use]
    pub fn demand(&self) -> f64 {
        self.calls * self.service.mean()
    }
}

/// Work that passes several pools, and what was promised for the whole way.
///
/// ```
/// use headcount_sim::maths::{Service, Slo};
/// use headcount_sim::plan::{Stage, Stages};
///
/// let fetch = Stage { workers: Some(40), ..Stage::new("fetch", Service::new(0.200, 1.0)?) };
/// let thumb = Stage { workers: Some(4), ..Stage::new("thumb", Service::new(0.030, 0.5)?) };
/// let stages = vec![fetch, thumb];
/// let slo = Slo::wait(0.100, 0.01)?;
/// let plan = Stages { rate: 100.0, arrivals_scv: 1.0, slo, stages }.plan()?;
/// let narrowest = &plan.stages[plan.narrowest.stage()];
/// assert_eq!(narrowest.stage.name, "thumb");
/// assert!((narrowest.carries.expect("its workers are known") - 133.3).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Stages {
    /// Jobs in a second.
    pub rate: f64,
    /// How bursty they come, 1 being chance.
    pub arrivals_scv: f64,
    /// What was promised for the whole way.
    pub slo: Slo,
    /// The pools in the order in which they are passed, at least one.
    pub stages: Vec<Stage>,
}

/// What each of several pools needs.
///
/// ```
/// use headcount_sim::maths::{Service, Slo};
/// use headcount_sim::plan::{Narrowest, Stage, Stages};
///
/// let stages = vec![
///     Stage::new("parse", Service::new(0.001, 1.0)?),
///     Stage::new("store", Service::new(0.020, 1.0)?),
/// ];
/// let slo = Slo::wait(0.010, 0.01)?;
/// let plan = Stages { rate: 100.0, arrivals_scv: 1.0, slo, stages }.plan()?;
/// assert_eq!(plan.narrowest, Narrowest::Demand(1), "it keeps the most workers busy");
/// assert_eq!(plan.workers(), 1 + 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StagesPlan {
    /// Each of them.
    pub stages: Vec<StagePlan>,
    /// Which one holds the others up first.
    pub narrowest: Narrowest,
}

impl StagesPlan {
    /// The workers of all stages.
    #[must_use]
    pub fn workers(&self) -> u64 {
        self.stages.iter().map(|stage| u64::from(stage.at.workers)).sum()
    }
}

/// Which stage holds the others up, by its place from 0, and by what that is known.
///
/// ```
/// use headcount_sim::plan::Narrowest;
///
/// assert_eq!(Narrowest::Capacity(2).stage(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrowest {
    /// Its workers of today carry the least.
    Capacity(usize),
    /// A job takes the most of its workers' time; how many there are is not known.
    Demand(usize),
}

impl Narrowest {
    /// Its place, from 0.
    #[must_use]
    pub fn stage(self) -> usize {
        match self {
            Self::Capacity(stage) | Self::Demand(stage) => stage,
        }
    }
}

/// What one of several pools needs.
///
/// ```
/// # use headcount_sim::maths::{Service, Slo};
/// # use headcount_sim::plan::{Stage, Stages};
/// # let slo = Slo::wait(0.100, 0.01)?;
/// # let stages = vec![Stage { calls: 2.0, ..Stage::new("all", Service::new(0.100, 1.0)?) }];
/// let plan = Stages { rate: 50.0, arrivals_scv: 1.0, slo, stages }.plan()?;
/// assert_eq!(plan.stages[0].traffic.rate(), 100.0, "each job comes twice");
/// assert_eq!(plan.stages[0].slo.limit(), 0.050, "and may wait half as long each time");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StagePlan {
    /// The stage.
    pub stage: Stage,
    /// What comes to it.
    pub traffic: Traffic,
    /// Its part of the promise, for each visit.
    pub slo: Slo,
    /// The fewest workers that keep it, and how they stand.
    pub at: Standing,
    /// The workers for twice the load. `None`: more than are looked for.
    pub doubled: Option<u32>,
    /// How the workers of today stand. `None`: not known.
    pub present: Option<Present>,
    /// The most jobs in a second that the workers of today get done. `None`: not known.
    pub carries: Option<f64>,
}

impl Stages {
    /// What each stage needs.
    ///
    /// # Errors
    ///
    /// When there is no stage, a number makes no sense, or no number of workers would do.
    pub fn plan(&self) -> Result<StagesPlan, NoPlan> {
        self.check()?;
        let slo = self.each_visit()?;
        let stages = self.stages.iter().map(|stage| self.plan_one(stage, slo));
        let stages: Vec<StagePlan> = stages.collect::<Result<_, _>>()?;
        let narrowest = narrowest(&stages);
        Ok(StagesPlan { stages, narrowest })
    }

    fn check(&self) -> Result<(), BadNumber> {
        BadNumber::above_zero("the number of stages", self.stages.len() as f64)?;
        BadNumber::above_zero("the rate of arrivals", self.rate)?;
        for stage in &self.stages {
            BadNumber::above_zero("the number of calls of a stage", stage.calls)?;
        }
        Ok(())
    }

    /// The promise that each visit must keep.
    fn each_visit(&self) -> Result<Slo, NoPlan> {
        let visits = self.stages.iter().map(|stage| stage.calls).sum::<f64>().max(1.0);
        // One that comes once or twice must not wait too long where it comes twice.
        let visits_max: f64 = self.stages.iter().map(|stage| stage.calls.ceil()).sum();
        let (limit, share) = match self.slo.measured() {
            Measured::Wait => (self.slo.limit(), self.slo.share()),
            Measured::Latency => self.left_for_waits()?,
        };
        Ok(Slo::wait(limit / visits_max, share / visits)?)
    }

    /// What the service of all visits leaves for waiting: how long, and for how many.
    fn left_for_waits(&self) -> Result<(f64, f64), NoPlan> {
        let service = self.whole_service()?;
        let (limit, share) = (self.slo.limit(), self.slo.share());
        let late = service.beyond(limit);
        if share <= late {
            let limit_least = service.all_but(share)?;
            return Err(NoPlan::ServiceAlone { late, share, limit, limit_least });
        }
        // Of the jobs that may be late, the service gets as many as the waits do beyond those it
        // takes anyway.
        let by_service = f64::midpoint(late, share);
        Ok((limit - service.all_but(by_service)?, share - by_service))
    }

    /// The service of all visits, as if none knew of another.
    fn whole_service(&self) -> Result<ServiceSum, BadNumber> {
        let visits = self.stages.iter().map(|stage| (stage.service, stage.calls));
        ServiceSum::of(&visits.collect::<Vec<_>>(), self.slo.share())
    }

    fn plan_one(&self, stage: &Stage, slo: Slo) -> Result<StagePlan, NoPlan> {
        let traffic = Traffic::poisson(self.rate * stage.calls, stage.service)?;
        let traffic = traffic.with_arrivals_scv(self.arrivals_scv)?;
        let too_many = NoPlan::TooMany { erlangs: traffic.load().erlangs() };
        let at = Standing::of(&traffic, &slo, needed(&traffic, &slo)?).ok_or(too_many)?;
        Ok(StagePlan {
            stage: stage.clone(),
            traffic,
            slo,
            at,
            doubled: workers_needed(&traffic.with_rate(2.0 * traffic.rate())?, &slo),
            present: stage.workers.map(|workers| Present::of(&traffic, &slo, workers)),
            carries: stage.workers.map(|workers| f64::from(workers) / stage.demand()),
        })
    }
}

fn narrowest(stages: &[StagePlan]) -> Narrowest {
    let known = stages.iter().enumerate().filter_map(|(place, one)| Some((place, one.carries?)));
    let least = known.min_by(|(_, one), (_, other)| one.total_cmp(other));
    if let Some((place, _)) = least {
        return Narrowest::Capacity(place);
    }
    let demands = stages.iter().map(|one| one.stage.demand()).enumerate();
    let most = demands.max_by(|(_, one), (_, other)| one.total_cmp(other));
    Narrowest::Demand(most.map_or(0, |(place, _)| place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(name: &str, milliseconds: f64, calls: f64, workers: Option<u32>) -> Stage {
        let service = Service::new(milliseconds / 1000.0, 1.0).unwrap();
        Stage { calls, workers, ..Stage::new(name, service) }
    }

    fn stages(slo: Slo, stages: Vec<Stage>) -> Stages {
        Stages { rate: 100.0, arrivals_scv: 1.0, slo, stages }
    }

    fn check(list: Vec<Stage>, expected: &str) {
        let plan = stages(Slo::wait(0.1, 0.01).unwrap(), list).plan().unwrap();
        let told: Vec<String> = plan
            .stages
            .iter()
            .map(|one| format!("{} {}", one.stage.name, one.at.workers))
            .collect();
        assert_eq!(format!("{}, {:?}", told.join(", "), plan.narrowest), expected);
    }

    #[test]
    fn one_stage_is_a_pool_like_any_other() {
        check(vec![stage("only", 100.0, 1.0, None)], "only 14, Demand(0)");
    }

    #[test]
    fn the_narrowest_is_named_by_what_is_known() {
        let list = |workers| vec![stage("a", 10.0, 4.0, workers), stage("b", 20.0, 1.0, Some(3))];
        check(list(None), "a 7, b 6, Capacity(1)");
        check(list(Some(8)), "a 7, b 6, Capacity(1)");
        check(list(Some(5)), "a 7, b 6, Capacity(0)");
        let unknown = vec![stage("a", 10.0, 4.0, None), stage("b", 20.0, 1.0, None)];
        check(unknown, "a 7, b 6, Demand(0)");
    }

    #[test]
    fn a_promise_on_the_whole_leaves_the_waits_what_the_service_does_not_take() {
        let list = || vec![stage("a", 10.0, 1.0, None), stage("b", 40.0, 1.0, None)];
        let plan = stages(Slo::latency(0.400, 0.01).unwrap(), list()).plan().unwrap();
        let slo = plan.stages[0].slo;
        assert!(0.050 < slo.limit() && slo.limit() < 0.100, "{slo:?}");
        assert!(0.002 < slo.share() && slo.share() < 0.0025, "{slo:?}");

        let refused = stages(Slo::latency(0.100, 0.01).unwrap(), list()).plan();
        assert!(matches!(refused, Err(NoPlan::ServiceAlone { .. })), "{refused:?}");
    }

    /// A lognormal of the same mean and variance has 0.9 % beyond 3.3 s.
    #[test]
    fn what_one_stage_alone_breaks_is_not_promised() {
        let even = Stage::new("even", Service::fixed(0.5).unwrap());
        let list = || vec![stage("varying", 600.0, 1.0, None), even.clone()];
        let plan = |limit| stages(Slo::latency(limit, 0.01).unwrap(), list()).plan();
        for limit in [1.0, 3.3] {
            let Err(NoPlan::ServiceAlone { limit_least, .. }) = plan(limit) else {
                panic!("1.17 % take longer than 2.8 s");
            };
            assert!((limit_least - 3.443).abs() < 1e-3, "{limit_least}");
        }
        assert!(plan(3.5).is_ok());
    }

    #[test]
    fn a_stage_that_is_passed_once_or_twice_waits_for_twice() {
        let list = vec![stage("a", 10.0, 1.5, None)];
        let plan = stages(Slo::wait(0.1, 0.01).unwrap(), list).plan().unwrap();
        let slo = plan.stages[0].slo;
        assert!((slo.limit() - 0.05).abs() < 1e-12, "{slo:?}");
        assert!((slo.share() - 0.01 / 1.5).abs() < 1e-12, "{slo:?}");
    }

    #[test]
    fn nonsense_is_refused() {
        let slo = Slo::wait(0.1, 0.01).unwrap();
        assert!(stages(slo, Vec::new()).plan().is_err());
        let told = stages(slo, vec![stage("a", 1.0, 0.0, None)]).plan().unwrap_err().to_string();
        assert_eq!(told, "the number of calls of a stage is 0; it must be above 0");
    }
}
