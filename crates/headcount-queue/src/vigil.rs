//! Whether to wait for something asleep, or awake for a moment.
//!
//! A server on the same machine answers within some ten microseconds, and short jobs end as soon.
//! On a machine at rest it takes longer than that to fall asleep and be woken; who stays awake has
//! the answer in half the time, and finds the server awake when it asks again. On a busy machine
//! whoever stays awake takes the processor from others, the server among them, and waits for
//! longer; and from a server far away no answer comes in that moment.
//!
//! Which of these it is shows in the waits themselves. Of a thousand a few are waited for asleep,
//! then a few awake, and the rest in the manner that was clearly quicker. To be awake is to give
//! way to all else that the runtime has to do, then to all else that this processor has, and to
//! look again. One wait of a vigil at a time is so: what arrives meanwhile for the others of its
//! link wakes them at no cost.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::task::yield_now;

/// How long a waiter stays awake at most.
const AWAKE_MAX: Duration = Duration::from_micros(250);
/// How many waits it takes to know a manner. Odd, so that one is in the middle.
const TRIED: usize = 31;
/// How many are then waited for in the better one.
const KEPT: u32 = 1000;

/// How something is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Asleep,
    Awake,
}

/// Waits for things of one kind, one at a time in a manner of its choice.
#[derive(Default)]
pub(crate) struct Vigil {
    /// Whether something is waited for already.
    is_kept: AtomicBool,
    rule: Mutex<Rule>,
}

/// What is known of the two manners.
#[derive(Debug)]
enum Rule {
    /// This one is tried; the other one's typical time is known once it has been.
    Trying { manner: Manner, times: Vec<Duration>, asleep: Option<Duration> },
    /// This one was the better, for so many more.
    Keeping { manner: Manner, left: u32 },
}

/// The right to be the one. It ends with the wait, also where that is given up.
struct Kept<'a>(&'a AtomicBool);

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Vigil {
    /// What the future gives, when it is there.
    pub(crate) async fn until<F: Future>(&self, wanted: F) -> F::Output {
        if self.is_kept.swap(true, Ordering::Acquire) {
            return wanted.await;
        }
        let _kept = Kept(&self.is_kept);
        let manner = self.rule().manner();
        let begun = Instant::now();
        let got = match manner {
            Manner::Asleep => wanted.await,
            Manner::Awake => awake(wanted, AWAKE_MAX).await,
        };
        self.rule().took(begun.elapsed());
        got
    }

    fn rule(&self) -> std::sync::MutexGuard<'_, Rule> {
        self.rule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self::trying(Manner::Asleep, None)
    }
}

impl Rule {
    fn trying(manner: Manner, asleep: Option<Duration>) -> Self {
        Self::Trying { manner, times: Vec::with_capacity(TRIED), asleep }
    }

    /// How the next one is waited for.
    fn manner(&self) -> Manner {
        match self {
            Self::Trying { manner, .. } | Self::Keeping { manner, .. } => *manner,
        }
    }

    /// One took so long, in the manner that was asked for.
    fn took(&mut self, time: Duration) {
        match self {
            Self::Keeping { left: 0, .. } => *self = Self::default(),
            Self::Keeping { left, .. } => *left -= 1,
            Self::Trying { times, .. } if times.len() + 1 < TRIED => times.push(time),
            Self::Trying { times, asleep, .. } => {
                times.push(time);
                let typical = middle(times);
                *self = match *asleep {
                    None => Self::trying(Manner::Awake, Some(typical)),
                    Some(asleep) => Self::Keeping { manner: better(asleep, typical), left: KEPT },
                };
            }
        }
    }
}

/// Awake where that takes no more than four fifths of the time: it costs the processor.
fn better(asleep: Duration, awake: Duration) -> Manner {
    match awake * 5 <= asleep * 4 {
        true => Manner::Awake,
        false => Manner::Asleep,
    }
}

fn middle(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Looks again and again, and falls asleep after so long.
async fn awake<F: Future>(wanted: F, most: Duration) -> F::Output {
    let mut wanted = pin!(wanted);
    let begun = Instant::now();
    while begun.elapsed() < most {
        tokio::select! {
            biased;
            got = &mut wanted => return got,
            () = yield_now() => {}
        }
        // Whoever is asked is often woken on the processor of whoever asked, and would stand behind
        // the one that waits for it.
        thread::yield_now();
    }
    wanted.await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::task::Poll;

    use tokio::runtime::Builder;

    use super::*;

    /// Which manner is kept, where it takes so many microseconds asleep and awake.
    fn check(asleep: u64, awake: u64, expected: Manner) {
        let mut rule = Rule::default();
        for _ in 0..2 * TRIED {
            let time = match rule.manner() {
                Manner::Asleep => asleep,
                Manner::Awake => awake,
            };
            rule.took(Duration::from_micros(time));
        }
        assert_eq!(rule.manner(), expected, "{asleep} us asleep, {awake} awake");
    }

    #[test]
    fn who_waits_stays_awake_where_that_is_clearly_quicker() {
        check(210, 140, Manner::Awake);
        check(100, 80, Manner::Awake);
        check(100, 81, Manner::Asleep);
        check(90, 200, Manner::Asleep);
        check(600, 600, Manner::Asleep);
    }

    #[test]
    fn a_few_that_are_late_do_not_change_the_manner() {
        let mut rule = Rule::default();
        for nth in 0..2 * TRIED {
            let usual = if rule.manner() == Manner::Awake { 100 } else { 200 };
            let late = nth % TRIED < TRIED / 2;
            rule.took(Duration::from_micros(if late { 50_000 } else { usual }));
        }
        assert_eq!(rule.manner(), Manner::Awake);
    }

    #[test]
    fn what_was_better_is_tried_again() {
        let mut rule = Rule::Keeping { manner: Manner::Awake, left: KEPT };
        for _ in 0..KEPT {
            assert_eq!(rule.manner(), Manner::Awake);
            rule.took(Duration::ZERO);
        }
        rule.took(Duration::ZERO);
        assert_eq!(rule.manner(), Manner::Asleep, "the machine may have become busy");
    }

    #[test]
    fn who_is_awake_needs_nobody_to_wake_it_and_falls_asleep_in_the_end() {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let mut looks = 0;
            let seen_only = poll_fn(|_| {
                looks += 1;
                if looks < 3 { Poll::Pending } else { Poll::Ready(()) }
            });
            awake(seen_only, Duration::MAX).await;
            let never = awake(pending::<()>(), Duration::from_micros(50));
            let ended = tokio::time::timeout(Duration::from_millis(5), never).await;
            assert!(ended.is_err(), "nothing came");
        });
    }

    #[test]
    fn a_wait_that_is_given_up_leaves_its_place() {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let vigil = Vigil::default();
            let mut first = Box::pin(vigil.until(pending::<()>()));
            tokio::select! {
                biased;
                () = &mut first => panic!("it never ends"),
                got = vigil.until(async { 7 }) => assert_eq!(got, 7, "it waits for nobody"),
            }
            assert!(vigil.is_kept.load(Ordering::Acquire));
            drop(first);
            assert!(!vigil.is_kept.load(Ordering::Acquire));
        });
    }
}
