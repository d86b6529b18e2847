//! Over some hundred thousand random events the breaker agrees with an obvious reference.
//!
//! The reference keeps every call that ever was, and reckons afresh each time. After each event it
//! also looks ahead: with nothing but time going by, the breaker lets a call through again. A
//! failing run names its seed.

use std::panic::catch_unwind;
use std::time::Duration;

use headcount_core::{Breaker, Timestamp};

use super::config::{BreakerConfig, Settings, Trip};
use super::rules::{BreakerRules, Ticket};
use super::window::Went;
use crate::dice::Dice;

const SEEDS: u64 = 24;
const EVENTS_PER_SEED: u32 = 5_000;
const FAILURES: usize = 4;
const PROBES_MAX: usize = 3;
const SUCCESSES: usize = 2;
const WINDOW: Duration = Duration::from_secs(20);
const OPEN_FOR: Duration = Duration::from_secs(10);
const PROBE_EXPIRY: Duration = Duration::from_secs(15);

#[test]
fn the_breaker_agrees_with_an_obvious_reference() {
    let mut seen = Seen::default();
    for seed in 1..=SEEDS {
        let run = catch_unwind(|| Model::new(seed).run());
        let Ok(run) = run else { panic!("seed {seed} went wrong, as told above") };
        seen.0.iter_mut().zip(&run.0).for_each(|(sum, times)| *sum += times);
    }
    // A model that never meets a case proves nothing about it.
    assert!(seen.0.iter().all(|times| 100 < *times), "some cases were met too seldom: {seen:?}");
}

/// How often each case was met.
#[derive(Clone, Copy, Debug)]
enum Case {
    PassedClosed,
    PassedAsProbe,
    RefusedOpen,
    RefusedHalfOpen,
    Tripped,
    ProbeFailed,
    ClosedAgain,
    Late,
    GivenBack,
    ReportedExpired,
}

#[derive(Debug, Default)]
struct Seen([u64; 10]);

/// One call, as the reference remembers it. It is never forgotten.
struct Call {
    at: Timestamp,
    period: usize,
    /// `None`: it was lost, or has reported.
    ticket: Option<Ticket>,
    lost: bool,
}

/// The span between two changes of state.
struct Period {
    state: Breaker,
    /// When time alone ends it.
    until: Option<Timestamp>,
    failures: Vec<Timestamp>,
    successes: usize,
}

impl Period {
    fn of(state: Breaker, until: Option<Timestamp>) -> Self {
        Self { state, until, failures: Vec::new(), successes: 0 }
    }
}

struct Model {
    rules: BreakerRules,
    now: Timestamp,
    calls: Vec<Call>,
    periods: Vec<Period>,
    dice: Dice,
    seen: Seen,
}

impl Model {
    fn new(seed: u64) -> Self {
        let settings = Settings::check(&BreakerConfig {
            trip: Some(Trip::Failures(u32::try_from(FAILURES).expect("few"))),
            window: Some(WINDOW),
            open_for: Some(OPEN_FOR),
            probes_max: Some(u32::try_from(PROBES_MAX).expect("few")),
            successes_needed: Some(u32::try_from(SUCCESSES).expect("few")),
            probe_expiry: Some(PROBE_EXPIRY),
        });
        Self {
            rules: BreakerRules::new(settings.expect("no fault")),
            now: Timestamp::ORIGIN,
            calls: Vec::new(),
            periods: vec![Period::of(Breaker::Closed, None)],
            dice: Dice::new(seed),
            seen: Seen::default(),
        }
    }

    fn run(mut self) -> Seen {
        for _ in 0..EVENTS_PER_SEED {
            match self.below(40) {
                0..=14 => self.call(),
                15..=19 => self.report(Went::Well),
                20..=26 => self.report(Went::Wrong),
                27..=28 => self.give_back(),
                29 => self.lose(),
                30 => self.by_hand(),
                _ => self.wait(),
            }
            self.check();
        }
        self.seen
    }

    fn below(&mut self, end: usize) -> usize {
        self.dice.below(end)
    }

    fn met(&mut self, case: Case) {
        self.seen.0[case as usize] += 1;
    }

    fn period(&mut self) -> &mut Period {
        self.periods.last_mut().expect("there is always one")
    }

    fn enter(&mut self, state: Breaker, until: Option<Timestamp>) {
        self.periods.push(Period::of(state, until));
    }

    fn wait(&mut self) {
        let millis = [0, 1, 999, 1000, 3000, 5000, 10_000, 15_000][self.below(8)];
        self.now = self.now + Duration::from_millis(millis);
        if self.period().until.is_some_and(|until| until <= self.now) {
            self.enter(Breaker::HalfOpen, None);
        }
    }

    /// Probes of this period that are out and have not expired, counted afresh.
    fn probes_out(&self) -> usize {
        let period = self.periods.len() - 1;
        let is_out = |call: &&Call| {
            let held = call.ticket.is_some() || call.lost;
            call.period == period && held && self.now.since(call.at) < PROBE_EXPIRY
        };
        self.calls.iter().rev().take_while(|call| call.period == period).filter(is_out).count()
    }

    fn call(&mut self) {
        let state = self.period().state;
        let probes = self.probes_out();
        let (passes, case) = match state {
            Breaker::Closed => (true, Case::PassedClosed),
            Breaker::Open => (false, Case::RefusedOpen),
            Breaker::HalfOpen if probes < PROBES_MAX => (true, Case::PassedAsProbe),
            Breaker::HalfOpen => (false, Case::RefusedHalfOpen),
        };
        self.met(case);
        match self.rules.admit(self.now) {
            Ok(ticket) => {
                assert!(passes, "a call passed with {probes} probes out, {state:?}");
                let (at, period) = (self.now, self.periods.len() - 1);
                self.calls.push(Call { at, period, ticket: Some(ticket), lost: false });
            }
            Err(refused) => {
                assert!(!passes, "a call was refused with {probes} probes out, {state:?}");
                assert_eq!(refused.state, state);
                self.passes_after(refused.retry_after);
            }
        }
    }

    /// A call that is out, by chance: one of the last few, or any.
    fn one_that_is_out(&mut self) -> Option<(usize, Ticket)> {
        let recent = self.calls.len().saturating_sub(12);
        let from = if self.below(4) == 0 { 0 } else { recent };
        let out: Vec<usize> =
            (from..self.calls.len()).filter(|index| self.calls[*index].ticket.is_some()).collect();
        if out.is_empty() {
            return None;
        }
        let index = out[self.below(out.len())];
        self.calls[index].ticket.take().map(|ticket| (index, ticket))
    }

    fn report(&mut self, went: Went) {
        let Some((index, ticket)) = self.one_that_is_out() else { return };
        self.rules.reported(ticket, went, self.now);
        let (now, at) = (self.now, self.calls[index].at);
        if self.calls[index].period != self.periods.len() - 1 {
            return self.met(Case::Late);
        }
        let period = self.period();
        let is_probe = period.state == Breaker::HalfOpen;
        match went {
            Went::Wrong => period.failures.push(now),
            Went::Well => period.successes += 1,
        }
        let failures = period.failures.iter().filter(|at| now.since(**at) < WINDOW).count();
        let successes = period.successes;
        if is_probe && PROBE_EXPIRY <= now.since(at) {
            self.met(Case::ReportedExpired);
        }
        match (is_probe, went) {
            (false, Went::Wrong) if FAILURES <= failures => {
                self.met(Case::Tripped);
                self.enter(Breaker::Open, Some(now + OPEN_FOR));
            }
            (true, Went::Wrong) => {
                self.met(Case::ProbeFailed);
                self.enter(Breaker::Open, Some(now + OPEN_FOR));
            }
            (true, Went::Well) if SUCCESSES <= successes => {
                self.met(Case::ClosedAgain);
                self.enter(Breaker::Closed, None);
            }
            _ => {}
        }
    }

    fn give_back(&mut self) {
        let Some((_, ticket)) = self.one_that_is_out() else { return };
        self.rules.given_back(ticket, self.now);
        self.met(Case::GivenBack);
    }

    /// A call of which nothing is ever heard again.
    fn lose(&mut self) {
        let Some((index, _)) = self.one_that_is_out() else { return };
        self.calls[index].lost = true;
    }

    fn by_hand(&mut self) {
        match self.below(5) {
            0 => {
                self.rules.close();
                self.enter(Breaker::Closed, None);
            }
            _ => {
                let span = OPEN_FOR / 2;
                self.rules.open(span, self.now);
                self.enter(Breaker::Open, Some(self.now + span));
            }
        }
    }

    fn check(&mut self) {
        let state = self.period().state;
        assert_eq!(self.rules.state(self.now), state);
        assert!(state != Breaker::HalfOpen || self.probes_out() <= PROBES_MAX);
        self.passes_after(OPEN_FOR + PROBE_EXPIRY);
        let counts = self.rules.counts();
        let out = self.calls.iter().filter(|call| call.ticket.is_some() || call.lost).count();
        let ended = counts.succeeded + counts.failed + counts.late + counts.given_back;
        assert_eq!(counts.passed, ended + out as u64, "every call ends once: {counts:?}");
    }

    /// With nothing but time going by, a call passes after so long.
    fn passes_after(&self, span: Duration) {
        let later = self.now + span;
        assert!(self.rules.clone().admit(later).is_ok(), "no call passes after {span:?}");
    }
}
