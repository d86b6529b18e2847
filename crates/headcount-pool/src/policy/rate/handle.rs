//! The rate limit as its users hold it: by itself, or as a policy of one pool or several.

use std::any::Any;
use std::fmt;
use std::sync::Arc as StdArc;

use headcount_core::{Clock, Fault, Name, Timestamp};

use super::bucket::{Bucket, Rate, TakeError};
use crate::clock::Monotonic;
use crate::policy::{PoolPolicy, TaskView, Verdict};
use crate::sync::{Arc, Mutex, lock};

/// Takes so many tasks in a while, and rejects the others until it is time.
///
/// Clones are the same limit, so several pools can share one. It begins full.
///
/// As a policy it takes a token for each task that it is asked about. It gets back that of a task
/// which never begins, because the line is full, a policy behind it rejects it, or it is cancelled,
/// expires or is handed back while it waits; as far as there is room, for a bucket that has filled
/// meanwhile takes no more than its burst. A task that has begun has used its token.
///
/// ```
/// use headcount_pool::policy::{Rate, RateLimit};
///
/// let limit = RateLimit::new(Rate::per_second(2)).expect("no fault");
/// assert!(limit.try_take(1).is_ok() && limit.try_take(1).is_ok());
/// let error = limit.try_take(1).expect_err("two a second");
/// assert!(error.retry_after().is_some());
///
/// limit.change(Rate::per_second(1000)).expect("no fault");
/// assert_eq!(limit.rate().burst, 1000);
/// ```
#[derive(Clone)]
pub struct RateLimit {
    name: Name,
    shared: Arc<Shared>,
}

struct Shared {
    clock: StdArc<dyn Clock>,
    bucket: Mutex<Bucket>,
}

impl RateLimit {
    /// A full one, called `rate_limit`.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with `rate`.
    pub fn new(rate: Rate) -> Result<Self, Vec<Fault>> {
        Self::with_clock(rate, StdArc::new(Monotonic::new()))
    }

    /// A full one that lives by another clock, as tests do.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with `rate`.
    pub fn with_clock(rate: Rate, clock: StdArc<dyn Clock>) -> Result<Self, Vec<Fault>> {
        rate.check().map(|rate| Self::of(rate, clock))
    }

    fn of(rate: Rate, clock: StdArc<dyn Clock>) -> Self {
        let name = Name::new("rate_limit").expect("a name");
        let bucket = Mutex::new(Bucket::new(rate, clock.now()));
        Self { name, shared: Arc::new(Shared { clock, bucket }) }
    }

    /// The same limit under another name, for a pool that has two.
    #[must_use]
    pub fn named(self, name: Name) -> Self {
        Self { name, ..self }
    }

    /// Takes so many tokens, or none.
    ///
    /// # Errors
    ///
    /// When there are not so many now, or never will be.
    pub fn try_take(&self, tokens: u32) -> Result<(), TakeError> {
        self.with(|bucket, now| bucket.take(tokens, now))
    }

    /// How many tokens could be taken now.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.with(Bucket::tokens)
    }

    /// The rate in force.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.with(|bucket, _| bucket.rate())
    }

    /// Sets another rate, from now on. The tokens that are there stay, up to the new burst.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with `rate`; then the old one stays in force.
    pub fn change(&self, rate: Rate) -> Result<(), Vec<Fault>> {
        let rate = rate.check()?;
        self.with(|bucket, now| bucket.change(rate, now));
        Ok(())
    }

    /// The clock is read before the lock: it may be anybody's code.
    fn with<T>(&self, act: impl FnOnce(&mut Bucket, Timestamp) -> T) -> T {
        let now = self.shared.clock.now();
        act(&mut lock(&self.shared.bucket), now)
    }
}

impl PoolPolicy for RateLimit {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn on_enqueue(&self, _task: &TaskView<'_>) -> Verdict {
        match self.try_take(1) {
            Ok(()) => Verdict::accept_with(Token { limit: self.clone(), used: false }),
            Err(error) => {
                Verdict::Reject { reason: error.to_string(), retry_after: error.retry_after() }
            }
        }
    }

    fn on_start(&self, _task: &TaskView<'_>, baggage: Option<&mut (dyn Any + Send)>) {
        if let Some(token) = baggage.and_then(|baggage| baggage.downcast_mut::<Token>()) {
            token.used = true;
        }
    }
}

/// What a task took. Dropped before it has begun, it goes back.
struct Token {
    limit: RateLimit,
    used: bool,
}

impl Drop for Token {
    fn drop(&mut self) {
        if !self.used {
            self.limit.with(|bucket, now| bucket.give_back(1, now));
        }
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("name", &self.name)
            .field("rate", &self.rate())
            .field("tokens", &self.tokens())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::policy::policies_tests::Watch;
    use crate::policy::{Escort, Policies};

    /// It begins, and so it has used what it took.
    fn begin(mut escort: Escort) {
        escort.started(&TaskView::default());
    }

    #[test]
    fn a_pool_takes_so_many_and_says_when_to_come_back() {
        let watch = StdArc::new(Watch::default());
        let limit = RateLimit::with_clock(Rate::per_second(2), watch.clone()).expect("no fault");
        let policies = Policies::new();
        policies.add(StdArc::new(limit.clone())).expect("the only one");
        let enqueue = || policies.enqueue(&TaskView::default()).map(begin);
        assert_eq!([enqueue(), enqueue()], [Ok(()), Ok(())]);
        let rejection = enqueue().expect_err("two a second");
        let expected = "rate_limit: the rate limit is reached; try again in 500.0ms";
        assert_eq!(rejection.to_string(), expected);
        watch.advance(rejection.retry_after.expect("it said so"));
        assert_eq!(enqueue(), Ok(()));

        limit.change(Rate::per_second(10)).expect("no fault");
        watch.advance(Duration::from_millis(100));
        assert_eq!(enqueue(), Ok(()));
        assert!(enqueue().is_err());
    }

    #[test]
    fn clones_are_the_same_limit() {
        let watch = StdArc::new(Watch::default());
        let first = RateLimit::with_clock(Rate::per_second(3), watch).expect("no fault");
        let second = first.clone().named(Name::new("api").expect("a name"));
        first.try_take(2).expect("it is full");
        assert_eq!((second.name(), second.tokens()), ("api", 1));
        assert!(second.change(Rate::per_second(0)).is_err());
        assert_eq!(first.rate(), Rate::per_second(3), "what is wrong changes nothing");
    }
}
