//! Plays fixtures on several threads.
//!
//! A *turn* is one policy in one fixture, or the bound of a fixture. Threads take turns in order
//! and keep what comes of them; put in order again, it is the same on any number of threads. The
//! jobs of a fixture are drawn for its first turn and forgotten after its last, so that memory does
//! not grow with the number of fixtures.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use headcount_sim::contest::{Cell, Match, NoBound};

use super::fixtures::Fixture;
use super::progress::Progress;

/// One policy in one fixture, or the bound.
#[derive(Clone, Copy, Debug)]
struct Turn {
    fixture: usize,
    /// Which of its policies. `None`: the bound.
    contender: Option<usize>,
}

/// What came of a turn.
enum Outcome {
    Bound(Result<f64, NoBound>),
    Cell(Box<Cell>),
}

/// All cells, fixture by fixture, each with the bound of its fixture.
pub(super) fn play(
    fixtures: &[Fixture],
    seeds: &[u64],
    threads: usize,
    progress: &Progress,
) -> Vec<Cell> {
    let turns = turns(fixtures);
    let stages: Vec<Stage> = fixtures.iter().map(|fixture| Stage::of(fixture, seeds)).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut outcomes = Vec::new();
        while let Some((number, turn)) = take(&turns, &next) {
            outcomes.push((number, stages[turn.fixture].play(turn)));
            progress.done(turn.contender.is_some());
        }
        outcomes
    };
    let mut outcomes: Vec<(usize, Outcome)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let ended = threads.into_iter().map(|thread| thread.join().expect("no run panics"));
        ended.flatten().collect()
    });
    outcomes.sort_unstable_by_key(|(number, _)| *number);
    with_bounds(outcomes.into_iter().map(|(_, outcome)| outcome))
}

/// The bound comes first, as it takes longest.
fn turns(fixtures: &[Fixture]) -> Vec<Turn> {
    let turns = fixtures.iter().enumerate().flat_map(|(fixture, played)| {
        let contenders = (0..played.contenders.len()).map(Some);
        std::iter::once(None).chain(contenders).map(move |contender| Turn { fixture, contender })
    });
    turns.collect()
}

fn take(turns: &[Turn], next: &AtomicUsize) -> Option<(usize, Turn)> {
    let number = next.fetch_add(1, Relaxed);
    turns.get(number).map(|turn| (number, *turn))
}

/// Cells follow the bound of their fixture.
fn with_bounds(outcomes: impl Iterator<Item = Outcome>) -> Vec<Cell> {
    let mut cells = Vec::new();
    let (mut j_bound, mut no_bound) = (None, None);
    for outcome in outcomes {
        match outcome {
            Outcome::Bound(found) => (j_bound, no_bound) = (found.ok(), found.err()),
            Outcome::Cell(cell) => cells.push(Cell { j_bound, no_bound, ..*cell }),
        }
    }
    cells
}

/// A fixture while it is played.
struct Stage<'a> {
    fixture: &'a Fixture,
    seeds: &'a [u64],
    drawn: Mutex<Drawn>,
}

struct Drawn {
    jobs: Option<Arc<Match>>,
    turns_left: usize,
}

impl<'a> Stage<'a> {
    fn of(fixture: &'a Fixture, seeds: &'a [u64]) -> Self {
        let drawn = Drawn { jobs: None, turns_left: fixture.contenders.len() + 1 };
        Self { fixture, seeds, drawn: Mutex::new(drawn) }
    }

    fn play(&self, turn: Turn) -> Outcome {
        let jobs = self.jobs();
        match turn.contender {
            None => Outcome::Bound(jobs.bound()),
            Some(number) => Outcome::Cell(Box::new(jobs.play(&self.fixture.contenders[number]))),
        }
    }

    /// Whoever comes first draws them, the others wait for that; whoever comes last takes them
    /// along.
    fn jobs(&self) -> Arc<Match> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = drawn.jobs.take().unwrap_or_else(|| {
            let Fixture { regime, entry, .. } = self.fixture;
            let drawn = Match::new(*regime, entry.clone(), self.seeds);
            Arc::new(drawn.expect("a load that was drawn once can be drawn again"))
        });
        drawn.turns_left -= 1;
        if 0 < drawn.turns_left {
            drawn.jobs = Some(Arc::clone(&jobs));
        }
        jobs
    }
}
