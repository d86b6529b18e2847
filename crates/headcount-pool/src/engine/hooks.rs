//! What the user wants run when a worker starts and stops.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Kind;
use super::machine::Engine;
use crate::event::Event;

type Hook = Arc<dyn Fn(usize) + Send + Sync>;

/// Called with the slot of the worker.
#[derive(Clone, Default)]
pub(crate) struct WorkerHooks {
    pub(crate) start: Option<Hook>,
    pub(crate) stop: Option<Hook>,
}

impl WorkerHooks {
    pub(crate) fn started<K: Kind>(&self, engine: &Engine<K>, slot: usize) {
        call(self.start.as_ref(), "on_worker_start", engine, slot);
    }

    pub(crate) fn stopped<K: Kind>(&self, engine: &Engine<K>, slot: usize) {
        call(self.stop.as_ref(), "on_worker_stop", engine, slot);
    }
}

fn call<K: Kind>(hook: Option<&Hook>, name: &'static str, engine: &Engine<K>, slot: usize) {
    let Some(hook) = hook else { return };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| hook(slot))) {
        crate::unhurt::drop_quietly(payload);
        engine.events.tell(engine.now(), Event::HookPanicked { hook: name, policy: None });
    }
}

impl fmt::Debug for WorkerHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerHooks").finish_non_exhaustive()
    }
}
