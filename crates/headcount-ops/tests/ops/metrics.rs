//! What `/metrics` says, read as strictly as Prometheus does.

#![allow(clippy::float_cmp, reason = "numbers are told to the digit")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use headcount_ops::{ALIASES, METRICS, Machine, MetricKind};

use crate::support::{Mood, Stage};

type Labels = BTreeMap<String, String>;

/// A scrape, read strictly.
struct Scrape {
    kinds: BTreeMap<String, String>,
    samples: Vec<(String, Labels, f64)>,
}

impl Scrape {
    /// Reads it. Whatever Prometheus would not take, and whatever it would take but mislead, fails.
    fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has an end");
        let (mut kinds, mut samples) = (BTreeMap::new(), Vec::new());
        let (mut helped, mut current) = (BTreeSet::new(), String::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("a help");
                assert!(help.ends_with('.'), "{line}");
                assert!(helped.insert(name.to_owned()), "{name} comes twice");
                continue;
            }
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a kind");
                assert!(helped.contains(name), "{name} has no help before its kind");
                kinds.insert(name.to_owned(), kind.to_owned());
                name.clone_into(&mut current);
                continue;
            }
            let (name, labels, value) = sample(line);
            let family = match kinds[&current].as_str() {
                "histogram" => ["_bucket", "_sum", "_count"]
                    .iter()
                    .find_map(|suffix| name.strip_suffix(suffix))
                    .expect("a part of a histogram"),
                _ => name.as_str(),
            };
            assert_eq!(family, current, "samples stand under their own head");
            let twice = samples.iter().any(|(n, l, _)| (n, l) == (&name, &labels));
            assert!(!twice, "twice: {line}");
            samples.push((name, labels, value));
        }
        Self { kinds, samples }
    }

    fn get(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let labels: Labels =
            labels.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let found = self.samples.iter().find(|(n, l, _)| n == name && *l == labels);
        found.unwrap_or_else(|| panic!("no {name} {labels:?}")).2
    }

    fn has(&self, name: &str) -> bool {
        self.kinds.contains_key(name)
    }
}

/// A line as name, labels and value.
fn sample(line: &str) -> (String, Labels, f64) {
    let (head, value) = line.rsplit_once(' ').expect("a value");
    let value = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
    let Some((name, labels)) = head.split_once('{') else {
        return (named(head), Labels::new(), value);
    };
    let labels = labels.strip_suffix('}').expect("an end of the labels");
    let mut read = Labels::new();
    for pair in labels.split("\",") {
        let (name, value) = pair.split_once("=\"").expect("a label");
        let value = value.strip_suffix('"').unwrap_or(value);
        assert!(!value.contains('"'), "{line}");
        assert_eq!(read.insert(named(name), value.to_owned()), None, "{line}");
    }
    (named(name), read, value)
}

fn named(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    assert!(!name.is_empty() && name.chars().all(plain), "{name:?} is no name");
    name.to_owned()
}

async fn scrape(stage: &Stage) -> Scrape {
    let answer = stage.get("/metrics").await;
    assert_eq!(answer.status, 200);
    let kind = answer.header("content-type").expect("a kind");
    assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
    Scrape::read(&answer.body)
}

/// A stage where every metric has something to say.
async fn busy() -> Stage {
    furnish(Stage::new().await).await
}

async fn furnish(stage: Stage) -> Stage {
    stage.observer.committed(Duration::from_millis(3));
    let ids = stage.submit("mail", 3).await;
    let cancel = format!("/api/v1/queues/mail/jobs/{}/cancel", ids[0]);
    stage.send("POST", &cancel, "").await;
    let (queue, kind) = ("mail".parse().expect("a name"), "work".parse().expect("a name"));
    for millis in [2, 40, 700] {
        stage.observer.started(&queue, &kind, Duration::from_millis(millis));
        stage.observer.finished(&queue, &kind, Duration::from_millis(10 * millis));
    }
    stage
}

#[tokio::test]
async fn every_metric_of_the_table_is_exposed_and_no_other() {
    let scrape = scrape(&busy().await).await;
    let exposed: Vec<&String> = scrape.kinds.keys().collect();
    let mut table: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    table.sort_unstable();
    assert_eq!(exposed, table);
    for metric in &METRICS {
        assert_eq!(scrape.kinds[metric.name], metric.kind.as_str());
        let is_counter = metric.kind == MetricKind::Counter;
        assert_eq!(metric.name.ends_with("_total"), is_counter, "{}", metric.name);
        assert!(!metric.name.contains("percent"), "{}", metric.name);
        assert!(metric.name.starts_with("headcount_"), "{}", metric.name);
    }
}

#[tokio::test]
async fn the_numbers_are_those_of_store_and_pools() {
    let stage = busy().await;
    let scrape = scrape(&stage).await;
    let queue = [("queue", "mail")];
    let in_state = |state| scrape.get("headcount_queue_jobs", &[queue[0], ("state", state)]);
    assert_eq!((in_state("ready"), in_state("cancelled"), in_state("dead")), (2.0, 1.0, 0.0));
    assert_eq!(scrape.get("headcount_jobs_submitted_total", &queue), 3.0);
    let cancelled = [queue[0], ("outcome", "cancelled")];
    assert_eq!(scrape.get("headcount_jobs_finished_total", &cancelled), 1.0);
    assert_eq!(scrape.get("headcount_store_connected", &[]), 1.0);
    assert_eq!(scrape.get("headcount_queues", &[]), 1.0);

    let pool = ("pool", "thumbs");
    let of = |name| scrape.get(&format!("headcount_pool_workers{name}"), &[pool]);
    let sizes = ["", "_busy", "_target", "_floor", "_demand", "_min", "_max"].map(of);
    assert_eq!(sizes, [3.0, 2.0, 4.0, 1.0, 7.0, 1.0, 8.0]);
    let resizes = |way| scrape.get("headcount_pool_resizes_total", &[pool, ("direction", way)]);
    assert_eq!((resizes("grow"), resizes("shrink")), (3.0, 2.0));
    let decided = |how| scrape.get("headcount_decisions_total", &[pool, ("outcome", how)]);
    let decided = ["applied", "suppressed", "unchanged"].map(decided);
    assert_eq!(decided, [5.0, 4.0, 11.0]);
    let zone = |zone| scrape.get("headcount_health_zone", &[pool, ("zone", zone)]);
    assert_eq!(["safe", "warning", "critical"].map(zone), [0.0, 1.0, 0.0]);
    assert_eq!(scrape.get("headcount_health_sample_age_seconds", &[pool]), 1.5);
}

#[tokio::test]
async fn times_of_jobs_are_told_in_buckets() {
    let scrape = scrape(&busy().await).await;
    let labels = [("queue", "mail"), ("kind", "work")];
    let at_most = |limit| {
        let labels = [labels[0], labels[1], ("le", limit)];
        scrape.get("headcount_job_wait_seconds_bucket", &labels)
    };
    let counts = ["0.001", "0.0025", "0.05", "0.5", "1", "+Inf"].map(at_most);
    assert_eq!(counts, [0.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    assert_eq!(scrape.get("headcount_job_wait_seconds_count", &labels), 3.0);
    assert_eq!(scrape.get("headcount_job_wait_seconds_sum", &labels), 0.742);
    assert_eq!(scrape.get("headcount_job_run_seconds_sum", &labels), 7.42);
}

/// A stage that tells the other names too, of a machine like this.
async fn with_aliases(machine: Machine) -> Scrape {
    let stage = Stage::with(|builder| builder.aliases(move || machine)).await;
    scrape(&furnish(stage).await).await
}

#[tokio::test]
async fn other_names_are_told_beside_ours_where_they_are_wanted() {
    let load = Some([3.5, 2.0, 1.25]);
    let (memory, db_pool) = (Some(0.5), Some(0.75));
    let scrape = with_aliases(Machine { io_wait: Some(0.125), load, memory, db_pool }).await;
    let mut told: Vec<&str> = METRICS.iter().chain(&ALIASES).map(|metric| metric.name).collect();
    told.sort_unstable();
    assert_eq!(scrape.kinds.keys().collect::<Vec<_>>(), told);
    for alias in &ALIASES {
        assert_eq!(scrape.kinds[alias.name], alias.kind.as_str());
    }
    assert_eq!(scrape.get("system_health_score", &[("zone", "warning")]), 50.0);
    assert_eq!(scrape.get("system_io_wait_percent", &[]), 12.5);
    assert_eq!(scrape.get("system_memory_utilization_percent", &[]), 50.0);
    assert_eq!(scrape.get("system_db_pool_utilization_percent", &[]), 75.0);
    assert_eq!(scrape.get("system_cpu_load_avg", &[("period", "15m")]), 1.25);
    let thumbs = ("worker_type", "thumbs");
    assert_eq!(scrape.get("extraction_worker_current_concurrency", &[thumbs]), 4.0);
    assert_eq!(scrape.get("extraction_jobs_throttled_total", &[thumbs]), 6.0);
    let adjusted = |way| {
        let labels = [thumbs, ("direction", way), ("reason", "decision")];
        scrape.get("extraction_worker_concurrency_adjustments_total", &labels)
    };
    assert_eq!((adjusted("increase"), adjusted("decrease")), (3.0, 2.0));
}

#[tokio::test]
async fn what_nobody_measured_has_no_other_name_either() {
    let scrape = with_aliases(Machine::default()).await;
    assert!(!scrape.has("system_io_wait_percent") && !scrape.has("system_cpu_load_avg"));
    assert!(scrape.has("extraction_worker_current_concurrency"));
}

#[tokio::test]
async fn a_store_that_commits_nothing_tells_no_times_of_it() {
    let stage = Stage::new().await;
    assert!(!scrape(&stage).await.has("headcount_store_commit_seconds"));
    stage.observer.committed(Duration::from_millis(3));
    let scrape = scrape(&stage).await;
    assert_eq!(scrape.get("headcount_store_commit_seconds_count", &[]), 1.0);
    assert_eq!(scrape.get("headcount_store_commit_seconds_sum", &[]), 0.003);
}

async fn check_gone(mood: Mood, said: &str) {
    let stage = busy().await;
    stage.store.be(mood);
    let begun = Instant::now();
    let scrape = scrape(&stage).await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{mood:?} took {:?}", begun.elapsed());
    assert_eq!(scrape.get("headcount_store_connected", &[]), 0.0);
    assert!(!scrape.has("headcount_queue_jobs"), "what is not known is not told");
    assert_eq!(scrape.get("headcount_pool_workers", &[("pool", "thumbs")]), 3.0);

    let ready = stage.get("/ready").await;
    assert_eq!((ready.status, ready.error().contains(said)), (503, true), "{}", ready.body);
    assert_eq!(stage.get("/healthz").await.status, 200);
    stage.store.be(Mood::Fine);
    assert_eq!(stage.get("/ready").await.status, 200);
}

#[tokio::test]
async fn without_its_store_it_lives_and_says_that_it_is_not_ready() {
    check_gone(Mood::Away, "the store does not answer: the cable is out").await;
    check_gone(Mood::Mute, "the store did not answer within 1s").await;
}

#[tokio::test]
async fn queues_beyond_the_limit_are_counted_and_not_shown() {
    let stage = Stage::new().await;
    for number in 0..260 {
        stage.submit(&format!("queue-{number:03}"), 1).await;
    }
    let scrape = scrape(&stage).await;
    assert_eq!(scrape.get("headcount_queues", &[]), 260.0);
    let shown = scrape.samples.iter().filter(|sample| sample.0 == "headcount_queue_paused").count();
    assert_eq!(shown, 256);
}

#[tokio::test]
async fn answers_are_counted() {
    let stage = Stage::new().await;
    stage.get("/nothing").await;
    stage.get("/healthz").await;
    let scrape = scrape(&stage).await;
    let code = |code| scrape.get("headcount_http_responses_total", &[("code", code)]);
    assert_eq!((code("2xx"), code("4xx"), code("5xx")), (1.0, 1.0, 0.0));
}
