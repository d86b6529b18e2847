//! The settings of health throttling, under the address that operators know.

use std::path::Path;
use std::sync::Arc;

use headcount_ops::{Ops, StartError};
use serde_json::json;

use crate::support::{Crew, Flaky, Stage};

const CONFIG: &str = "/admin/extraction/embedding/config";
const OWN: &str = "/api/v1/pools/thumbs/throttling";

async fn kept_in(path: &Path) -> Stage {
    Stage::with(|builder| builder.settings_file(path)).await
}

#[tokio::test]
async fn nothing_is_changed_until_somebody_says_so() {
    let stage = Stage::new().await;
    let expected = json!({
        "worker_concurrency": 10, "enable_adaptive_scaling": false, "min_concurrency": 1,
        "max_concurrency": 10, "set": false, "kept": false,
    });
    assert_eq!(stage.get(CONFIG).await.json(), expected);
    assert!(stage.crew.asked().is_empty());
}

#[tokio::test]
async fn a_change_reaches_every_pool_and_survives_a_restart() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("settings.json");
    let stage = kept_in(&path).await;
    let on = r#"{"enable_adaptive_scaling": true, "max_concurrency": 20}"#;
    let answer = stage.send("POST", CONFIG, on).await;
    let expected = json!({
        "worker_concurrency": 10, "enable_adaptive_scaling": true, "min_concurrency": 1,
        "max_concurrency": 20, "set": true, "kept": true, "pools": {"mails": null, "thumbs": null},
    });
    assert_eq!((answer.status, answer.json()), (200, expected));
    let told =
        ["mails throttled true, 1 to 20, else 10", "thumbs throttled true, 1 to 20, else 10"];
    assert_eq!(stage.crew.asked(), told);
    drop(stage);

    let stage = kept_in(&path).await;
    assert_eq!(stage.get(CONFIG).await.json()["max_concurrency"], 20);
    assert_eq!(stage.crew.asked(), told, "pools are told again when everything begins");

    // The way back, as the runbook has it: one field.
    let off = stage.send("POST", CONFIG, r#"{"enable_adaptive_scaling": false}"#).await.json();
    assert_eq!(
        (&off["enable_adaptive_scaling"], &off["max_concurrency"]),
        (&json!(false), &json!(20))
    );
}

#[tokio::test]
async fn a_pool_can_have_its_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("settings.json");
    let stage = kept_in(&path).await;
    stage.send("PUT", OWN, r#"{"enable_adaptive_scaling": true}"#).await;
    assert_eq!(stage.crew.asked(), ["thumbs throttled true, 1 to 10, else 10"]);
    assert_eq!(stage.get(CONFIG).await.json()["set"], json!(false));
    stage.send("POST", CONFIG, r#"{"worker_concurrency": 30}"#).await;
    assert_eq!(stage.crew.asked()[1..], ["mails throttled false, 1 to 10, else 30"]);
    drop(stage);

    let stage = kept_in(&path).await;
    let told =
        ["mails throttled false, 1 to 10, else 30", "thumbs throttled true, 1 to 10, else 10"];
    assert_eq!(stage.crew.asked(), told);
    let common = stage.send("DELETE", OWN, "").await.json();
    assert_eq!(common["worker_concurrency"], 30);
    assert_eq!(stage.crew.asked()[2..], ["thumbs throttled false, 1 to 10, else 30"]);
    assert_eq!(stage.get("/api/v1/pools/none/throttling").await.status, 404);
}

#[tokio::test]
async fn every_fault_is_told_at_once_and_nothing_changes() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("settings.json");
    let stage = kept_in(&path).await;
    let wrong = r#"{"min_concurrency": 0, "max_concurrency": 51, "worker_concurrency": "ten"}"#;
    let answer = stage.send("POST", CONFIG, wrong).await;
    assert_eq!(answer.status, 422);
    let said = answer.json();
    assert_eq!(
        said["faults"],
        json!([
            "worker_concurrency is \"ten\"; it must be a whole number",
            "min_concurrency is 0; it must be at least 1",
            "max_concurrency is 51; it must be at most 50",
        ]),
    );
    assert_eq!(said["example"]["max_concurrency"], 10, "what would be understood is shown");
    assert_eq!(stage.send("POST", CONFIG, "{").await.json()["example"]["min_concurrency"], 1);
    assert!(stage.crew.asked().is_empty());
    assert!(!path.exists());
}

#[tokio::test]
async fn a_pool_that_cannot_live_by_it_is_named() {
    let stage = Stage::new().await;
    let answer = stage.send("POST", CONFIG, r#"{"max_concurrency": 45}"#).await.json();
    let pools = json!({"mails": "workers_max is above 40", "thumbs": null});
    assert_eq!(answer["pools"], pools);
}

#[tokio::test]
async fn what_cannot_be_written_is_not_applied() {
    let directory = tempfile::tempdir().expect("a directory");
    let stage = kept_in(&directory.path().join("gone").join("settings.json")).await;
    let answer = stage.send("POST", CONFIG, r#"{"max_concurrency": 5}"#).await;
    assert_eq!(answer.status, 507);
    assert!(answer.error().contains("nothing was changed"), "{}", answer.body);
    assert!(stage.crew.asked().is_empty());
    assert_eq!(stage.get(CONFIG).await.json()["max_concurrency"], 10);
}

async fn check_refused(text: &str, said: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("settings.json");
    std::fs::write(&path, text).expect("a file");
    let builder = Ops::builder().store(Arc::new(Flaky::default())).pools(Arc::new(Crew::default()));
    let address = "127.0.0.1:0".parse().expect("an address");
    let error =
        builder.settings_file(&path).bind(address).await.expect_err("it is no file of ours");
    assert!(matches!(error, StartError::Settings(_)));
    assert!(error.to_string().contains(said), "{error}");
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), text, "it is left as it is");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_told_and_left_alone() {
    check_refused("", "mend or remove it").await;
    check_refused("{\"version\": 2}", "its version is 2, this reads 1").await;
    check_refused("{\"version\": 1, \"colour\": 1}", "unknown field `colour`").await;
    let crossed = r#"{"version": 1, "common": {"worker_concurrency": 1,
        "enable_adaptive_scaling": true, "min_concurrency": 9, "max_concurrency": 5}}"#;
    check_refused(crossed, "max_concurrency is 5; it must be at least min_concurrency").await;
}
