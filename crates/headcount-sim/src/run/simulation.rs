//! From event to event.

use std::time::Duration;

use headcount_core::{Decision, Observation, Timestamp};

use super::books::Books;
use super::budget::Purse;
use super::checks::{Before, Violation, broken, overspent};
use super::pool::{Ending, Event, Pool};
use super::score::Score;
use super::setup::Setup;
use super::together::Together;
use crate::dice::{Dice, Purpose};
use crate::world::{Downstream, Faults, Host};

/// Is told everything that is observed and decided, and in which pool.
type Watch<'a> = dyn FnMut(usize, &Observation, &Decision) + 'a;

/// Pools in a world, from the first event to the last. [`Setup`] has an example.
///
/// ```
/// use headcount_core::{Policy, Preset};
/// use headcount_sim::run::{PoolSetup, Setup, Simulation};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("the preset is right");
/// let idle = PoolSetup::new("idle", policy, Vec::new().into());
/// let scores = Simulation::new(Setup::of(idle)).run().expect("no rule is broken");
/// assert_eq!(scores[0].jobs, 0);
/// ```
pub struct Simulation<'a> {
    now: Timestamp,
    end: Timestamp,
    pools: Vec<Pool>,
    downstreams: Vec<Downstream>,
    hosts: Vec<Host>,
    purses: Vec<Purse>,
    together: Together,
    faults: Faults,
    dice: Dice,
    seed: u64,
    checked: bool,
    /// When the world next changes, in order of time.
    changes: Vec<Timestamp>,
    watch: Option<&'a mut Watch<'a>>,
    /// How often the pools are noted down. `None`: not at all.
    noted_every: Option<Duration>,
}

impl std::fmt::Debug for Simulation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("now", &self.now).finish_non_exhaustive()
    }
}

impl<'a> Simulation<'a> {
    /// Everything is as it was set up, and nothing has happened.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let end = setup.end();
        let mut purses: Vec<Purse> = setup
            .budgets
            .iter()
            .map(|workers_max| Purse::new(*workers_max, setup.pools.len()))
            .collect();
        for (index, pool) in setup.pools.iter().enumerate() {
            if let Some(budget) = pool.budget {
                purses[budget].join(index, pool.policy.bounds());
            }
        }
        Self {
            now: Timestamp::ORIGIN,
            end,
            changes: changes(&setup),
            pools: setup.pools.into_iter().map(Pool::new).collect(),
            downstreams: setup.downstreams,
            hosts: setup.hosts,
            purses,
            together: Together::default(),
            faults: setup.faults,
            dice: Dice::new(setup.seed, Purpose::Faults),
            seed: setup.seed,
            checked: setup.checked,
            watch: None,
            noted_every: None,
        }
    }

    /// Calls `watch` with everything that is observed and decided, and by which pool.
    #[must_use]
    pub fn watched(mut self, watch: &'a mut Watch<'a>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Notes down how the pools are, at looks that are so far apart at least.
    #[must_use]
    pub fn noted(mut self, every: Duration) -> Self {
        self.noted_every = Some(every);
        self
    }

    /// Runs to the end, and says how it went, pool by pool.
    ///
    /// # Errors
    ///
    /// When a rule was broken, in a run that is checked.
    pub fn run(self) -> Result<Vec<Score>, Violation> {
        Ok(self.run_with_books()?.into_iter().map(|(score, _)| score).collect())
    }

    /// The same, with all that was counted.
    ///
    /// # Errors
    ///
    /// When a rule was broken, in a run that is checked.
    pub fn run_with_books(mut self) -> Result<Vec<(Score, Books)>, Violation> {
        self.play()?;
        let end = self.end;
        let ended = self.pools.into_iter().map(|mut pool| {
            let cost = pool.setup.spawn_cost;
            let score = Score::of(&pool.setup.name, &mut pool.books, cost, end);
            (score, pool.books)
        });
        Ok(ended.collect())
    }

    /// Runs to the end, and says how it went for pools that are alike as if they were one, as the
    /// nodes of one load are: waits are pooled, all that is counted is added, and peak and turns
    /// are those of all workers together.
    ///
    /// # Errors
    ///
    /// When a rule was broken, in a run that is checked.
    pub fn run_as_one(mut self, name: &str) -> Result<Score, Violation> {
        self.play()?;
        let cost = self.pools.first().map(|pool| pool.setup.spawn_cost).unwrap_or_default();
        let books = self.pools.into_iter().map(|pool| pool.books);
        let mut books = self.together.books(books);
        Ok(Score::of(name, &mut books, cost, self.end))
    }

    /// From the first event to the last, and what is left then is judged.
    fn play(&mut self) -> Result<(), Violation> {
        self.refresh_speeds();
        self.together.count(&self.pools);
        while let Some((at, pool, event)) = self.next_event() {
            if self.checked && at < self.now {
                let what = format!("{event:?} happens after {:?}", self.now);
                return Err(self.violation(pool, what));
            }
            self.now = at;
            self.happen(pool, event)?;
        }
        let end = self.end;
        self.pools.iter_mut().for_each(|pool| pool.close(end));
        Ok(())
    }

    /// What happens next, before the end. A change of the world is nobody's event.
    fn next_event(&mut self) -> Option<(Timestamp, usize, Option<Event>)> {
        let change = self.changes.last().map(|at| (*at, None));
        let pools = self.pools.iter().enumerate();
        let (pool, (at, event)) =
            pools.map(|(index, pool)| (index, pool.next())).min_by_key(|(_, next)| *next)?;
        let (at, event) = match change {
            Some((changes_at, none)) if changes_at <= at => {
                self.changes.pop();
                (changes_at, none)
            }
            _ => (at, Some(event)),
        };
        (at <= self.end).then_some((at, pool, event))
    }

    fn happen(&mut self, index: usize, event: Option<Event>) -> Result<(), Violation> {
        let Some(event) = event else {
            self.refresh_speeds();
            return Ok(());
        };
        let now = self.now;
        let before = Before::of(&self.pools[index]);
        self.pools[index].count(now);
        self.pools[index].books.events += 1;
        let running = self.pools[index].work.len();
        self.act(index, event)?;
        if running != self.pools[index].work.len() {
            self.refresh_speeds();
        }
        self.together.count(&self.pools);
        match self.checked {
            true => self.check(index, before),
            false => Ok(()),
        }
    }

    fn act(&mut self, index: usize, event: Event) -> Result<(), Violation> {
        let now = self.now;
        match event {
            Event::Arrival => self.pools[index].arrive(now),
            Event::Start => {
                let fails = 0.0 < self.faults.spawn_fails;
                let fails = fails && self.dice.happens(self.faults.spawn_fails);
                self.pools[index].start(now, fails);
            }
            Event::Retry => self.pools[index].retry(now),
            Event::End => {
                let ending = self.ending(index);
                self.pools[index].end(now, ending, &self.faults);
            }
            Event::Alarm => self.pools[index].settle(now),
            Event::Look => self.look(index)?,
        }
        Ok(())
    }

    /// How the job that ends now ends.
    fn ending(&mut self, index: usize) -> Ending {
        let Faults { job_fails, worker_dies, .. } = self.faults;
        let refused = self.pools[index].setup.downstream.map_or(0.0, |downstream| {
            self.downstreams[downstream].failing_share(self.calls(downstream))
        });
        // Dice that nobody needs are not thrown: they cost more than the rest of the event.
        if 0.0 < worker_dies && self.dice.happens(worker_dies) {
            return Ending::Orphaned;
        }
        let fails = job_fails + refused;
        match 0.0 < fails && self.dice.happens(fails) {
            true => Ending::Failed,
            false => Ending::Well,
        }
    }

    /// Gathers, ticks, applies, records: one turn of the loop, as the live driver does it.
    fn look(&mut self, index: usize) -> Result<(), Violation> {
        let (now, budget) = (self.now, self.pools[index].setup.budget);
        let host = self.pools[index].setup.host;
        let mut observation = Observation::new(now, self.pools[index].snapshot(now));
        observation.health = host.and_then(|host| self.hosts[host].seen_at(now));
        let granted = budget.map(|purse| self.purses[purse].grant(index, &observation.pool));
        observation.allowance = granted.or_else(|| self.told_knee(index));
        let decision = self.pools[index].decide(&observation, granted.unwrap_or(u32::MAX));
        if let Some(purse) = budget {
            let pool = &self.pools[index];
            let ceiling = pool.roster.config().staffing.ceiling;
            self.purses[purse].holds(index, ceiling.max(pool.roster.counts().live));
            if let Some(what) = overspent(&self.purses[purse]).filter(|_| self.checked) {
                return Err(self.violation(index, what));
            }
        }
        self.note(index, &observation, &decision);
        Ok(())
    }

    /// The knee of what the pool calls, where it is told.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
    fn told_knee(&self, index: usize) -> Option<u32> {
        let setup = &self.pools[index].setup;
        let downstream = &self.downstreams[setup.downstream.filter(|_| setup.knows_knee)?];
        // Below one worker nothing would be done at all.
        Some((downstream.knee_at(self.now) as u32).max(1))
    }

    fn note(&mut self, index: usize, observation: &Observation, decision: &Decision) {
        if let Some(watch) = &mut self.watch {
            watch(index, observation, decision);
        }
        if let Some(every) = self.noted_every {
            let pool = &mut self.pools[index];
            let last = pool.books.moments.last().map(|moment| moment.at);
            if last.is_none_or(|last| every <= observation.at.since(last)) {
                pool.remember(observation);
            }
        }
    }

    /// How many jobs call a downstream.
    fn calls(&self, downstream: usize) -> f64 {
        let callers = self.pools.iter().filter(|pool| pool.setup.downstream == Some(downstream));
        callers.map(|pool| pool.work.len()).sum::<usize>() as f64
    }

    /// Everybody goes on at the speed that so many jobs leave to each.
    fn refresh_speeds(&mut self) {
        if self.downstreams.is_empty() && self.hosts.is_empty() {
            return;
        }
        for index in 0..self.pools.len() {
            let slowness = self.slowness(index);
            self.pools[index].work.slow_down(slowness, self.now);
        }
    }

    fn slowness(&self, index: usize) -> f64 {
        let setup = &self.pools[index].setup;
        let by_downstream = setup.downstream.map_or(1.0, |which| {
            let downstream = &self.downstreams[which];
            downstream.slowness(self.calls(which), downstream.knee_at(self.now))
        });
        let by_host = setup.host.map_or(1.0, |which| {
            let tenants = self.pools.iter().filter(|pool| pool.setup.host == Some(which));
            let jobs = tenants.map(|pool| pool.work.len()).sum::<usize>() as f64;
            let crowded = Downstream::free();
            crowded.slowness(jobs, self.hosts[which].spell_at(self.now).knee)
        });
        by_downstream.max(by_host)
    }

    fn check(&self, index: usize, before: Before) -> Result<(), Violation> {
        match broken(&self.pools[index], before, self.now, self.slowness(index)) {
            Some(what) => Err(self.violation(index, what)),
            None => Ok(()),
        }
    }

    fn violation(&self, index: usize, what: String) -> Violation {
        let pool = self.pools[index].setup.name.clone();
        Violation { at: self.now, pool, seed: self.seed, what }
    }
}

/// When the world changes, the last first, so that the next can be taken off the end.
fn changes(setup: &Setup) -> Vec<Timestamp> {
    let knees = setup.downstreams.iter().flat_map(|downstream| &downstream.changes);
    let spells = setup.hosts.iter().flat_map(|host| &host.spells);
    let mut changes: Vec<Timestamp> =
        knees.map(|(at, _)| *at).chain(spells.map(|spell| spell.from)).collect();
    changes.sort_unstable_by(|a, b| b.cmp(a));
    changes.dedup();
    changes
}
