//! Lets something happen once a period, however often it is looked at.

use std::time::Duration;

use crate::Timestamp;
use crate::scaling::notes::{Noted, Notes, NotesReader};

/// When something last happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    last: Option<Timestamp>,
}

impl Pace {
    /// Whether a period is over; then the next one begins. The first time it is.
    pub(super) fn is_due(&mut self, now: Timestamp, period: Duration) -> bool {
        let is_due = match self.last {
            // A clock with a new origin says nothing of the span, so a period begins.
            Some(last) if last <= now => period <= now.since(last),
            _ => true,
        };
        if is_due {
            self.last = Some(now);
        }
        is_due
    }
}

impl Noted for Pace {
    fn write(&self, notes: &mut Notes) {
        self.last.write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        Noted::read(notes).map(|last| Self { last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_a_period_and_at_once_under_a_new_clock() {
        let mut pace = Pace::default();
        let mut due = |second| pace.is_due(Timestamp::from_secs(second), Duration::from_secs(15));
        let told = [100, 101, 114, 115, 116, 7, 8, 22].map(&mut due);
        assert_eq!(told, [true, false, false, true, false, true, false, true]);
    }
}
