//! A watched file: put in place of another, swapped behind a link, wrong for a while, gone.

#![cfg(all(feature = "config", unix))]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use headcount::config::{Change, Reader, Registry, Watcher};

/// How long a change may take to be told of; far more than it should.
const DEADLINE: Duration = Duration::from_secs(60);

/// A directory of its own for each test, gone when it is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("headcount-watch-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory of one's own");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

fn file(max: u32) -> String {
    format!("pools: {{a: {{workers: {{max: {max}}}}}}}\n")
}

/// Writes a file at once: whoever looks sees the old one or the new one.
fn put(path: &Path, text: &str) {
    let fresh = path.with_extension("fresh");
    fs::write(&fresh, text).expect("it can be written");
    fs::rename(&fresh, path).expect("it can be put in place");
}

fn watch(path: &Path) -> (Watcher, Receiver<Change>) {
    let (sender, changes) = channel();
    let reader = Reader::new(&Registry::new());
    let started = Watcher::start(path, reader, move |change| drop(sender.send(change)));
    let (watcher, _reading) = started.expect("it can be watched");
    (watcher, changes)
}

/// The next change in a few words: the most workers, or what is wrong.
fn next(changes: &Receiver<Change>) -> String {
    match changes.recv_timeout(DEADLINE).expect("a change in time") {
        Change::New(reading) => format!("{:?}", reading.config.pools[0].policy.workers_max),
        Change::Refused(report) => report.findings()[0].advice.clone(),
        Change::Restored => "restored".to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_file_put_in_place_of_another_is_read() {
    let directory = Directory::new();
    let path = directory.path("pools.yaml");
    fs::write(&path, file(4)).unwrap();
    let (_watcher, changes) = watch(&path);
    for max in [5, 6] {
        put(&path, &file(max));
        assert_eq!(next(&changes), format!("Some({max})"));
    }
}

#[test]
fn a_config_map_is_read_when_its_link_is_swapped() {
    let directory = Directory::new();
    let version = |name: &str, max| {
        fs::create_dir(directory.path(name)).unwrap();
        fs::write(directory.path(name).join("pools.yaml"), file(max)).unwrap();
        let fresh = directory.path("..data_tmp");
        symlink(name, &fresh).unwrap();
        fs::rename(&fresh, directory.path("..data")).unwrap();
    };
    version("..2026_11_16_a", 4);
    let path = directory.path("pools.yaml");
    symlink("..data/pools.yaml", &path).unwrap();
    let (_watcher, changes) = watch(&path);
    version("..2026_11_16_b", 5);
    assert_eq!(next(&changes), "Some(5)");
    fs::remove_dir_all(directory.path("..2026_11_16_a")).unwrap();
    version("..2026_11_16_c", 6);
    assert_eq!(next(&changes), "Some(6)");
}

#[test]
fn a_wrong_file_changes_nothing_and_says_why() {
    let directory = Directory::new();
    let path = directory.path("pools.yaml");
    put(&path, &file(4));
    let (_watcher, changes) = watch(&path);
    put(&path, "pools: {a: {workers: {max: many}}}\n");
    assert!(next(&changes).starts_with("a whole number"));
    put(&path, &file(4));
    assert_eq!(next(&changes), "restored");
    put(&path, &file(5));
    assert_eq!(next(&changes), "Some(5)");
}

#[test]
fn a_file_that_is_gone_is_told_of_and_may_come_back() {
    let directory = Directory::new();
    let path = directory.path("pools.yaml");
    put(&path, &file(4));
    let (_watcher, changes) = watch(&path);
    fs::remove_file(&path).unwrap();
    assert!(next(&changes).starts_with("it cannot be opened"));
    put(&path, &file(7));
    assert_eq!(next(&changes), "Some(7)");
}

#[test]
fn what_says_the_same_is_no_change() {
    let directory = Directory::new();
    let path = directory.path("pools.yaml");
    put(&path, &file(4));
    let (watcher, changes) = watch(&path);
    put(&path, &format!("# the same in other words\n{}", file(4)));
    watcher.look();
    put(&path, &file(9));
    // Were the same told of, it would come first.
    assert_eq!(next(&changes), "Some(9)");
    drop(watcher);
    assert!(changes.recv().is_err(), "its thread has ended");
}

#[test]
fn a_hangup_asks_for_a_look() {
    let directory = Directory::new();
    let elsewhere = Directory::new();
    // A link through another link: nothing happens in the directories that are listened to.
    let (path, middle) = (directory.path("pools.yaml"), elsewhere.path("middle"));
    let versions = Directory::new();
    fs::create_dir(versions.path("one")).unwrap();
    fs::write(versions.path("one").join("pools.yaml"), file(4)).unwrap();
    fs::create_dir(versions.path("two")).unwrap();
    fs::write(versions.path("two").join("pools.yaml"), file(5)).unwrap();
    symlink(versions.path("one"), &middle).unwrap();
    symlink(middle.join("pools.yaml"), &path).unwrap();
    let (_watcher, changes) = watch(&path);
    let fresh = elsewhere.path("fresh");
    symlink(versions.path("two"), &fresh).unwrap();
    fs::rename(&fresh, &middle).unwrap();
    let pid = std::process::id().to_string();
    let status = Command::new("kill").args(["-HUP", &pid]).status().expect("a signal is sent");
    assert!(status.success());
    assert_eq!(next(&changes), "Some(5)");
}
