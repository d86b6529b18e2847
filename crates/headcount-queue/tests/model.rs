//! The model passes its own suite, and after every random step each job is in one place.

use std::sync::Arc;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_queue::conformance::Subject;
use headcount_queue::model::{HandClock, Memory};
use headcount_queue::port::Backend;

struct InMemory {
    store: Memory,
    clock: Arc<HandClock>,
}

impl Subject for InMemory {
    fn store(&self) -> &dyn Backend {
        &self.store
    }

    fn advance(&self, span: Duration) {
        self.clock.advance(span);
        self.store.stir();
    }
}

async fn fresh() -> InMemory {
    let clock = Arc::new(HandClock::at(Timestamp::from_secs(1_700_000_000)));
    InMemory { store: Memory::with_clock(clock.clone()), clock }
}

headcount_queue::conformance_tests!(fresh, sequences: 300);
