//! What a pool did over time, all of its nodes together, written down as it happens.

use std::time::Duration;

use headcount_core::{Decision, Observation, Timestamp};
use headcount_sim::load::Job;
use headcount_sim::report::{Point, Remark, Run};

/// So many moments are noted, about.
const MOMENTS: u32 = 2_000;
/// Where a run goes on for longer than was thought, every other moment is forgotten at so many.
const MOMENTS_MAX: usize = 8_000;
/// So many decisions are noted; more are only counted.
const DECISIONS_MAX: usize = 50_000;
/// Demand is the mean over so many services at least.
const SERVICES: u32 = 5;

/// Moments and decisions of one run.
#[derive(Debug)]
pub(super) struct Diary {
    every: Duration,
    /// Each node as it was last seen.
    nodes: Vec<Option<Point>>,
    points: Vec<Point>,
    decisions: Vec<Remark>,
    pub(super) left_out: usize,
}

impl Diary {
    /// For a run of that length on so many nodes.
    pub(super) fn of(span: Duration, nodes: u32) -> Self {
        let every = (span / MOMENTS).max(Duration::from_millis(1));
        let nodes = vec![None; nodes as usize];
        Self { every, nodes, points: Vec::new(), decisions: Vec::new(), left_out: 0 }
    }

    pub(super) fn note(&mut self, node: usize, observation: &Observation, decision: &Decision) {
        self.nodes[node] = Some(point(observation));
        let last = self.points.last().map(|point| point.at);
        if last.is_none_or(|last| self.every <= observation.at.since(last)) {
            self.points.extend(together(&self.nodes, observation.at));
            self.thin_out();
        }
        if decision.resize().is_none() {
            return;
        }
        if self.decisions.len() == DECISIONS_MAX {
            self.left_out += 1;
            return;
        }
        let text = match self.nodes.len() {
            1 => decision.explain().to_string(),
            _ => format!("node {}: {}", node + 1, decision.explain()),
        };
        self.decisions.push(Remark { at: observation.at, text });
    }

    /// A run may last for as long as its longest job, and a screen is no wider for it.
    fn thin_out(&mut self) {
        if self.points.len() < MOMENTS_MAX {
            return;
        }
        self.every = self.every.saturating_mul(2);
        let mut keep = false;
        self.points.retain(|_| {
            keep = !keep;
            keep
        });
    }

    /// All of it, with the demand that these jobs make.
    pub(super) fn run(self, name: &str, jobs: &[Job]) -> Run {
        let demand = Demand::of(jobs, self.every);
        let with_demand = |point: Point| Point { demand: demand.at(point.at), ..point };
        Run {
            name: name.to_owned(),
            points: self.points.into_iter().map(with_demand).collect(),
            decisions: self.decisions,
        }
    }
}

fn point(observation: &Observation) -> Point {
    let pool = &observation.pool;
    Point {
        at: observation.at,
        live: f64::from(pool.live),
        floor: f64::from(pool.floor),
        ceiling: f64::from(pool.ceiling),
        demand: 0.0,
        waiting: pool.queued as f64,
        wait_p99: pool.wait.map(|wait| wait.p99),
    }
}

/// All nodes as one: their sum, and the longest of their waits.
fn together(nodes: &[Option<Point>], at: Timestamp) -> Option<Point> {
    let seen = nodes.iter().flatten().copied();
    let sum = seen.reduce(|a, b| Point {
        live: a.live + b.live,
        floor: a.floor + b.floor,
        ceiling: a.ceiling + b.ceiling,
        waiting: a.waiting + b.waiting,
        wait_p99: a.wait_p99.max(b.wait_p99),
        ..a
    });
    sum.map(|sum| Point { at, ..sum })
}

/// The work that comes in, in workers that it keeps busy.
struct Demand {
    step: Duration,
    workers: Vec<f64>,
}

impl Demand {
    fn of(jobs: &[Job], step: Duration) -> Self {
        let work: f64 = jobs.iter().map(|job| job.size.as_secs_f64()).sum();
        let service = Duration::try_from_secs_f64(work / jobs.len().max(1) as f64);
        let step = step.max(service.unwrap_or_default().saturating_mul(SERVICES));
        let mut workers: Vec<f64> = Vec::new();
        for job in jobs {
            let index = index(job.at, step);
            workers.resize(workers.len().max(index + 1), 0.0);
            workers[index] += job.size.as_secs_f64() / step.as_secs_f64();
        }
        Self { step, workers }
    }

    fn at(&self, at: Timestamp) -> f64 {
        self.workers.get(index(at, self.step)).copied().unwrap_or(0.0)
    }
}

fn index(at: Timestamp, step: Duration) -> usize {
    let steps = u128::from(at.as_nanos()) / step.as_nanos().max(1);
    usize::try_from(steps).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use headcount_core::{Policy, PoolSnapshot, Preset, Staffing};

    use super::*;

    /// A second was thought of, and three hours become of it.
    #[test]
    fn a_run_of_any_length_has_as_many_moments() {
        let mut diary = Diary::of(Duration::from_secs(1), 1);
        let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
        let mut autoscaler = policy.build();
        for millis in 0..100_000_u64 {
            let at = Timestamp::from_millis(100 * millis);
            let observation = Observation::new(at, PoolSnapshot::of(Staffing::exactly(8)));
            let decision = autoscaler.tick(&observation);
            diary.note(0, &observation, &decision);
        }
        let points = diary.run("long", &[]).points;
        assert!((2_000..=8_000).contains(&points.len()), "{}", points.len());
        assert_eq!(points[0].at, Timestamp::ORIGIN);
        assert!(Timestamp::from_secs(9_990) < points[points.len() - 1].at, "to the end");
    }

    #[test]
    fn nodes_are_drawn_as_one_and_told_one_by_one() {
        let mut diary = Diary::of(Duration::from_secs(1), 2);
        let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
        for (node, live) in [(0, 3), (1, 4)] {
            let at = Timestamp::from_secs(node as u64);
            let pool = PoolSnapshot { live, queued: 9, ..PoolSnapshot::of(Staffing::exactly(1)) };
            let observation = Observation::new(at, pool);
            diary.note(node, &observation, &policy.build().tick(&observation));
        }
        let run = diary.run("two", &[]);
        let told: Vec<(f64, f64)> = run.points.iter().map(|one| (one.live, one.waiting)).collect();
        assert_eq!(format!("{told:?}"), "[(3.0, 9.0), (7.0, 18.0)]");
        assert!(run.decisions.iter().all(|one| one.text.starts_with("node ")), "{run:?}");
    }

    #[test]
    fn demand_is_the_work_that_comes_in() {
        let second = Duration::from_secs(1);
        let job = |secs| Job { at: Timestamp::from_secs(secs), size: second, class: 0 };
        let demand = Demand::of(&[0, 1, 2, 3, 4, 5, 5, 5, 5, 5].map(job), second);
        let told =
            [0, 4, 7, 12].map(|secs| format!("{:.2}", demand.at(Timestamp::from_secs(secs))));
        assert_eq!(told, ["1.00", "1.00", "1.00", "0.00"]);
    }
}
