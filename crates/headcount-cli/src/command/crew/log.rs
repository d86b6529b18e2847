//! What a worker tells its operator, on standard error: a line for what somebody may act on.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use headcount::jobs::{ConsumerEvent, Ended};
use headcount_core::jobs::Label;

/// How many lines a second are told; those above are counted.
const LINES_MAX: u32 = 20;

/// Tells what happens, but never in floods.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    is_verbose: bool,
    flow: Arc<Mutex<Flow>>,
}

/// How much was told in this second.
#[derive(Debug)]
struct Flow {
    since: Instant,
    told: u32,
    left_out: u64,
}

impl Log {
    pub(crate) fn new(is_verbose: bool) -> Self {
        let flow = Flow { since: Instant::now(), told: 0, left_out: 0 };
        Self { is_verbose, flow: Arc::new(Mutex::new(flow)) }
    }

    pub(crate) fn event(&self, queue: &Label, event: &ConsumerEvent) {
        if let Some(told) = told(event, self.is_verbose) {
            self.line(&format!("{queue}: {told}"));
        }
    }

    fn line(&self, text: &str) {
        let mut flow = self.flow.lock().unwrap_or_else(PoisonError::into_inner);
        for line in flow.pass(text, Instant::now()) {
            say(&line);
        }
    }
}

impl Flow {
    /// The lines to print now, for another one that came.
    fn pass(&mut self, text: &str, now: Instant) -> Vec<String> {
        let mut lines = Vec::new();
        if Duration::from_secs(1) <= now - self.since {
            if 0 < self.left_out {
                lines.push(format!("... and {} more lines like these", self.left_out));
            }
            *self = Self { since: now, told: 0, left_out: 0 };
        }
        match self.told < LINES_MAX {
            true => {
                self.told += 1;
                lines.push(text.to_owned());
            }
            false => self.left_out += 1,
        }
        lines
    }
}

/// Says something of our own.
pub(crate) fn say(sentence: &str) {
    // Where standard error is gone there is nobody left to tell.
    let _unheard = writeln!(std::io::stderr(), "headcount: {sentence}");
}

fn told(event: &ConsumerEvent, is_verbose: bool) -> Option<String> {
    match event {
        ConsumerEvent::Ended { id, kind, how: Ended::Dead, error, .. } => {
            Some(format!("job {id} ({kind}) is dead: {}", because(error.as_deref())))
        }
        ConsumerEvent::Ended { id, kind, how: Ended::Failed, error, .. } if is_verbose => {
            let why = because(error.as_deref());
            Some(format!("job {id} ({kind}) failed and is tried again: {why}"))
        }
        ConsumerEvent::Stuck { id, kind } => {
            Some(format!("job {id} ({kind}) goes on though nobody waits for it; it must be stuck"))
        }
        ConsumerEvent::LeaseLost { held } => Some(format!(
            "the lease ran out while this process lived; {held} jobs may be run by others"
        )),
        ConsumerEvent::StoreFailed { what, error } => Some(format!("{what}: {error}")),
        ConsumerEvent::StoreBack => Some("the store answers again".to_owned()),
        _ => None,
    }
}

fn because(error: Option<&str>) -> &str {
    error.and_then(|error| error.lines().next()).unwrap_or("no reason was given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted() {
        let begin = Instant::now();
        let mut flow = Flow { since: begin, told: 0, left_out: 0 };
        let told: usize = (0..50).map(|_| flow.pass("x", begin).len()).sum();
        assert_eq!(told, 20);
        let later = flow.pass("y", begin + Duration::from_secs(1));
        assert_eq!(later, ["... and 30 more lines like these", "y"]);
    }

    #[test]
    fn only_what_somebody_may_act_on_is_told() {
        let lost = told(&ConsumerEvent::LeaseLost { held: 3 }, false);
        assert!(lost.is_some_and(|line| line.contains("3 jobs")));
        let ended = |how| ConsumerEvent::Ended {
            id: headcount_core::jobs::JobId::new(0, 1),
            kind: "mail".parse().expect("a name"),
            how,
            took: Duration::ZERO,
            error: Some("no route\nto host".to_owned()),
        };
        assert_eq!(told(&ended(Ended::Done), true), None);
        assert_eq!(told(&ended(Ended::Failed), false), None);
        let failed = told(&ended(Ended::Failed), true).expect("it is told");
        assert!(failed.ends_with("failed and is tried again: no route"), "{failed}");
        assert!(told(&ended(Ended::Dead), false).is_some());
    }
}
