//! Workers at work, until they are drained.

use std::future::{Future as _, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use headcount::Scaler;
use headcount::jobs::port::{Backend, Command, StoreError};
use headcount::jobs::{Drained, Queue, Worker};
use headcount::probes::Sampler;
use headcount_core::jobs::Rules;

use super::handlers::{add_to, schedules_of};
use super::log::say;
use super::plan::{Plan, QueuePlan};
use super::{Log, Signals};
use crate::Stop;

/// How long at once may take.
const AT_ONCE: Duration = Duration::from_secs(2);

/// The workers of a process, some for each queue.
#[derive(Debug)]
pub(crate) struct Crew {
    workers: Vec<Worker>,
}

/// All that workers are given beside their plan.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) store: Arc<dyn Backend>,
    /// Who knows how the machine is.
    pub(crate) sampler: Option<Sampler>,
    pub(crate) log: Log,
}

impl Crew {
    /// Has the workers begin; `prepare` is shown each queue before.
    pub(crate) async fn hire(
        plan: &Plan,
        around: &Surroundings,
        prepare: impl Fn(&Queue),
    ) -> Result<Self, Stop> {
        let mut workers = Vec::new();
        for queue in &plan.queues {
            workers.push(hire(queue, around, &prepare).await?);
        }
        Ok(Self { workers })
    }

    pub(crate) fn scalers(&self) -> impl Iterator<Item = &Scaler> {
        self.workers.iter().map(Worker::scaler)
    }

    /// Takes nothing more, and ends when all has: within the grace, or at the next signal.
    pub(crate) async fn drain(&self, grace: Duration, signals: &mut Signals) -> Drained {
        tokio::select! {
            drained = self.drain_within(grace) => drained,
            () = signals.heard() => {
                say("stopping at once; what runs is given back");
                self.drain_now().await
            }
        }
    }

    /// Gives everything back at once. What the store has not heard of by then runs again elsewhere
    /// when the lease has run out.
    pub(crate) async fn drain_now(&self) -> Drained {
        let given_back = tokio::time::timeout(AT_ONCE, self.drain_within(Duration::ZERO)).await;
        given_back.unwrap_or_else(|_| {
            let held = self.workers.iter().map(Worker::stats);
            let unsettled = held.map(|stats| stats.running + stats.buffered).sum();
            Drained { unsettled, ..Drained::default() }
        })
    }

    /// All of them at once: one after the other, the last would have no grace left.
    async fn drain_within(&self, grace: Duration) -> Drained {
        let draining = self.workers.iter().map(|worker| Box::pin(worker.drain(grace)));
        let mut draining: Vec<_> = draining.collect();
        let mut all = Drained::default();
        poll_fn(|context| {
            draining.retain_mut(|one| match one.as_mut().poll(context) {
                Poll::Ready(drained) => {
                    all.finished += drained.finished;
                    all.handed_back += drained.handed_back;
                    all.stopped += drained.stopped;
                    all.unsettled += drained.unsettled;
                    false
                }
                Poll::Pending => true,
            });
            if draining.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        all
    }
}

async fn hire(
    plan: &QueuePlan,
    around: &Surroundings,
    prepare: &impl Fn(&Queue),
) -> Result<Worker, Stop> {
    let name = &plan.name;
    let failed = |why: String| Stop::Failed(format!("queue {name}: {why}"));
    let store = &around.store;
    begin(plan, store).await.map_err(|error| failed(error.to_string()))?;
    let queue = Queue::new(Arc::clone(store), name.as_str()).map_err(|e| failed(e.to_string()))?;
    prepare(&queue);
    add_to(&queue, plan.config.as_ref())?;
    let (log, label) = (around.log.clone(), name.clone());
    let mut builder = Worker::builder(&queue)
        .workers(plan.workers)
        .autoscale(plan.policy.clone())
        .on_event(move |event| log.event(&label, event));
    if plan.on_threads {
        builder = builder.threads();
    }
    if let Some(config) = &plan.config {
        let utc_offset = config.pool.utc_offset;
        builder = builder.scaler(move |scaler| scaler.utc_offset(utc_offset));
    }
    if let Some(sampler) = around.sampler.clone() {
        builder = builder.scaler(move |scaler| scaler.health(&sampler));
    }
    for schedule in plan.config.as_ref().map(schedules_of).transpose()?.unwrap_or_default() {
        builder = builder.schedule(schedule);
    }
    builder.start().map_err(|error| failed(error.to_string()))
}

/// Gives the queue the rules of the file. One that is new begins now, so that it can be paused and
/// looked at before its first job.
async fn begin(plan: &QueuePlan, store: &Arc<dyn Backend>) -> Result<(), StoreError> {
    let written = plan.config.as_ref().and_then(|config| config.rules.clone());
    let rules = match written {
        Some(rules) => rules,
        None if store.queues().await?.contains(&plan.name) => return Ok(()),
        None => Rules::default(),
    };
    store.steer(&plan.name, Command::Rules(Box::new(rules))).await?;
    Ok(())
}
