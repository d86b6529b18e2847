//! Tasks that go on by themselves, for either kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Handle, does};

/// Tasks that submit themselves again and again until it is over.
#[derive(Clone, Debug)]
pub(super) struct Again {
    pub(super) pool: Handle,
    pub(super) over: Arc<AtomicBool>,
    /// How often one of them has run.
    pub(super) steps: Arc<AtomicUsize>,
}

impl Again {
    pub(super) fn new(pool: &Handle) -> Self {
        Self { pool: pool.clone(), over: Arc::default(), steps: Arc::default() }
    }

    /// Submits one that goes on by itself.
    pub(super) fn submit(&self) {
        let again = self.clone();
        let submitted = self.pool.spawn(does(move || {
            again.steps.fetch_add(1, Ordering::SeqCst);
            if !again.over.load(Ordering::SeqCst) {
                again.submit();
            }
        }));
        // Refused once the test is over and the pool is closed.
        drop(submitted);
    }
}
