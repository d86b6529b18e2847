//! Parts of one's own, used from a file: a signal, a decider, a guard, and something to resize.
//!
//! `cargo run -p headcount --features config --example plug_in`

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use headcount::config::{Reader, Registry};
use headcount::{Name, Observation, PoolSnapshot, Resizable, Staffing, Timestamp};
use headcount_core::decide::Decider;
use headcount_core::guard::{Because, Guard, Ruling};
use headcount_core::signal::Signal;
use headcount_core::{Proposal, Reason, Situation};

/// A file as somebody would write it; `Config::read` takes its path.
const FILE: &str = "
service: orders
pools:
  consumers:
    type: connections
    options: {first: 4}
    workers: {min: 2, max: 32}
    signals:
      - {type: lag, topic: orders, name: behind}
    decider: {type: per_message, signal: behind, messages: 100}
    guards:
      registered: [{type: licences, count: 12}]
";

/// How many messages wait in a topic. A real one would ask the broker.
#[derive(Clone, Debug)]
struct Lag {
    topic: String,
}

impl Signal for Lag {
    fn name(&self) -> &'static str {
        "lag"
    }

    fn read(&mut self, observation: &Observation) -> Option<f64> {
        (self.topic == "orders").then_some(observation.pool.queued as f64)
    }
}

/// One worker for so many messages.
#[derive(Clone, Debug)]
struct PerMessage {
    signal: String,
    messages: f64,
}

impl Decider for PerMessage {
    fn decide(&mut self, situation: &Situation<'_>) -> Proposal {
        let Some(known) = situation.reading(&self.signal) else {
            return Proposal::abstain(Reason::NoData);
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
        let size = (known.value / self.messages).ceil() as u32;
        Proposal::want(Staffing::exactly(size), Reason::External)
    }
}

/// No more workers than there are licences.
#[derive(Debug)]
struct Licences(u32);

impl Guard for Licences {
    fn name(&self) -> &'static str {
        "licences"
    }

    fn is_limit(&self) -> bool {
        true
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let because = Because::Said(Name::new("all_taken").expect("a name"));
        Ruling::of(situation.from(), wanted, wanted.at_most(self.0), because)
    }
}

/// So many connections may be open.
struct Connections(AtomicU32);

impl Resizable for Connections {
    fn snapshot(&self) -> PoolSnapshot {
        PoolSnapshot::of(Staffing::exactly(self.0.load(Ordering::Relaxed)))
    }

    fn resize(&self, staffing: Staffing) {
        self.0.store(staffing.ceiling, Ordering::Relaxed);
    }
}

fn registry() -> Registry {
    Registry::new()
        .signal("lag", |options| Ok(Lag { topic: options.text("topic")?.to_owned() }))
        .decider("per_message", |options| {
            let signal = options.text("signal")?.to_owned();
            Ok(PerMessage { signal, messages: options.number("messages")? })
        })
        .guard("licences", |options| {
            let count = u32::try_from(options.count("count")?);
            count.map(Licences).map_err(|_| "count is beyond all reason".to_owned())
        })
        .resizable("connections", |options| {
            let first = u32::try_from(options.count("first")?).unwrap_or(u32::MAX);
            Ok(Arc::new(Connections(AtomicU32::new(first))))
        })
}

#[allow(clippy::print_stdout, reason = "an example is there to be seen")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = registry();
    let reading = Reader::new(&registry).parse("orders.yaml", FILE)?;
    let consumers = reading.config.pool("consumers").ok_or("it is in the file")?;
    let connections = consumers.resizable(&registry)?;
    let mut autoscaler = consumers.autoscaler(&registry)?;

    for (second, queued) in [(1, 350), (2, 950), (3, 2_000)] {
        let pool = PoolSnapshot { queued, ..connections.snapshot() };
        let decision = autoscaler.tick(&Observation::new(Timestamp::from_secs(second), pool));
        println!("{queued:>5} messages: {}", decision.explain());
        if let Some(staffing) = decision.resize() {
            connections.resize(staffing);
            autoscaler.applied(&decision);
        }
    }
    assert_eq!(connections.snapshot().ceiling, 12, "as many as there are licences");
    Ok(())
}
