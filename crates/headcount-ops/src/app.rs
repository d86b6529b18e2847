//! What all routes share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use headcount_core::jobs::port::{Backend, Reply};
use headcount_core::jobs::{JobSpec, Label};

use crate::answer::Refusal;
use crate::metrics::{Aliases, Observer};
use crate::pools::{Pools, PoolsError};
use crate::server::Limits;
use crate::throttling::Settings;

/// What all routes share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) store: Arc<dyn Backend>,
    /// What the store is called, where that is known.
    pub(crate) store_name: Option<String>,
    pub(crate) pools: Arc<dyn Pools>,
    pub(crate) observer: Arc<Observer>,
    /// Other names of metrics, where they are wanted.
    pub(crate) aliases: Option<Aliases>,
    pub(crate) settings: Settings,
    pub(crate) limits: Limits,
    /// What jobs of a queue are like where their submitters do not say.
    pub(crate) usual: BTreeMap<Label, JobSpec>,
    /// Why it should get no more work, where that is so.
    pub(crate) unready: Mutex<Option<String>>,
    /// Answers so far, by the first digit of their status, from 1 to 5.
    pub(crate) answered: [AtomicU64; 5],
}

impl App {
    /// What the store says, or that it says nothing in time.
    pub(crate) async fn ask<T>(&self, reply: Reply<'_, T>) -> Result<T, Refusal> {
        let most = self.limits.store_time_max;
        match tokio::time::timeout(most, reply).await {
            Ok(answer) => answer.map_err(Refusal::from),
            Err(_) => Err(Refusal::busy(format!(
                "the store did not answer within {most:?}; it is not known whether it did what \
                 was asked, so look or repeat it with the same id",
            ))),
        }
    }

    /// Whether the store knows the queue; most routes do not make one.
    pub(crate) async fn known(&self, queue: &Label) -> Result<(), Refusal> {
        if self.ask(self.store.queues()).await?.contains(queue) {
            return Ok(());
        }
        Err(Refusal::missing(format!("there is no queue {:?}", queue.as_str())))
    }

    /// What the pools say. They may wait for locks of others, so they are not asked where requests
    /// are served.
    pub(crate) async fn pools<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Pools) -> Result<T, PoolsError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let pools = Arc::clone(&self.pools);
        let asked = tokio::task::spawn_blocking(move || ask(pools.as_ref()));
        match tokio::time::timeout(self.limits.store_time_max, asked).await {
            Ok(Ok(answer)) => answer.map_err(Refusal::from),
            Ok(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            _ => Err(Refusal::busy("the pools do not answer; ask again later")),
        }
    }

    pub(crate) fn unready(&self) -> Option<String> {
        self.unready.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self, status: u16) {
        if let Some(count) = self.answered.get(usize::from(status / 100).wrapping_sub(1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The wall clock, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
