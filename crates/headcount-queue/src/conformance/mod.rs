//! One suite for all stores: every sentence of the protocol, and chance against the model.
//!
//! Whoever writes a store implements [`Subject`] and calls
//! [`conformance_tests!`](crate::conformance_tests) in a test file; each case becomes a test.

mod stage;
mod cases;
mod list;
mod op;
mod compare;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use headcount_core::jobs::port::Backend;

pub use compare::{compare, compare_random};
pub use list::cases;
pub use op::{Draft, Op, Pick, sequences};

/// A fresh, empty store under test, whose clock is moved by hand.
///
/// You may rely on nothing being in it but what the case puts there; no two cases share one.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_queue::conformance::Subject;
/// use headcount_queue::model::{HandClock, Memory};
/// use headcount_queue::port::Backend;
/// use std::{sync::Arc, time::Duration};
///
/// struct InMemory(Memory, Arc<HandClock>);
///
/// impl Subject for InMemory {
///     fn store(&self) -> &dyn Backend {
///         &self.0
///     }
///     fn advance(&self, span: Duration) {
///         self.1.advance(span);
///         self.0.stir();
///     }
/// }
///
/// let clock = Arc::new(HandClock::at(Timestamp::from_secs(1_000)));
/// let subject = InMemory(Memory::with_clock(clock.clone()), clock);
/// subject.advance(Duration::from_secs(1));
/// ```
pub trait Subject: Send + Sync {
    /// The store.
    fn store(&self) -> &dyn Backend;

    /// The store's clock shows so much more from now on. Nothing else happens by it.
    fn advance(&self, span: Duration);
}

/// What a case does, some time from now.
pub(crate) type Played<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// One claim about stores. It panics where the claim does not hold.
///
/// ```
/// let names: Vec<&str> = headcount_queue::conformance::cases().iter().map(|c| c.name()).collect();
/// assert!(names.contains(&"what_comes_first_is_served_first"));
/// ```
#[derive(Clone, Copy)]
pub struct Case {
    pub(crate) name: &'static str,
    pub(crate) play: for<'a> fn(&'a dyn Subject) -> Played<'a>,
}

impl Case {
    /// The claim, in words.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Plays the case on a fresh store.
    pub async fn play(&self, subject: &dyn Subject) {
        (self.play)(subject).await;
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Case").field(&self.name).finish()
    }
}

/// Plays the case of this name on a store that is made for it.
///
/// # Panics
///
/// When the claim does not hold, or there is no such case.
pub fn play<S: Subject, F: Future<Output = S>>(name: &str, make: impl FnOnce() -> F) {
    let case = cases().into_iter().find(|case| case.name == name).expect("a case of this name");
    runtime().block_on(async { case.play(&make().await).await });
}

/// Where a test runs: on its own thread, with whatever the store needs.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.expect("a thread can wait for its own tasks")
}
