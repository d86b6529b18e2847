//! Writes a configuration down again: all that is in force.

use headcount_core::Preset;
use headcount_pool::{Overflow, PanicPolicy};
use serde_json::{Map, Value as Json, json};

use super::form::{FILE, Kind, POOL, seconds_value, write};
use super::jobs::hide_secrets;
use super::place::{Format, Place};
use super::policy::fields_of;
use super::reader::Reading;
use super::tree::is_plain_word;
use super::types::{Config, Plugs, PoolConfig, PoolKind};
use crate::live::UtcOffset;

impl Config {
    /// All that is in force, as a file that reads back the same, passwords and all.
    ///
    /// # Errors
    ///
    /// When an option of somebody's own part has no form in TOML: nothing, or a number beyond 64
    /// bits with a sign.
    pub fn write(&self, format: Format) -> Result<String, String> {
        written(&self.to_file(), format, &|_| String::new())
    }

    /// The same as a value, in the long form and in the order of the table.
    pub(crate) fn to_file(&self) -> Json {
        let mut shared = Map::new();
        shared.insert("service".to_owned(), self.service.as_str().into());
        if let Some(budget) = self.budget {
            shared.insert("budget".to_owned(), json!({"workers_max": budget}));
        }
        let rules = serde_json::to_value(self.health.rules).unwrap_or_default();
        let interval = seconds_value(self.health.interval);
        shared.insert("health".to_owned(), json!({"interval": interval, "rules": rules}));
        if let Some(trace) = &self.trace {
            let trace = json!({
                "path": trace.path, "bytes_max": trace.bytes_max, "files_max": trace.files_max,
            });
            shared.insert("trace".to_owned(), trace);
        }
        if let Some(path) = &self.state {
            shared.insert("state".to_owned(), json!({"path": path}));
        }
        shared.extend(self.jobs.fields());
        let mut file = in_file_form(&Kind::Section(&FILE), shared);
        for queue in &self.jobs.queues {
            file["queues"][queue.name.as_str()]["pool"] = queue.pool.to_file().into();
        }
        let pools: Map<String, Json> =
            self.pools.iter().map(|pool| (pool.name.clone(), pool.to_file().into())).collect();
        if !pools.is_empty() {
            file.insert("pools".to_owned(), pools.into());
        }
        file.into()
    }
}

fn in_file_form(kind: &Kind, fields: Map<String, Json>) -> Map<String, Json> {
    match write(kind, &fields.into()) {
        Some(Json::Object(written)) => written,
        _ => Map::new(),
    }
}

impl PoolConfig {
    fn to_file(&self) -> Map<String, Json> {
        let mut fields = fields_of(&self.policy, &self.plugs);
        let mut set = |name: &str, value: Json| fields.insert(name.to_owned(), value);
        set("type", self.kind.name().into());
        if let PoolKind::Registered(plug) = &self.kind {
            set("options", plug.options.map().clone().into());
        } else if self.kind != PoolKind::Limiter {
            let overflow = overflow_value(self.queue.overflow);
            set("queue", json!({"len_max": self.queue.len_max, "overflow": overflow}));
            set("idle", seconds_value(self.idle));
            set("stack_size", self.stack_size.into());
            set("stuck_after", self.stuck_after.map(seconds_value).into());
            set("replace_stuck_max", self.replace_stuck_max.into());
            set("compensate_max", self.compensate_max.into());
            let aborts = self.panic == PanicPolicy::Abort;
            set("panic", if aborts { "abort" } else { "catch" }.into());
        }
        set("wait_budget", seconds_value(self.wait_budget));
        set("preset", self.preset.clone().into());
        let mut health = json!({"enabled": self.policy.guards.health.is_some()});
        if let Some(bounds) = self.health {
            (health["min"], health["max"]) = (bounds.min.into(), bounds.max.into());
        }
        set("health", health);
        let ceiling = self.ceiling.map(|ceiling| {
            json!({
                "cpu_per_worker": ceiling.cpu_per_worker,
                "bytes_per_worker": ceiling.bytes_per_worker,
            })
        });
        set("ceiling", ceiling.into());
        let share = self.share;
        set("share", json!({"weight": share.weight, "min": share.min, "priority": share.priority}));
        set("downstream", self.downstream.map(|name| name.to_string()).into());
        let clock = (self.utc_offset != UtcOffset::UTC).then(|| self.utc_offset.to_string());
        set("timezone", clock.into());
        fields["workers"]["initial"] = self.workers_initial.into();
        let mut written = in_file_form(&Kind::Section(&POOL), fields);
        if let Some(preset) = self.preset.as_deref().and_then(Preset::named) {
            let fields = fields_of(&preset.config(), &Plugs::default());
            take_away(&in_file_form(&Kind::Section(&POOL), fields), &mut written);
        }
        written
    }
}

/// What a preset has and the pool has not was taken away with a `null`, and must be again.
fn take_away(preset: &Map<String, Json>, own: &mut Map<String, Json>) {
    for (name, theirs) in preset {
        match (theirs, own.get_mut(name)) {
            (_, None) => drop(own.insert(name.clone(), Json::Null)),
            (Json::Object(theirs), Some(Json::Object(ours)))
                if theirs.get("type") == ours.get("type") =>
            {
                take_away(theirs, ours);
            }
            _ => {}
        }
    }
}

fn overflow_value(overflow: Overflow) -> Json {
    match overflow {
        Overflow::WaitFor(span) => json!({"wait_for": seconds_value(span)}),
        Overflow::Reject => "reject".into(),
        Overflow::DropOldest => "drop_oldest".into(),
        Overflow::DropNewest => "drop_newest".into(),
        Overflow::CallerRuns => "caller_runs".into(),
        _ => "wait".into(),
    }
}

impl Reading {
    /// All that is in force, of every pool or of one. In YAML each value says where it comes from.
    /// Passwords and tokens are not shown.
    ///
    /// # Errors
    ///
    /// When there is no such pool, or as [`Config::write`] says.
    pub fn show(&self, format: Format, pool: Option<&str>) -> Result<String, String> {
        let mut file = self.config.to_file();
        hide_secrets(&mut file);
        if let Some(name) = pool {
            let names = self.config.pools.iter().map(|pool| pool.name.as_str());
            let Some(shown) = file["pools"].get(name).cloned() else {
                let names = super::form::listed(names);
                return Err(format!("no pool is called {name:?}; there are {names}"));
            };
            file = json!({"pools": {name: shown}});
        }
        written(&file, format, &|path| match self.origin(path) {
            Place::File { line, .. } => format!("line {line}"),
            other => other.to_string(),
        })
    }
}

/// What to say behind the value at a path; nothing where it is empty.
type Remark<'a> = &'a dyn Fn(&str) -> String;

fn written(file: &Json, format: Format, remark: Remark<'_>) -> Result<String, String> {
    match format {
        Format::Json => Ok(format!("{file:#}\n")),
        Format::Toml => {
            toml::to_string_pretty(file).map_err(|error| format!("it has no form in TOML: {error}"))
        }
        Format::Yaml => {
            let mut yaml = Yaml { text: String::new(), remark };
            yaml.map(file.as_object().unwrap_or(&Map::new()), 0, "");
            Ok(yaml.text)
        }
    }
}

/// Writes block by block; what is short stands on one line.
struct Yaml<'a> {
    text: String,
    remark: Remark<'a>,
}

impl Yaml<'_> {
    fn map(&mut self, map: &Map<String, Json>, depth: usize, path: &str) {
        for (index, (key, value)) in map.iter().enumerate() {
            // The first field of an item stands behind its dash.
            if 0 < index || !self.text.ends_with("- ") {
                self.text.push_str(&"  ".repeat(depth));
            }
            self.text.push_str(&word(key));
            self.text.push(':');
            self.value(value, depth + 1, &super::tree::join(path, key));
        }
    }

    fn value(&mut self, value: &Json, depth: usize, path: &str) {
        match value {
            Json::Object(map) if !map.is_empty() => {
                self.text.push('\n');
                self.map(map, depth, path);
            }
            Json::Array(items) if items.iter().any(is_section) => {
                self.text.push('\n');
                for (index, item) in items.iter().enumerate() {
                    self.text.push_str(&"  ".repeat(depth));
                    self.text.push_str("- ");
                    let path = format!("{path}[{index}]");
                    match item {
                        Json::Object(map) if !map.is_empty() => self.map(map, depth + 1, &path),
                        other => self.line(&flow(other), &path),
                    }
                }
            }
            other => {
                self.text.push(' ');
                self.line(&flow(other), path);
            }
        }
    }

    fn line(&mut self, value: &str, path: &str) {
        self.text.push_str(value);
        let remark = (self.remark)(path);
        if !remark.is_empty() {
            self.text.push_str("  # ");
            self.text.push_str(&remark);
        }
        self.text.push('\n');
    }
}

fn is_section(value: &Json) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty())
}

/// A value on one line.
fn flow(value: &Json) -> String {
    match value {
        Json::String(text) => word(text),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Json::Object(map) => {
            let entry = |(key, value): (&String, &Json)| format!("{}: {}", word(key), flow(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A text, in quotes unless it can be nothing else.
fn word(text: &str) -> String {
    match is_plain_word(text) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// In double quotes, every letter that could be taken for a line's end escaped.
fn quoted(text: &str) -> String {
    let json = Json::from(text).to_string();
    let is_odd =
        |c: char| c.is_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    let escaped = |c: char| match is_odd(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(escaped).collect()
}
