//! Queues, jobs and pools over real sockets, by effect.

use crate::support::{self, Stage};
use headcount_queue::jobs::port::{Backend as _, Ending, LeaseAsk, Settlement};
use headcount_queue::jobs::{Holder, Label};
use serde_json::{Value, json};
use std::time::Duration;

const JOBS: &str = "/api/v1/queues/mail/jobs";

/// Takes jobs as a consumer does, and ends each in the same way.
async fn work(stage: &Stage, jobs_max: usize, ending: Ending) {
    let queue: Label = "mail".parse().expect("a name");
    let (holder, ttl) = (Holder::new(7), Duration::from_secs(60));
    let ask = LeaseAsk { holder, ttl, jobs_max };
    let leased = stage.store.lease(&queue, ask).await.expect("a store in memory");
    let settled = leased.jobs.iter().map(|job| {
        let ending = ending.clone();
        Settlement { id: job.id, epoch: leased.epoch, ending }
    });
    let settled = stage.store.settle(&queue, holder, settled.collect()).await;
    settled.expect("a store in memory");
}

fn dead() -> Ending {
    Ending::Dead { error: "no such address".to_owned() }
}

async fn count(stage: &Stage, state: &str) -> u64 {
    let queue = stage.get("/api/v1/queues/mail").await.json();
    queue["jobs"][state].as_u64().expect("a number")
}

#[tokio::test]
async fn a_job_is_shown_as_it_was_submitted() {
    let stage = Stage::new().await;
    let job = json!({
        "id": "0".repeat(31) + "1", "kind": "welcome", "payload": {"to": ["a", 1.5]},
        "priority": 2, "tenant": "acme", "key": "account 17", "delay_ms": 60_000,
        "unique": {"key": "welcome 17", "for_ms": 1000}, "after": [], "dependence": "end",
        "attempts_max": 3, "timeout_ms": 5000, "keep_ms": 1000, "crashes_max": 2,
    });
    let answer = stage.send("POST", JOBS, &job.to_string()).await;
    assert_eq!(answer.json(), json!([{"id": "0".repeat(31) + "1", "outcome": "new"}]));
    let again = stage.send("POST", JOBS, &job.to_string()).await.json();
    assert_eq!(again[0]["outcome"], "existing", "a submit whose answer was lost is repeated");

    let shown = stage.get(&format!("{JOBS}/{}1", "0".repeat(31))).await.json();
    let at = shown["submitted_at_ms"].as_u64().expect("a time");
    let expected = json!({
        "id": "0".repeat(31) + "1", "queue": "mail", "kind": "welcome", "state": "scheduled",
        "priority": 2, "tenant": "acme", "key": "account 17", "attempts": 0, "crashes": 0,
        "preemptions": 0, "submitted_at_ms": at, "due_at_ms": at + 60_000, "started_at_ms": null,
        "ended_at_ms": null, "progress": null, "error": null, "payload": {"to": ["a", 1.5]},
        "result": null,
    });
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn what_ends_is_shown_with_its_result_or_its_error() {
    let stage = Stage::new().await;
    let kept = r#"{"kind": "work", "keep_ms": 60000}"#;
    let id = stage.send("POST", JOBS, kept).await.json()[0]["id"].clone();
    work(&stage, 1, Ending::Done { result: Some(b"\xff".to_vec()) }).await;
    let shown = stage.get(&format!("{JOBS}/{}", id.as_str().expect("an id"))).await.json();
    assert_eq!((&shown["state"], &shown["result"]), (&json!("done"), &json!({"base64": "/w=="})));
    assert_eq!(shown["payload"], Value::Null);

    let id = &stage.submit("mail", 1).await[0];
    work(&stage, 1, dead()).await;
    let shown = stage.get(&format!("{JOBS}/{id}")).await.json();
    assert_eq!((&shown["state"], &shown["attempts"]), (&json!("dead"), &json!(1)));
    assert_eq!(shown["error"], "no such address");
}

#[tokio::test]
async fn several_jobs_are_taken_together_or_not_at_all() {
    let stage = Stage::new().await;
    let jobs = r#"[{"kind": "a"}, {"kind": "b", "attempts_max": 0}, {"kind": "c", "id": "7",
        "delay_ms": 1, "at_ms": 1}]"#;
    let answer = stage.send("POST", JOBS, jobs).await;
    assert_eq!(answer.status, 422);
    let faults = answer.json()["faults"].clone();
    assert_eq!(
        faults,
        json!([
            "job 2: attempts_max is 0, so it would never run; say 1 for a single try",
            "job 3: \"7\" is no id; ids are 32 characters of 0-9 and a-f",
            "job 3: delay_ms and at_ms exclude each other; say one of them",
        ]),
    );
    assert_eq!(stage.get("/api/v1/queues").await.json(), json!([]));
    assert_eq!(stage.submit("mail", 3).await.len(), 3);
    assert_eq!(count(&stage, "ready").await, 3);
}

#[track_caller]
fn check_said(answer: &support::Answered, status: u16, said: &str) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert!(answer.error().contains(said), "{} does not say {said}", answer.body);
}

#[tokio::test]
async fn bad_input_is_told_in_a_sentence() {
    let stage = Stage::new().await;
    stage.submit("mail", 1).await;
    let table = [
        ("POST", JOBS, "{", 400, "no job and no list of jobs"),
        ("POST", JOBS, "", 400, "no job and no list of jobs"),
        ("POST", JOBS, "[1]", 400, "no job and no list of jobs"),
        ("POST", JOBS, r#"{"kind": "Big"}"#, 400, "holds 'B'"),
        ("POST", JOBS, r#"{"kind": "a", "colour": 1}"#, 400, "unknown field `colour`"),
        ("POST", JOBS, r#"{"kind": "a", "priority": 10}"#, 400, "priority 10 is beyond 9"),
        ("POST", "/api/v1/queues/Mail/jobs", r#"{"kind": "a"}"#, 400, "holds 'M'"),
        ("GET", "/api/v1/queues/mail/jobs?state=lost", "", 400, "states are blocked, scheduled"),
        ("GET", "/api/v1/queues/mail/jobs?limit=1001", "", 400, "from 1 to 1000"),
        ("GET", "/api/v1/queues/mail/jobs?limit=0", "", 400, "from 1 to 1000"),
        ("GET", "/api/v1/queues/mail/jobs?page=2", "", 400, "known are state, limit, cursor"),
        ("GET", "/api/v1/queues/mail/jobs/17", "", 400, "\"17\" is no id"),
        ("GET", "/api/v1/queues/none", "", 404, "no queue \"none\""),
        ("POST", "/api/v1/queues/none/pause", "", 404, "no queue \"none\""),
        ("POST", "/api/v1/queues/mail/pause", "[]", 400, "takes no body"),
        ("POST", "/api/v1/queues/mail/retry", r#"{"state": "x"}"#, 400, "is no state of a job"),
        ("POST", "/api/v1/queues/mail/retry", "{}", 400, "missing field `state`"),
        ("PUT", "/api/v1/queues/mail/rules", r#"{"running_max": 0}"#, 422, "running_max is 0"),
        ("PUT", "/api/v1/queues/mail/rules", r#"{"runing": 0}"#, 400, "unknown field `runing`"),
        ("GET", "/api/v1/pools/none", "", 404, "no pool of that name"),
        ("POST", "/api/v1/pools/thumbs/scale", "{}", 400, "missing field `workers`"),
        ("POST", "/api/v1/pools/thumbs/scale", r#"{"workers": -1}"#, 400, "invalid value"),
        (
            "POST",
            "/api/v1/pools/thumbs/scale",
            r#"{"workers": 1, "for_s": 0}"#,
            400,
            "for_s must be from 1 to 2592000",
        ),
        ("PUT", "/api/v1/pools/thumbs/policy", "\"wrong\"", 422, "workers_min is 0; tick is 0"),
    ];
    for (method, path, body, status, said) in table {
        check_said(&stage.send(method, path, body).await, status, said);
    }
    assert_eq!(count(&stage, "ready").await, 1, "nothing came of any of it");
    assert!(stage.crew.asked().is_empty());
}

#[tokio::test]
async fn payloads_have_a_limit_and_a_depth() {
    let stage = Stage::new().await;
    let large = format!(r#"{{"kind": "a", "payload": "{}"}}"#, "x".repeat(1 << 20));
    let answer = stage.send("POST", JOBS, &large).await;
    check_said(&answer, 422, "the payload has 1048578 bytes, allowed are 1048576");
    let fits = format!(r#"{{"kind": "a", "payload": "{}"}}"#, "x".repeat((1 << 20) - 2));
    assert_eq!(stage.send("POST", JOBS, &fits).await.status, 200);
    let deep = format!(r#"{{"kind": "a", "payload": {}1{}}}"#, "[".repeat(9000), "]".repeat(9000));
    check_said(&stage.send("POST", JOBS, &deep).await, 422, "recursion limit exceeded");

    let listed = stage.get(JOBS).await.json();
    assert_eq!(listed["jobs"][0]["payload"], json!({"bytes": 1 << 20}), "a list stays short");
}

#[tokio::test]
async fn too_many_jobs_at_once_are_refused() {
    let stage = Stage::new().await;
    let jobs = vec![json!({"kind": "a"}); 1001];
    let answer = stage.send("POST", JOBS, &Value::from(jobs).to_string()).await;
    check_said(&answer, 413, "1001 jobs at once, allowed are 1000");
}

#[tokio::test]
async fn a_full_queue_says_so() {
    let stage = Stage::new().await;
    let rules = stage.send("PUT", "/api/v1/queues/mail/rules", r#"{"waiting_max": 2}"#).await;
    assert_eq!((rules.status, &rules.json()["waiting_max"]), (200, &json!(2)));
    assert_eq!(stage.get("/api/v1/queues/mail/rules").await.json()["waiting_max"], json!(2));
    stage.submit("mail", 2).await;
    let answer = stage.send("POST", JOBS, r#"{"kind": "a"}"#).await;
    check_said(&answer, 429, "the queue is full");
    assert_eq!(answer.header("retry-after").as_deref(), Some("1"));
}

#[tokio::test]
async fn a_list_goes_on_where_the_page_before_ended() {
    let stage = Stage::new().await;
    let mut ids = stage.submit("mail", 5).await;
    let mut seen = Vec::new();
    let mut path = format!("{JOBS}?limit=2");
    for _ in 0..5 {
        let page = stage.get(&path).await.json();
        let jobs = page["jobs"].as_array().expect("a list").clone();
        assert!(jobs.len() <= 2);
        seen.extend(jobs.iter().map(|job| job["id"].as_str().expect("an id").to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("{JOBS}?limit=2&cursor={}", percent(next));
    }
    ids.sort();
    seen.sort();
    assert_eq!(seen, ids);
}

fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"))
}

#[tokio::test]
async fn a_queue_is_paused_resumed_and_purged() {
    let stage = Stage::new().await;
    stage.submit("mail", 3).await;
    let queue = "/api/v1/queues/mail";
    assert_eq!(stage.send("POST", &format!("{queue}/pause"), "").await.status, 200);
    assert_eq!(stage.get(queue).await.json()["paused"], json!(true));
    work(&stage, 9, dead()).await;
    assert_eq!(count(&stage, "ready").await, 3, "nothing was handed out");
    assert_eq!(stage.send("POST", &format!("{queue}/resume"), "{}").await.status, 200);
    work(&stage, 1, dead()).await;
    assert_eq!(count(&stage, "dead").await, 1);
    let purged = stage.send("POST", &format!("{queue}/purge"), "").await.json();
    assert_eq!(purged, json!({"queue": "mail", "jobs": 2}));
    assert_eq!((count(&stage, "ready").await, count(&stage, "dead").await), (0, 1));
}

#[tokio::test]
async fn one_job_is_retried_cancelled_and_deleted() {
    let stage = Stage::new().await;
    let id = stage.submit("mail", 1).await.remove(0);
    let job = format!("{JOBS}/{id}");
    work(&stage, 1, dead()).await;
    assert_eq!(stage.send("POST", &format!("{job}/retry"), "").await.status, 200);
    assert_eq!(stage.get(&job).await.json()["state"], "ready");
    assert_eq!(stage.send("POST", &format!("{job}/cancel"), "").await.status, 200);
    assert_eq!(stage.get(&job).await.json()["state"], "cancelled");
    let again = stage.send("POST", &format!("{job}/cancel"), "").await;
    check_said(&again, 409, "is cancelled, so this cannot be done to it");
    assert_eq!(support::ask(stage.address(), "DELETE", &job, &[], "").await.status, 200);
    check_said(&stage.get(&job).await, 404, "there is no job");
    check_said(&stage.send("POST", &format!("{job}/retry"), "").await, 404, "there is no job");
}

#[tokio::test]
async fn all_jobs_of_a_state_are_steered_at_once() {
    let stage = Stage::new().await;
    stage.submit("mail", 1000).await;
    stage.submit("mail", 205).await;
    for _ in 0..13 {
        work(&stage, 100, dead()).await;
    }
    let queue = "/api/v1/queues/mail";
    for (act, state, left) in
        [("retry", "dead", "ready"), ("cancel", "ready", "cancelled"), ("delete", "cancelled", "")]
    {
        let body = json!({"state": state}).to_string();
        let answer = stage.send("POST", &format!("{queue}/{act}"), &body).await.json();
        assert_eq!(answer, json!({"queue": "mail", "jobs": 1205, "more": false}), "{act}");
        assert_eq!(count(&stage, state).await, 0, "{act}");
        if !left.is_empty() {
            assert_eq!(count(&stage, left).await, 1205, "{act}");
        }
    }
}

#[tokio::test]
async fn pools_are_shown_and_steered() {
    let stage = Stage::new().await;
    let pools = stage.get("/api/v1/pools").await.json();
    let names: Vec<&Value> = pools.as_array().expect("a list").iter().map(|p| &p["name"]).collect();
    assert_eq!(names, ["mails", "thumbs"]);
    let pool = stage.get("/api/v1/pools/thumbs").await.json();
    let told = ["live", "busy", "demand", "target", "floor", "ceiling", "min", "max"];
    let told = told.map(|name| pool[name].as_u64().expect("a number"));
    assert_eq!(told, [3, 2, 7, 4, 1, 4, 1, 8]);
    let why = stage.get("/api/v1/pools/thumbs/why").await.json();
    assert_eq!(why["why"], "hold 4\n  wants 4 (all busy)");
    let decisions = stage.get("/api/v1/pools/thumbs/decisions?limit=2").await.json();
    assert_eq!(decisions.as_array().map(Vec::len), Some(2));
    assert_eq!(stage.get("/api/v1/pools/thumbs/policy").await.body, r#"{"workers_max":8}"#);

    let scale = r#"{"workers": 6, "for_s": 600, "reason": "the sale"}"#;
    let held = stage.send("POST", "/api/v1/pools/thumbs/scale", scale).await.json();
    assert_eq!(held["held"]["workers"], 6);
    let free = stage.send("POST", "/api/v1/pools/thumbs/scale", r#"{"workers": null}"#).await;
    assert_eq!(free.json()["held"], Value::Null);
    let put = stage.send("PUT", "/api/v1/pools/thumbs/policy", r#"{"workers_max": 9}"#).await;
    assert_eq!(put.status, 200);
    assert_eq!(
        stage.crew.asked(),
        [
            "thumbs Scale { workers: Some(6), span: Some(600s), reason: Some(\"the sale\") }",
            "thumbs Scale { workers: None, span: None, reason: None }",
            "thumbs policy {\"workers_max\": 9}",
        ],
    );
}
