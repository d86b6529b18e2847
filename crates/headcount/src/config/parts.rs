//! What a pool of a file is made into: a policy, an autoscaler, a pool.

use std::sync::Arc;

use headcount_core::signal::{Signal, Unit};
use headcount_core::{
    Autoscaler, Extras, Name, Notes, NotesReader, Observation, Policy, PolicyConfig, Reason,
    Resizable,
};
use headcount_pool::{Builder, Limiter, ThreadPool, Threads, Workers};

use super::registry::Registry;
use super::types::{PoolConfig, PoolKind};

/// Both kinds of pool have the same settings, and no name in common that could be spoken of here.
macro_rules! with_settings {
    ($config:expr, $builder:expr) => {{
        let config = $config;
        let workers_max = config.policy.workers_max.unwrap_or(Builder::<Threads>::WORKERS_MAX);
        let builder = $builder
            .name(&config.name)
            .workers(config.initial_workers())
            .workers_max(workers_max)
            .queue_len_max(config.queue.len_max)
            .overflow(config.queue.overflow)
            .wait_budget(config.wait_budget)
            .idle_time(config.idle)
            .compensate_max(config.compensate_max)
            .replace_stuck_max(config.replace_stuck_max)
            .panic_policy(config.panic);
        match config.stuck_after {
            Some(stuck_after) => builder.stuck_after(stuck_after),
            None => builder,
        }
    }};
}

impl PoolConfig {
    /// Its policy.
    ///
    /// # Panics
    ///
    /// When its data was changed into something that cannot be since it was read.
    #[must_use]
    pub fn checked_policy(&self) -> Policy {
        let config = self.policy_of_scaler();
        let cores = config.workers_max.unwrap_or(1);
        Policy::check(&config, cores).expect("it was checked when it was read")
    }

    /// Its policy, without what comes with the extras.
    pub(crate) fn policy_of_scaler(&self) -> PolicyConfig {
        let mut config = self.policy.clone();
        if self.brake().is_some() {
            // It has bounds of its own, and comes with the extras.
            config.guards.health = None;
        }
        config
    }

    /// Its parts that are not the policy's own, made anew.
    ///
    /// # Errors
    ///
    /// What a maker of the registry has to say, or which part is not registered.
    pub fn extras(&self, registry: &Registry) -> Result<Extras, String> {
        let mut extras = Extras::default();
        for (name, plug) in &self.plugs.signals {
            let inner = registry.make_signal(plug)?;
            extras.signals.push(Box::new(Called { name: *name, inner }));
        }
        if let Some(plug) = &self.plugs.decider {
            extras.decider = Some(registry.make_decider(plug)?);
        }
        for (path, plug) in &self.plugs.parts {
            extras.parts.push((path.clone(), registry.make_decider(plug)?));
        }
        if let Some(brake) = self.brake() {
            extras.guards.push(Arc::new(brake));
        }
        for plug in &self.plugs.guards {
            extras.guards.push(registry.make_guard(plug)?);
        }
        Ok(extras)
    }

    /// An autoscaler that remembers nothing yet: the policy and its extras.
    ///
    /// # Errors
    ///
    /// What a maker of the registry has to say, or which part is not registered.
    pub fn autoscaler(&self, registry: &Registry) -> Result<Autoscaler, String> {
        let extras = self.extras(registry)?;
        Ok(self.checked_policy().build_with(extras))
    }

    /// The workers that it begins with: as many as the file says, else what the policy begins with.
    #[must_use]
    pub fn initial_workers(&self) -> Workers {
        let policy = self.checked_policy();
        let roster = policy.roster().staffing;
        match self.workers_initial {
            Some(initial) => Workers { min: initial, max: roster.ceiling.max(initial) },
            None => Workers { min: roster.floor, max: roster.ceiling },
        }
    }

    /// A pool of threads with these settings, about to be made.
    pub fn thread_pool(&self) -> Builder<Threads> {
        let mut builder = with_settings!(self, ThreadPool::builder());
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        builder
    }

    /// A pool of async tasks with these settings, about to be made.
    #[cfg(feature = "tokio")]
    pub fn task_pool(&self) -> Builder<headcount_pool::Tasks> {
        with_settings!(self, headcount_pool::TaskPool::builder())
    }

    /// A limiter that lets so many in as the pool has workers to begin with.
    #[must_use]
    pub fn limiter(&self) -> Limiter {
        let Workers { min, max } = self.initial_workers();
        Limiter::new(self.workers_initial.unwrap_or(max).max(min))
    }

    /// What is registered as its type, made anew.
    ///
    /// # Errors
    ///
    /// What the maker has to say, or that the type is not a registered one.
    pub fn resizable(&self, registry: &Registry) -> Result<Arc<dyn Resizable>, String> {
        match &self.kind {
            PoolKind::Registered(plug) => registry.make_resizable(plug),
            kind => Err(format!("a pool of type {:?} needs no registration", kind.name())),
        }
    }
}

/// A signal of somebody's own under the name that the file gives it.
#[derive(Clone, Debug)]
struct Called {
    name: Name,
    inner: Box<dyn Signal>,
}

impl Signal for Called {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn unit(&self) -> Unit {
        self.inner.unit()
    }

    fn reason(&self) -> Reason {
        self.inner.reason()
    }

    fn read(&mut self, observation: &Observation) -> Option<f64> {
        self.inner.read(observation)
    }

    fn kind(&self, text: &mut String) {
        self.inner.kind(text);
    }

    fn save(&self, notes: &mut Notes) {
        self.inner.save(notes);
    }

    fn load(&mut self, notes: &mut NotesReader<'_>) -> Option<()> {
        self.inner.load(notes)
    }
}
