//! The store in a folder keeps the protocol: every case, and random sequences beside the model.

use std::sync::Arc;
use std::time::Duration;

use headcount_core::Timestamp;
use headcount_queue::conformance::Subject;
use headcount_queue::embedded::{Durability, Embedded, EmbeddedOptions};
use headcount_queue::model::HandClock;
use headcount_queue::port::Backend;

struct InFolder {
    store: Embedded,
    clock: Arc<HandClock>,
    _folder: tempfile::TempDir,
}

impl Subject for InFolder {
    fn store(&self) -> &dyn Backend {
        &self.store
    }

    fn advance(&self, span: Duration) {
        self.clock.advance(span);
        self.store.stir();
    }
}

async fn fresh() -> InFolder {
    let clock = Arc::new(HandClock::at(Timestamp::from_secs(1_700_000_000)));
    let folder = tempfile::tempdir().expect("there is room for a folder");
    // Syncing is what takes time here, and the crash tests see to it.
    let durability = Durability::Interval(Duration::from_secs(60));
    let options =
        EmbeddedOptions { durability, clock: clock.clone(), ..EmbeddedOptions::default() };
    let store = Embedded::open(folder.path(), options).expect("it is a fresh folder");
    InFolder { store, clock, _folder: folder }
}

headcount_queue::conformance_tests!(fresh, sequences: 200);
