//! What is recorded is read back the same.

use std::fmt::Debug;

use headcount_core::{Counters, Staffing};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::always;
use crate::life::{Life, chapters};
use crate::policies::{Known, sound};

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).expect("it can be written");
    let read: T = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(&read, value);
    // Equal is not the same: -0 equals 0.
    assert_eq!(format!("{read:?}"), format!("{value:?}"));
}

#[test]
fn a_written_policy_is_read_back_the_same() {
    always(&sound(), |Known { config, .. }| check(&config));
}

#[test]
fn a_recorded_life_is_read_back_the_same() {
    always(&(sound(), chapters(8)), |(Known { policy, .. }, chapters)| {
        let mut life = Life::of(&policy, Staffing::between(1, 9));
        for chapter in &chapters {
            let observation = life.observe(chapter);
            check(&observation);
            check(&life.decide(&observation));
        }
        check(&life.autoscaler.save());
        life.autoscaler.samples().for_each(check);
        check(&life.autoscaler.stats());
    });
}

#[test]
fn counters_from_before_there_were_as_many_are_read() {
    let text = r#"{"submitted":9,"started":7,"completed":6,"failed":2,"panicked":1,"rejected":1,
        "expired":1}"#;
    let read: Counters = serde_json::from_str(text).expect("what was not counted is 0");
    assert_eq!((read.submitted, read.expired, read.cancelled), (9, 1, 0));
    assert_eq!((read.dropped, read.returned), (0, 0));
}
