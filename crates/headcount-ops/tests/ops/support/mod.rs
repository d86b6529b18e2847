//! A server at work on a port of its own, a client that speaks plain text, a store that can be
//! made to fail, and pools that remember what was asked of them.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

mod client;
mod crew;
mod flaky;

use std::net::SocketAddr;
use std::sync::Arc;

use headcount_ops::{Limits, Observer, Ops, OpsBuilder, Pools};
use headcount_queue::jobs::port::Backend;
use serde_json::{Value, json};

pub use client::{Answered, ask, exchange};
pub use crew::Crew;
pub use flaky::{Flaky, Mood};

/// A server with everything it needs.
pub struct Stage {
    pub ops: Ops,
    pub store: Arc<Flaky>,
    pub crew: Arc<Crew>,
    pub observer: Arc<Observer>,
}

impl Stage {
    pub async fn new() -> Self {
        Self::with(|builder| builder).await
    }

    pub async fn limited(limits: Limits) -> Self {
        Self::with(|builder| builder.limits(limits)).await
    }

    pub async fn with(
        change: impl FnOnce(
            OpsBuilder<Arc<dyn Backend>, Arc<dyn Pools>>,
        ) -> OpsBuilder<Arc<dyn Backend>, Arc<dyn Pools>>,
    ) -> Self {
        let (store, crew) = (Arc::new(Flaky::default()), Arc::new(Crew::default()));
        let observer = Arc::new(Observer::default());
        let builder =
            Ops::builder().store(store.clone()).pools(crew.clone()).observer(Arc::clone(&observer));
        let address = "127.0.0.1:0".parse().expect("an address");
        let ops = change(builder).bind(address).await.expect("a free port");
        Self { ops, store, crew, observer }
    }

    pub fn address(&self) -> SocketAddr {
        self.ops.local_addr()
    }

    pub async fn get(&self, path: &str) -> Answered {
        ask(self.address(), "GET", path, &[], "").await
    }

    /// Asks as programs do: with JSON, and without what only browsers say.
    pub async fn send(&self, method: &str, path: &str, body: &str) -> Answered {
        ask(self.address(), method, path, &["content-type: application/json"], body).await
    }

    /// Submits jobs of one kind, and says their ids.
    pub async fn submit(&self, queue: &str, count: usize) -> Vec<String> {
        let jobs: Vec<Value> = (0..count)
            .map(|number| json!({"kind": "work", "payload": {"number": number}}))
            .collect();
        let path = format!("/api/v1/queues/{queue}/jobs");
        let answer = self.send("POST", &path, &Value::from(jobs).to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let ids = answer.json();
        let ids = ids.as_array().expect("a list").iter();
        ids.map(|job| job["id"].as_str().expect("an id").to_owned()).collect()
    }

    /// All that can be seen of queues and pools, to tell whether anything has changed.
    pub async fn everything(&self) -> String {
        let mut seen = self.get("/api/v1/queues").await.body;
        for state in headcount_queue::jobs::State::ALL {
            let page = self.get(&format!("/api/v1/queues/mail/jobs?state={state}")).await;
            seen.push_str(&page.body);
        }
        seen.push_str(&self.get("/api/v1/queues/mail/rules").await.body);
        seen.push_str(&self.get("/admin/extraction/embedding/config").await.body);
        seen.push_str(&self.get("/api/v1/pools/thumbs/throttling").await.body);
        seen + &self.crew.asked().join("\n")
    }
}
