//! The demo ends by itself, with nothing lost.

use rustix::process::Signal;

use super::place::Place;

#[test]
fn the_demo_loses_nothing() {
    let place = Place::new();
    let said = place.told(&["demo", "--seconds", "4"]);
    assert!(said.contains(" tried again, 0 lost"), "{said}");
    let line = said.lines().find(|line| line.contains("jobs submitted")).expect("a summary");
    let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [submitted, done, retried, lost] = numbers[..] else { panic!("{line}") };
    assert_eq!((done, lost), (submitted, 0), "{said}");
    assert!(100 < submitted && retried == submitted / 20, "{said}");
}

#[test]
fn ctrl_c_ends_the_demo_and_cleans_up() {
    let place = Place::new();
    let demo = place.start(&["demo", "--seconds", "60"], "A store in ");
    let line = demo.said().to_owned();
    let directory = line["A store in ".len()..].split(',').next().expect("a directory").to_owned();
    assert!(std::path::Path::new(&directory).is_dir(), "{directory}");
    demo.signal(Signal::INT);
    let outcome = demo.wait();
    assert!(outcome.out.contains(", 0 lost"), "{} {}", outcome.out, outcome.err);
    assert!(!std::path::Path::new(&directory).exists(), "{directory}");
}
