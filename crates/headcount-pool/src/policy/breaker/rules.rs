//! Which calls pass. Pure: no clock, no lock; it is told the time and what happened.

use std::time::Duration;

use headcount_core::{Breaker, Timestamp};

use super::config::Settings;
use super::window::{Went, Window};

/// The states of a breaker, and how it goes from one to the next.
#[derive(Clone, Debug)]
pub(super) struct BreakerRules {
    settings: Settings,
    /// Counts the changes of state.
    generation: u64,
    phase: Phase,
    probes_sent: u64,
    counts: BreakerCounts,
}

#[derive(Clone, Debug)]
enum Phase {
    Closed(Window),
    Open {
        until: Timestamp,
    },
    HalfOpen {
        /// The probes that are out and have not expired, the oldest first.
        probes: Vec<Probe>,
        successes: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    number: u64,
    expires: Timestamp,
}

/// The right to one call. It is used up by its report, so it cannot be copied.
#[derive(Debug)]
pub(super) struct Ticket {
    generation: u64,
    /// `None`: the breaker was closed.
    probe: Option<u64>,
}

/// Why a call does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// Open, or half open with all probes out.
    pub(super) state: Breaker,
    pub(super) retry_after: Duration,
}

/// What a breaker has counted since it was made or reset.
///
/// Each call that passed ends as one of `succeeded`, `failed`, `late` and `given_back`, or is
/// still out. A call that was out at a reset is counted when it ends, and not as passed.
///
/// ```
/// use headcount_pool::policy::CircuitBreaker;
///
/// let breaker = CircuitBreaker::default();
/// breaker.try_call().expect("it is closed").succeeded();
/// drop(breaker.try_call().expect("it is closed"));
/// let counts = breaker.counts();
/// assert_eq!((counts.passed, counts.succeeded, counts.given_back), (2, 1, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BreakerCounts {
    /// Calls that passed.
    pub passed: u64,
    /// Calls that did not.
    pub refused: u64,
    /// Calls that succeeded.
    pub succeeded: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls whose report came after the state had changed, and moved nothing.
    pub late: u64,
    /// Calls that reported nothing: their permit was dropped.
    pub given_back: u64,
    /// Probes that did not report in time.
    pub probes_expired: u64,
    /// How often it opened, by itself or by hand.
    pub opened: u64,
}

impl BreakerRules {
    pub(super) fn new(settings: Settings) -> Self {
        let phase = Phase::Closed(Window::new(settings.trip, settings.window));
        let counts = BreakerCounts::default();
        Self { settings, generation: 0, phase, probes_sent: 0, counts }
    }

    pub(super) fn counts(&self) -> BreakerCounts {
        self.counts
    }

    /// The state at this time. Asking changes nothing.
    pub(super) fn state(&self, now: Timestamp) -> Breaker {
        match self.phase {
            Phase::Closed(_) => Breaker::Closed,
            Phase::Open { until } if now < until => Breaker::Open,
            Phase::Open { .. } | Phase::HalfOpen { .. } => Breaker::HalfOpen,
        }
    }

    /// Lets a call pass, or says when another may.
    pub(super) fn admit(&mut self, now: Timestamp) -> Result<Ticket, Refused> {
        self.catch_up(now);
        let refused = match &self.phase {
            Phase::Closed(_) => None,
            Phase::Open { until } => {
                Some(Refused { state: Breaker::Open, retry_after: until.since(now) })
            }
            Phase::HalfOpen { probes, .. } => match probes.first() {
                Some(oldest) if self.settings.probes_max as usize <= probes.len() => {
                    Some(Refused {
                        state: Breaker::HalfOpen,
                        retry_after: oldest.expires.since(now),
                    })
                }
                _ => None,
            },
        };
        match refused {
            Some(refused) => {
                self.counts.refused += 1;
                Err(refused)
            }
            None => {
                self.counts.passed += 1;
                Ok(Ticket { generation: self.generation, probe: self.send_probe(now) })
            }
        }
    }

    /// Takes the report of a call.
    #[expect(clippy::needless_pass_by_value, reason = "a ticket is handed back once")]
    pub(super) fn reported(&mut self, ticket: Ticket, went: Went, now: Timestamp) {
        self.catch_up(now);
        self.end_probe(&ticket);
        if ticket.generation != self.generation {
            self.counts.late += 1;
            return;
        }
        match went {
            Went::Well => self.counts.succeeded += 1,
            Went::Wrong => self.counts.failed += 1,
        }
        self.weigh(went, now);
    }

    /// Takes a call back of which nothing is known.
    #[expect(clippy::needless_pass_by_value, reason = "a ticket is handed back once")]
    pub(super) fn given_back(&mut self, ticket: Ticket, now: Timestamp) {
        self.catch_up(now);
        self.end_probe(&ticket);
        self.counts.given_back += 1;
    }

    /// Opens for so long, whatever the state.
    pub(super) fn open(&mut self, span: Duration, now: Timestamp) {
        self.counts.opened += 1;
        self.enter(Phase::Open { until: now + span });
    }

    /// Closes, and forgets the calls of the window.
    pub(super) fn close(&mut self) {
        self.enter(Phase::Closed(Window::new(self.settings.trip, self.settings.window)));
    }

    /// Closes, and counts from nothing. Calls that are out will be late.
    pub(super) fn reset(&mut self) {
        self.close();
        self.counts = BreakerCounts::default();
    }

    fn enter(&mut self, phase: Phase) {
        self.generation += 1;
        self.phase = phase;
    }

    /// Does what time alone does: open becomes half open, and probes expire.
    fn catch_up(&mut self, now: Timestamp) {
        match &mut self.phase {
            Phase::Open { until } if *until <= now => {
                self.enter(Phase::HalfOpen { probes: Vec::new(), successes: 0 });
            }
            Phase::HalfOpen { probes, .. } => {
                let out = probes.len();
                probes.retain(|probe| now < probe.expires);
                self.counts.probes_expired += (out - probes.len()) as u64;
            }
            Phase::Open { .. } | Phase::Closed(_) => {}
        }
    }

    /// Takes a place among the probes, where there are any.
    fn send_probe(&mut self, now: Timestamp) -> Option<u64> {
        let Phase::HalfOpen { probes, .. } = &mut self.phase else { return None };
        let number = self.probes_sent;
        self.probes_sent += 1;
        probes.push(Probe { number, expires: now + self.settings.probe_expiry });
        Some(number)
    }

    /// Frees the place of a probe, if it has not expired. No other probe has its number.
    fn end_probe(&mut self, ticket: &Ticket) {
        if let (Phase::HalfOpen { probes, .. }, Some(number)) = (&mut self.phase, ticket.probe) {
            probes.retain(|probe| probe.number != number);
        }
    }

    fn weigh(&mut self, went: Went, now: Timestamp) {
        let (opens, closes) = match &mut self.phase {
            Phase::Closed(window) => (window.trips(went, now), false),
            // Nothing passes while it is open, so nothing of this generation can report.
            Phase::Open { .. } => (false, false),
            Phase::HalfOpen { successes, .. } => {
                *successes += u32::from(went == Went::Well);
                (went == Went::Wrong, self.settings.successes_needed <= *successes)
            }
        };
        if opens {
            self.open(self.settings.open_for, now);
        } else if closes {
            self.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// What is done at each second, and what the breaker says then.
    ///
    /// `call` asks; `well`, `wrong` and `back` are the reports of the oldest call that is out;
    /// `lose` lets it never report; `open`, `close` and `reset` are done by hand.
    fn check(story: &[(u64, &str, &str)]) -> BreakerRules {
        let mut rules = BreakerRules::new(Settings::default());
        let mut out = VecDeque::new();
        for (second, doing, expected) in story {
            let now = Timestamp::from_secs(*second);
            let told: Vec<String> =
                doing.split(' ').map(|doing| act(&mut rules, &mut out, doing, now)).collect();
            let told = told.concat();
            assert_eq!(format!("{told}{:?}", rules.state(now)), *expected, "at {second}: {doing}");
        }
        rules
    }

    fn act(
        rules: &mut BreakerRules,
        out: &mut VecDeque<Ticket>,
        doing: &str,
        now: Timestamp,
    ) -> String {
        let mut oldest = || out.pop_front().expect("a call is out");
        match doing {
            "call" => match rules.admit(now) {
                Ok(ticket) => out.push_back(ticket),
                Err(refused) => return format!("no, {}s ", refused.retry_after.as_secs()),
            },
            "well" => rules.reported(oldest(), Went::Well, now),
            "wrong" => rules.reported(oldest(), Went::Wrong, now),
            "back" => rules.given_back(oldest(), now),
            "lose" => drop(oldest()),
            "open" => rules.open(Duration::from_secs(100), now),
            "close" => rules.close(),
            "reset" => rules.reset(),
            "look" => {}
            other => panic!("nobody can {other}"),
        }
        String::new()
    }

    const FOUR_WRONG: &str = "call wrong call wrong call wrong call wrong";
    const FIVE_WRONG: &str = "call wrong call wrong call wrong call wrong call wrong";

    #[test]
    fn five_failures_in_a_minute_open_it() {
        check(&[
            (0, FOUR_WRONG, "Closed"),
            (1, "call well call well", "Closed"),
            (59, "call wrong", "Open"),
            (60, "call", "no, 29s Open"),
        ]);
        check(&[(0, FOUR_WRONG, "Closed"), (60, FOUR_WRONG, "Closed"), (61, "call wrong", "Open")]);
    }

    #[test]
    fn after_its_time_two_successes_close_it() {
        check(&[
            (0, FIVE_WRONG, "Open"),
            (29, "call", "no, 1s Open"),
            (30, "look", "HalfOpen"),
            (30, "call well", "HalfOpen"),
            (31, "call well", "Closed"),
            (32, FOUR_WRONG, "Closed"),
            (33, "call wrong", "Open"),
        ]);
    }

    #[test]
    fn one_failure_opens_it_again_for_as_long() {
        check(&[
            (0, FIVE_WRONG, "Open"),
            (40, "call call well wrong", "Open"),
            (69, "call", "no, 1s Open"),
            (70, "call", "HalfOpen"),
        ]);
    }

    #[test]
    fn only_three_probes_are_out_at_once() {
        check(&[
            (0, FIVE_WRONG, "Open"),
            (30, "call call call", "HalfOpen"),
            (40, "call", "no, 50s HalfOpen"),
            (41, "back call", "HalfOpen"),
            (41, "call", "no, 49s HalfOpen"),
        ]);
    }

    /// Bug class 20: three probes that never report left the breaker refusing for ever.
    #[test]
    fn probes_that_never_report_do_not_wedge_it() {
        let rules = check(&[
            (0, FIVE_WRONG, "Open"),
            (30, "call call call lose lose lose", "HalfOpen"),
            (89, "call", "no, 1s HalfOpen"),
            (90, "call well call well", "Closed"),
        ]);
        assert_eq!(rules.counts().probes_expired, 3);
    }

    #[test]
    fn a_probe_that_reports_after_it_expired_still_counts() {
        check(&[
            (0, FIVE_WRONG, "Open"),
            (30, "call call", "HalfOpen"),
            (200, "well well", "Closed"),
        ]);
        check(&[(0, FIVE_WRONG, "Open"), (30, "call", "HalfOpen"), (200, "wrong", "Open")]);
    }

    #[test]
    fn a_call_given_back_is_neither_success_nor_failure() {
        let rules = check(&[
            (0, FOUR_WRONG, "Closed"),
            (0, "call back", "Closed"),
            (1, "call wrong", "Open"),
            (31, "call back call back call back call back", "HalfOpen"),
        ]);
        let counts = rules.counts();
        assert_eq!((counts.passed, counts.failed, counts.given_back), (10, 5, 5));
    }

    #[test]
    fn what_an_earlier_period_reports_moves_nothing() {
        // Sent while closed, reported while open and half open.
        let rules = check(&[
            (0, "call call call call call call call call", "Closed"),
            (1, "wrong wrong wrong wrong wrong", "Open"),
            (2, "wrong", "Open"),
            (31, "wrong well", "HalfOpen"),
        ]);
        assert_eq!(rules.counts().late, 3);
        // Sent while half open, reported after it had closed and opened again.
        check(&[
            (0, FIVE_WRONG, "Open"),
            (30, "call call call well well", "Closed"),
            (31, "wrong", "Closed"),
            (32, FOUR_WRONG, "Closed"),
        ]);
    }

    #[test]
    fn it_opens_and_closes_by_hand() {
        let rules = check(&[
            (0, "call open", "Open"),
            (99, "call", "no, 1s Open"),
            (99, "close call", "Closed"),
            (99, "wrong", "Closed"),
            (100, FOUR_WRONG, "Closed"),
            (100, "open", "Open"),
            (101, "reset call", "Closed"),
        ]);
        let expected = BreakerCounts { passed: 1, ..BreakerCounts::default() };
        assert_eq!(rules.counts(), expected);
    }

    #[test]
    fn a_clock_that_stands_still_breaks_nothing() {
        check(&[(9, FIVE_WRONG, "Open"), (0, "call", "no, 39s Open"), (39, "call", "HalfOpen")]);
    }
}
