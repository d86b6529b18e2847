//! One subject at a time: everybody once in each round, each round beginning with another one.

use std::time::Duration;

use super::process::wait_for_threads;
use super::{Pool, executors, threads};
use crate::{Row, median_and_spread};

use super::ours;

/// Our name among the contestants.
pub(super) const OURS: &str = "ours";

/// How long the threads of a dropped pool may take to end before the next pool is made.
const SETTLE_MAX: Duration = Duration::from_secs(5);

/// Work that is the same for every pool, and the figures that come of it.
pub(super) trait Scenario: Sized + 'static {
    /// What each figure is about, and its unit.
    fn titles(&self) -> Vec<Title>;

    /// Whether a pool of this kind can take part.
    fn takes<P: Pool>(&self) -> bool;

    /// One round: one figure for each title.
    fn round<P: Pool>(&self) -> Vec<f64>;
}

/// The name of a row, and its unit.
pub(super) type Title = (String, &'static str);

/// Someone who takes part in a subject.
pub(super) struct Contestant {
    name: &'static str,
    round: Box<dyn Fn() -> Vec<f64>>,
}

impl Contestant {
    pub(super) fn new(name: &'static str, round: impl Fn() -> Vec<f64> + 'static) -> Self {
        Self { name, round: Box::new(round) }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn round(&self) -> Vec<f64> {
        let figures = (self.round)();
        if wait_for_threads(1, SETTLE_MAX) == SETTLE_MAX {
            eprintln!("the threads of {} are still there after {SETTLE_MAX:?}", self.name);
        }
        figures
    }
}

/// Everybody who can take part in a scenario.
pub(super) fn everybody<S: Scenario>(make: impl Fn() -> S) -> Vec<Contestant> {
    let field = [
        contestant::<S, ours::Threads>(make()),
        contestant::<S, threads::Rayon>(make()),
        contestant::<S, threads::Threadpool>(make()),
        contestant::<S, threads::RustyPool>(make()),
        contestant::<S, threads::TokioBlocking>(make()),
        contestant::<S, threads::Affinitypool>(make()),
        contestant::<S, threads::Crossbeam>(make()),
        contestant::<S, executors::Tokio>(make()),
        contestant::<S, executors::TokioSemaphore>(make()),
        contestant::<S, executors::AsyncExecutor>(make()),
    ];
    field.into_iter().flatten().collect()
}

fn contestant<S: Scenario, P: Pool>(scenario: S) -> Option<Contestant> {
    let takes = scenario.takes::<P>();
    takes.then(|| Contestant::new(P::NAME, move || scenario.round::<P>()))
}

/// Some rows that are measured together.
pub(super) struct Subject {
    titles: Vec<Title>,
    rounds_max: usize,
    contestants: Vec<Contestant>,
    /// For each contestant, the figures of each round.
    rounds: Vec<Vec<Vec<f64>>>,
}

impl Subject {
    /// A scenario, with everybody who can take part in it.
    pub(super) fn of<S: Scenario>(make: impl Fn() -> S) -> Self {
        let titles = make().titles();
        Self::between(titles, everybody(make))
    }

    /// A subject for these contestants.
    pub(super) fn between(titles: Vec<Title>, contestants: Vec<Contestant>) -> Self {
        let rounds = contestants.iter().map(|_| Vec::new()).collect();
        Self { titles, rounds_max: usize::MAX, contestants, rounds }
    }

    /// The same, at most `rounds_max` times and without a warm-up: it takes seconds, or repeats
    /// well.
    pub(super) fn at_most(self, rounds_max: usize) -> Self {
        Self { rounds_max, ..self }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.titles.iter().map(|(name, _)| name.as_str())
    }

    /// Round 0 is the warm-up, of which nothing is kept.
    pub(super) fn run(&mut self, round: usize) {
        let warm_up = round == 0;
        if self.rounds_max < round || (warm_up && self.rounds_max < usize::MAX) {
            return;
        }
        for index in 0..self.contestants.len() {
            let index = (index + round) % self.contestants.len();
            let figures = self.contestants[index].round();
            assert_eq!(figures.len(), self.titles.len(), "a round has a figure for each title");
            if !warm_up {
                self.rounds[index].push(figures);
            }
        }
    }

    /// The rows, with ours not a number where we did not take part.
    pub(super) fn rows(&self) -> Vec<Row> {
        let titles = self.titles.iter().enumerate();
        titles.map(|(figure, (name, unit))| self.row(figure, name, unit)).collect()
    }

    fn row(&self, figure: usize, name: &str, unit: &'static str) -> Row {
        let mut row = Row::alone(name, unit, &[]);
        for (contestant, rounds) in self.contestants.iter().zip(&self.rounds) {
            let rounds: Vec<f64> = rounds.iter().map(|figures| figures[figure]).collect();
            let (median, spread) = median_and_spread(&rounds);
            match contestant.name {
                OURS => (row.ours, row.spread) = (median, spread),
                name => row.peers.push((name.to_owned(), median)),
            }
        }
        row
    }
}
