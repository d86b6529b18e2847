//! The small door in the gate: one word, by which callers come and go while nobody waits.
//!
//! While it is open nobody needs the lock. While it is shut only the holder of the lock writes the
//! word, so what is told to whoever shuts it stays true until it is opened again.

use crate::sync::atomic::{AtomicU64, Ordering};

/// The free places.
const FREE: u64 = u32::MAX as u64;
/// The holder of the lock has the word.
const SHUT: u64 = 1 << 32;
/// All places were taken at some time since it was opened.
const WAS_FULL: u64 = 1 << 33;
/// The rest is how many came in since it was opened.
const ENTERED: u64 = 1 << 34;

/// A word that is shut, or that has free places and a count of those who took one.
#[derive(Debug)]
pub(super) struct Wicket(AtomicU64);

/// What became of an attempt to come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    Passed,
    /// Nobody waits, and there is no free place.
    Full,
    /// Only the holder of the lock can say.
    Shut,
}

/// What happened from when it was opened until it was shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passed {
    /// How many came in.
    pub(super) entered: u64,
    /// How many free places are left.
    pub(super) free: u32,
    /// Whether there was none at some time.
    pub(super) was_full: bool,
}

impl Wicket {
    /// Open, with so many free places.
    pub(super) fn new(free: u32) -> Self {
        Self(AtomicU64::new(u64::from(free)))
    }

    /// Comes in, if that needs no lock.
    pub(super) fn enter(&self) -> Passage {
        match self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, after_entry) {
            Ok(_) => Passage::Passed,
            Err(word) if word & (SHUT | FREE) == 0 => Passage::Full,
            Err(_) => Passage::Shut,
        }
    }

    /// Leaves, if that needs no lock, and says whether it did.
    pub(super) fn leave(&self) -> bool {
        self.0.fetch_update(Ordering::Release, Ordering::Relaxed, after_leaving).is_ok()
    }

    /// Takes the word, for the holder of the lock, who knows that it is open.
    pub(super) fn shut(&self) -> Passed {
        let word = self.0.fetch_or(SHUT, Ordering::Acquire);
        assert!(word & SHUT == 0, "only the holder of the lock shuts it");
        Passed { entered: word / ENTERED, free: free_in(word), was_full: word & WAS_FULL != 0 }
    }

    /// Gives the word back with so many free places.
    pub(super) fn open(&self, free: u32) {
        self.0.store(u64::from(free), Ordering::Release);
    }
}

/// One more is in. `None`: not by this word, nor where the count would go beyond its end.
fn after_entry(word: u64) -> Option<u64> {
    if word & SHUT != 0 || free_in(word) == 0 {
        return None;
    }
    let next = word.checked_add(ENTERED)? - 1;
    Some(if free_in(next) == 0 { next | WAS_FULL } else { next })
}

/// One fewer is in. `None`: not by this word.
fn after_leaving(word: u64) -> Option<u64> {
    (word & SHUT == 0).then(|| word + 1)
}

fn free_in(word: u64) -> u32 {
    (word & FREE) as u32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// With so many free places: `+` comes in, `-` leaves, `!` shuts, `0` to `9` open anew.
    fn check(free: u32, steps: &str, expected: &str) {
        let wicket = Wicket::new(free);
        let told: Vec<String> = steps.chars().map(|step| told(&wicket, step)).collect();
        assert_eq!(told.join(" "), expected, "{steps}");
    }

    fn told(wicket: &Wicket, step: char) -> String {
        match step {
            '+' => format!("{:?}", wicket.enter()).to_lowercase(),
            '-' => if wicket.leave() { "left" } else { "shut" }.to_owned(),
            '!' => {
                let passed = wicket.shut();
                let full = if passed.was_full { ":full" } else { "" };
                format!("in:{}:free:{}{full}", passed.entered, passed.free)
            }
            free => {
                wicket.open(free.to_digit(10).expect("a digit"));
                "open".to_owned()
            }
        }
    }

    #[test]
    fn so_many_come_in_as_there_are_free_places() {
        check(2, "+++-+", "passed passed full left passed");
        check(0, "+", "full");
    }

    #[test]
    fn who_shuts_it_is_told_what_happened() {
        check(3, "++-+!", "passed passed left passed in:3:free:1");
        check(1, "+-!2+!", "passed left in:1:free:1:full open passed in:1:free:1");
        check(0, "-!", "left in:0:free:1");
    }

    #[test]
    fn nobody_passes_while_it_is_shut() {
        check(2, "+!+-1+", "passed in:1:free:1 shut shut open passed");
    }

    #[test]
    fn the_largest_limit_has_room_in_the_word() {
        let wicket = Wicket::new(u32::MAX);
        assert_eq!((wicket.enter(), wicket.leave()), (Passage::Passed, true));
        let passed = Passed { entered: 1, free: u32::MAX, was_full: false };
        assert_eq!(wicket.shut(), passed);
    }

    #[test]
    fn a_count_at_its_end_sends_to_the_desk() {
        let last = u64::MAX / ENTERED * ENTERED + 2;
        let wicket = Wicket(AtomicU64::new(last - ENTERED));
        assert_eq!([wicket.enter(), wicket.enter()], [Passage::Passed, Passage::Shut]);
        assert!(wicket.leave());
        let passed = Passed { entered: u64::MAX / ENTERED, free: 2, was_full: false };
        assert_eq!(wicket.shut(), passed);
    }
}
