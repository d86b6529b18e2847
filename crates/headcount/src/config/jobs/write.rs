//! Writes stores and queues down again, as values of a file.

use headcount_core::jobs::{Backoff, Order, Retry, Rules};
use serde_json::{Map, Value as Json, json};

use super::types::{
    DurabilityConfig, HandlerConfig, HandlerRun, JobQueueConfig, JobsConfig, MissedTicks,
    ScheduleConfig, StoreConfig,
};
use crate::config::form::seconds_value;
use crate::config::secret::{HIDDEN, is_secret, without_credentials};

impl JobsConfig {
    /// The store and the queues without their pools, in the form of the check.
    pub(crate) fn fields(&self) -> Map<String, Json> {
        let mut fields = Map::new();
        if let Some(store) = &self.store {
            fields.insert("store".to_owned(), store.fields());
        }
        if !self.queues.is_empty() {
            let queue = |queue: &JobQueueConfig| (queue.name.to_string(), queue.fields());
            let queues: Map<String, Json> = self.queues.iter().map(queue).collect();
            fields.insert("queues".to_owned(), queues.into());
        }
        fields
    }
}

impl StoreConfig {
    fn fields(&self) -> Json {
        match self {
            Self::Redis { url } => json!({"url": url.with_credentials()}),
            Self::Embedded { path, durability: DurabilityConfig::Synced } => {
                json!({"path": path, "durability": "synced"})
            }
            Self::Embedded { path, durability: DurabilityConfig::Interval(interval) } => {
                let interval = seconds_value(*interval);
                json!({"path": path, "durability": "interval", "interval": interval})
            }
        }
    }
}

impl JobQueueConfig {
    fn fields(&self) -> Json {
        let handlers = self.handlers.iter().map(|h| (h.kind.to_string(), handler_fields(h)));
        let schedules = self.schedules.iter().map(|s| (s.name.to_string(), schedule_fields(s)));
        let mut fields = json!({
            "retry": retry_fields(&self.retry),
            "crashes_max": self.crashes_max,
            "timeout": self.timeout.map(seconds_value),
            "keep": seconds_value(self.keep),
        });
        if let Some(rules) = &self.rules {
            fields["rules"] = rules_fields(rules);
        }
        if !self.handlers.is_empty() {
            fields["handlers"] = handlers.collect::<Map<_, _>>().into();
        }
        if !self.schedules.is_empty() {
            fields["schedules"] = schedules.collect::<Map<_, _>>().into();
        }
        fields
    }
}

fn rules_fields(rules: &Rules) -> Json {
    let mut fields = serde_json::to_value(rules).unwrap_or_default();
    if let Order::Weighted(weights) = rules.order {
        fields["order"] = json!({"weighted": {"weights": weights}});
    }
    fields
}

fn retry_fields(retry: &Retry) -> Json {
    let backoff = match retry.backoff {
        Backoff::Fixed(wait) => json!({"fixed": seconds_value(wait)}),
        Backoff::Exponential { base, max } => {
            json!({"base": seconds_value(base), "max": seconds_value(max)})
        }
    };
    let budget = retry.budget.map(seconds_value);
    json!({"attempts_max": retry.attempts_max, "backoff": backoff, "budget": budget})
}

fn handler_fields(handler: &HandlerConfig) -> Json {
    let mut fields = match &handler.run {
        HandlerRun::Exec(exec) => {
            let mut fields = json!({
                "exec": exec.program,
                "dir": exec.dir,
                "snooze": seconds_value(exec.snooze),
                "grace": seconds_value(exec.grace),
            });
            if !exec.env.is_empty() {
                fields["env"] = json!(exec.env);
            }
            if !exec.dead_codes.is_empty() {
                fields["dead_codes"] = json!(exec.dead_codes);
            }
            fields
        }
        HandlerRun::Http(http) => {
            let mut fields = json!({"http": http.url});
            if !http.headers.is_empty() {
                fields["headers"] = json!(http.headers);
            }
            fields
        }
    };
    fields["timeout"] = handler.timeout.map(seconds_value).into();
    fields
}

fn schedule_fields(schedule: &ScheduleConfig) -> Json {
    let missed = match schedule.missed {
        MissedTicks::Once => "once",
        MissedTicks::Skip => "skip",
    };
    json!({
        "cron": schedule.cron,
        "timezone": schedule.timezone,
        "kind": schedule.kind.as_str(),
        "payload": serde_json::from_str::<Json>(&schedule.payload).unwrap_or_default(),
        "missed": missed,
    })
}

/// Takes out of a written file what must not be seen: passwords, tokens.
pub(crate) fn hide_secrets(file: &mut Json) {
    if let Some(url) = file.pointer_mut("/store/url") {
        let hidden = url.as_str().map(|text| without_credentials(text).into_owned());
        *url = hidden.into();
    }
    let queues = file.get_mut("queues").and_then(Json::as_object_mut);
    for queue in queues.into_iter().flat_map(Map::values_mut) {
        let handlers = queue.get_mut("handlers").and_then(Json::as_object_mut);
        for handler in handlers.into_iter().flat_map(Map::values_mut) {
            for name in ["env", "headers"] {
                hide_values(handler.get_mut(name));
            }
        }
    }
}

fn hide_values(map: Option<&mut Json>) {
    let entries = map.and_then(Json::as_object_mut).into_iter().flatten();
    for (_, value) in entries.filter(|(name, _)| is_secret(name)) {
        *value = HIDDEN.into();
    }
}
