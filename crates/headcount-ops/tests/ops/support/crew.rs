//! Pools that remember what was asked of them.

use std::sync::Mutex;

use headcount_ops::{
    DecisionView, Held, PoolHealth, PoolTotals, PoolView, Pools, PoolsError, Scale, Throttling,
};

/// Two pools, `thumbs` and `mails`, that remember what was asked of them.
#[derive(Debug, Default)]
pub struct Crew {
    asked: Mutex<Vec<String>>,
    held: Mutex<Option<Held>>,
}

impl Crew {
    /// All that was to be changed, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("nobody panics with it").clone()
    }

    fn note(&self, name: &str, what: String) -> Result<(), PoolsError> {
        self.pool(name)?;
        self.asked.lock().expect("nobody panics with it").push(what);
        Ok(())
    }
}

impl Pools for Crew {
    fn pools(&self) -> Vec<PoolView> {
        ["mails", "thumbs"].into_iter().filter_map(|name| self.pool(name).ok()).collect()
    }

    fn pool(&self, name: &str) -> Result<PoolView, PoolsError> {
        match name {
            "thumbs" | "mails" => Ok(PoolView {
                name: name.to_owned(),
                state: "automatic".to_owned(),
                live: 3,
                busy: 2,
                demand: 7,
                target: 4,
                floor: 1,
                ceiling: 4,
                min: 1,
                max: 8,
                held: self.held.lock().expect("nobody panics with it").clone(),
                throttled_by_health: false,
                health: Some(PoolHealth {
                    score: 50.0,
                    zone: "warning".to_owned(),
                    measured_ms_ago: 1500,
                }),
                decision: Some("hold 4: wants 4 (all busy) -> bounds 4".to_owned()),
                decided_ms_ago: Some(10),
                totals: PoolTotals {
                    grows: 3,
                    shrinks: 2,
                    decisions: 20,
                    suppressed: 4,
                    throttled: 6,
                    panics: 1,
                },
            }),
            "bomb" => panic!("this pool always does that"),
            _ => Err(PoolsError::Unknown),
        }
    }

    fn why(&self, name: &str) -> Result<String, PoolsError> {
        self.pool(name).map(|_| "hold 4\n  wants 4 (all busy)".to_owned())
    }

    fn decisions(&self, name: &str, most: usize) -> Result<Vec<DecisionView>, PoolsError> {
        let decision = |number| DecisionView { ms_ago: number, ..DecisionView::default() };
        self.pool(name).map(|_| (0..5).map(decision).take(most).collect())
    }

    fn scale(&self, name: &str, scale: &Scale) -> Result<PoolView, PoolsError> {
        self.note(name, format!("{name} {scale:?}"))?;
        let hold = |workers| Held { workers, left_ms: None, reason: scale.reason.clone() };
        *self.held.lock().expect("nobody panics with it") = scale.workers.map(hold);
        self.pool(name)
    }

    fn policy(&self, name: &str) -> Result<String, PoolsError> {
        self.pool(name).map(|_| r#"{"workers_max":8}"#.to_owned())
    }

    fn set_policy(&self, name: &str, policy: &str) -> Result<(), PoolsError> {
        if policy.contains("wrong") {
            let faults = ["workers_min is 0", "tick is 0"].map(str::to_owned);
            return Err(PoolsError::Refused(faults.to_vec()));
        }
        self.note(name, format!("{name} policy {policy}"))
    }

    fn throttle(&self, name: &str, throttling: &Throttling) -> Result<(), PoolsError> {
        if name == "mails" && 40 < throttling.max_concurrency {
            return Err(PoolsError::Refused(vec!["workers_max is above 40".to_owned()]));
        }
        let Throttling { worker_concurrency: fixed, min_concurrency: min, .. } = throttling;
        let (max, on) = (throttling.max_concurrency, throttling.enable_adaptive_scaling);
        self.note(name, format!("{name} throttled {on}, {min} to {max}, else {fixed}"))
    }
}
