//! Over some hundred thousand random events gate and wicket agree with a naive reference.
//!
//! Whoever can passes the wicket; all others shut it, go to the gate, and open it if they may.
//! The reference keeps a list of everybody and what they are doing, and counts afresh each time.
//! A failing run names its seed.

use std::panic::catch_unwind;

use super::gate::{Abandoned, Entry, Gate, Request, Standing, Ticket};
use super::wicket::{Passage, Wicket};
use crate::dice::Dice;

const SEEDS: u64 = 24;
const EVENTS_PER_SEED: u32 = 20_000;
const LIMIT_MAX: u32 = 6;
const WAITING_MAX: usize = 40;

#[test]
fn the_gate_agrees_with_a_naive_reference() {
    let mut seen = Seen::default();
    for seed in 1..=SEEDS {
        let run = catch_unwind(|| Model::new(seed).run());
        let Ok(run) = run else { panic!("seed {seed} went wrong, as told above") };
        seen.add(&run);
    }
    // A model that never meets a case proves nothing about it.
    assert!(seen.0.iter().all(|times| 1000 < *times), "some cases were met too seldom: {seen:?}");
}

/// How often each case was met.
#[derive(Clone, Copy, Debug)]
enum Case {
    Entered,
    Full,
    Queued,
    Collected,
    Released,
    ReleasedAboveTheLimit,
    HandedOver,
    AbandonedInQueue,
    AbandonedInside,
    Grown,
    Shrunk,
    PassedIn,
    PassedOut,
    FullAtTheWicket,
}

#[derive(Debug, Default)]
struct Seen([u64; 14]);

impl Seen {
    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, times)| *sum += times);
    }
}

/// What the reference knows of somebody who came.
#[derive(Debug)]
enum Doing {
    Waits(Ticket),
    /// Taken off the queue, and has not collected yet.
    Called(Ticket),
    Inside,
}

struct Model {
    /// Asked at the desk only.
    gate: Gate<u32>,
    wicket: Wicket,
    /// Everybody who waits or is inside, in the order in which they came.
    people: Vec<(u32, Doing)>,
    limit: u32,
    came: u32,
    left: u32,
    dice: Dice,
    seen: Seen,
}

impl Model {
    fn new(seed: u64) -> Self {
        let dice = Dice::new(seed);
        let (people, seen) = (Vec::new(), Seen::default());
        let (gate, wicket) = (Gate::new(2), Wicket::new(2));
        Self { gate, wicket, people, limit: 2, came: 0, left: 0, dice, seen }
    }

    fn run(mut self) -> Seen {
        for _ in 0..EVENTS_PER_SEED {
            match self.below(18) {
                0..=2 => self.at_the_desk(Self::request),
                3 => self.at_the_desk(Self::enter),
                4..=6 => self.at_the_desk(Self::release),
                7..=8 => self.collect(),
                9..=10 => self.at_the_desk(Self::abandon),
                11 => self.at_the_desk(Self::resize),
                12..=14 => self.pass_in(),
                15..=16 => self.pass_out(),
                _ => self.at_the_desk(Self::check),
            }
        }
        self.finish();
        self.seen
    }

    fn below(&mut self, end: usize) -> usize {
        self.dice.below(end)
    }

    fn met(&mut self, case: Case) {
        self.seen.0[case as usize] += 1;
    }

    fn waiting(&self) -> usize {
        self.people.iter().filter(|(_, doing)| matches!(doing, Doing::Waits(_))).count()
    }

    fn inside(&self) -> u32 {
        u32::try_from(self.people.len() - self.waiting()).expect("few people")
    }

    /// Somebody whose doing is of this kind, by chance.
    fn somebody(&mut self, of_kind: fn(&Doing) -> bool) -> Option<usize> {
        let kind = |(index, (_, doing)): (usize, &(u32, Doing))| of_kind(doing).then_some(index);
        let all: Vec<usize> = self.people.iter().enumerate().filter_map(kind).collect();
        if all.is_empty() {
            return None;
        }
        let chosen = self.below(all.len());
        Some(all[chosen])
    }

    /// What the gate is told in between is what passed the wicket since the last time.
    fn at_the_desk(&mut self, act: fn(&mut Self)) {
        if self.gate.free_for_all().is_some() {
            let passed = self.wicket.shut();
            self.gate.passed(passed.entered, passed.free);
        }
        self.check();
        act(self);
        self.check();
        if let Some(free) = self.gate.free_for_all() {
            self.wicket.open(free);
        }
    }

    fn pass_in(&mut self) {
        let room = self.inside() < self.limit;
        match self.wicket.enter() {
            Passage::Passed => {
                assert!(room && self.waiting() == 0, "it came in before its turn");
                self.people.push((self.came, Doing::Inside));
                self.came += 1;
                self.met(Case::PassedIn);
            }
            Passage::Full => {
                assert!(!room && self.waiting() == 0, "it is full and nobody waits");
                self.met(Case::FullAtTheWicket);
            }
            Passage::Shut => self.check_that_it_must_be_shut(),
        }
    }

    fn pass_out(&mut self) {
        let Some(index) = self.somebody(|doing| matches!(doing, Doing::Inside)) else { return };
        match self.wicket.leave() {
            true => {
                assert_eq!(self.waiting(), 0, "nobody takes the place that is left");
                self.leave(index);
                self.met(Case::PassedOut);
            }
            false => self.check_that_it_must_be_shut(),
        }
    }

    fn check_that_it_must_be_shut(&self) {
        assert!(0 < self.waiting() || self.limit < self.inside());
    }

    fn request(&mut self) {
        if WAITING_MAX <= self.waiting() {
            return;
        }
        let who = self.came;
        let room = self.inside() < self.limit;
        let doing = match self.gate.request(who) {
            Request::Admitted(same) => {
                assert!(same == who && room, "{who} came in without room");
                Doing::Inside
            }
            Request::Waiting(ticket) => {
                assert!(!room, "{who} waits while there is room");
                Doing::Waits(ticket)
            }
            Request::Closed(_) => panic!("nobody closed it"),
        };
        self.met(if room { Case::Entered } else { Case::Queued });
        self.came += 1;
        self.people.push((who, doing));
    }

    fn enter(&mut self) {
        let room = self.inside() < self.limit;
        let expected = if room { Entry::Admitted } else { Entry::Full };
        assert_eq!(self.gate.enter(), expected);
        self.met(if room { Case::Entered } else { Case::Full });
        if room {
            self.people.push((self.came, Doing::Inside));
            self.came += 1;
        }
    }

    fn release(&mut self) {
        let Some(index) = self.somebody(|doing| matches!(doing, Doing::Inside)) else { return };
        if self.limit < self.inside() {
            self.met(Case::ReleasedAboveTheLimit);
        }
        self.leave(index);
        let next = self.gate.release();
        self.met(if next.is_some() { Case::HandedOver } else { Case::Released });
        self.admitted(next.as_slice());
    }

    fn collect(&mut self) {
        let Some(index) = self.somebody(|doing| matches!(doing, Doing::Called(_))) else { return };
        self.people[index].1 = Doing::Inside;
        self.met(Case::Collected);
    }

    fn abandon(&mut self) {
        let Some(index) = self.somebody(|doing| !matches!(doing, Doing::Inside)) else { return };
        let (who, doing) = self.leave(index);
        match doing {
            Doing::Waits(ticket) => {
                assert_eq!(self.gate.abandon(ticket), Abandoned::Waiting(who));
                self.met(Case::AbandonedInQueue);
            }
            Doing::Called(ticket) => {
                let Abandoned::Admitted(next) = self.gate.abandon(ticket) else {
                    panic!("{who} had been called")
                };
                self.met(Case::AbandonedInside);
                self.admitted(next.as_slice());
            }
            Doing::Inside => panic!("only who has a ticket abandons it"),
        }
    }

    fn resize(&mut self) {
        let limit = u32::try_from(self.below(LIMIT_MAX as usize + 1)).expect("a small limit");
        self.met(if self.limit < limit { Case::Grown } else { Case::Shrunk });
        self.limit = limit;
        let admitted = self.gate.resize(limit);
        self.admitted(&admitted);
    }

    fn leave(&mut self, index: usize) -> (u32, Doing) {
        self.left += 1;
        self.people.remove(index)
    }

    /// The gate admits these: the first of the queue, in their order, as many as there is room for.
    fn admitted(&mut self, admitted: &[u32]) {
        let mut expected = Vec::new();
        let mut room = self.limit.saturating_sub(self.inside());
        for (who, doing) in &mut self.people {
            if 0 < room && matches!(doing, Doing::Waits(_)) {
                expected.push(*who);
                let Doing::Waits(ticket) = std::mem::replace(doing, Doing::Inside) else {
                    continue;
                };
                *doing = Doing::Called(ticket);
                room -= 1;
            }
        }
        assert_eq!(admitted, expected, "first come, first served, as many as there is room for");
    }

    /// What the gate knows is what the reference counts.
    fn check(&mut self) {
        assert_eq!(self.gate.limit(), self.limit);
        assert_eq!(self.gate.in_use(), self.inside());
        assert_eq!(self.gate.waiting(), self.waiting());
        assert_eq!(self.came - self.left, u32::try_from(self.people.len()).expect("few people"));
        assert!(self.waiting() == 0 || self.limit <= self.inside(), "nobody waits beside room");
        for (who, doing) in &self.people {
            match doing {
                Doing::Inside => {}
                Doing::Waits(ticket) => {
                    assert_eq!(self.gate.standing(ticket), Standing::Waiting(&mut { *who }));
                }
                Doing::Called(ticket) => {
                    assert_eq!(self.gate.standing(ticket), Standing::Admitted);
                }
            }
        }
    }

    /// When everybody has gone, the gate is as new.
    fn finish(&mut self) {
        while !self.people.is_empty() {
            self.at_the_desk(Self::release);
            self.at_the_desk(Self::abandon);
        }
        assert_eq!((self.gate.in_use(), self.gate.waiting()), (0, 0));
    }
}
