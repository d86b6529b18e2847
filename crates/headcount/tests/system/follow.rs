//! A system that follows its file: from the first moment on, and until it is drained.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use std::{env, fs, process};

use headcount::config::Registry;
use headcount::{Limiter, System};
use signal_hook::consts::SIGHUP;

use crate::parts::Licences;

/// How long something may take to be told of; far more than it should.
const DEADLINE: Duration = Duration::from_secs(25);

/// A file in a directory of its own, gone when it is dropped.
struct File(PathBuf);

impl File {
    fn new(text: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory =
            env::temp_dir().join(format!("headcount-system-{}-{number}", process::id()));
        fs::create_dir_all(&directory).expect("a directory of one's own");
        let file = Self(directory);
        file.put(text);
        file
    }

    fn path(&self) -> PathBuf {
        self.0.join("headcount.yaml")
    }

    fn put(&self, text: &str) {
        put(&self.path(), text);
    }
}

impl Drop for File {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// Writes a file at once: whoever looks sees the old one or the new one.
fn put(path: &Path, text: &str) {
    let fresh = path.with_extension("fresh");
    fs::write(&fresh, text).expect("it can be written");
    fs::rename(&fresh, path).expect("it can be put in place");
}

fn with_licences(count: u32) -> String {
    let guards = format!("{{registered: [{{type: licences, count: {count}}}]}}");
    format!("pools: {{a: {{workers: {{max: 8}}, guards: {guards}}}}}\n")
}

/// Waits until a file that says so was read.
fn wait_for(count: u64, read: &Receiver<u64>) {
    while read.recv_timeout(DEADLINE).expect("it is read in time") != count {}
}

#[test]
fn a_change_during_the_start_is_heeded() {
    let file = File::new(&with_licences(1));
    let (sender, read) = channel();
    let registry = Registry::new().guard("licences", move |options| {
        let count = options.count("count")?;
        sender.send(count).ok();
        match u32::try_from(count) {
            Ok(count) if 0 < count => Ok(Licences(count)),
            _ => Err("count is too small; allow one".to_owned()),
        }
    });
    let (tell, reloads) = channel();
    let path = file.path();
    let change = |builder| {
        // When the third is read, nobody was there to heed the first and the second.
        for count in [2, 0, 2] {
            file.put(&with_licences(count));
            wait_for(count.into(), &read);
        }
        builder
    };
    let system = System::follow_with(path, &registry, move |told| drop(tell.send(told)), change);
    let system = system.expect("no fault");
    loop {
        let told = reloads.recv_timeout(DEADLINE).expect("it is told in time");
        if told.is_ok_and(|reload| reload.changed == 1) {
            break;
        }
    }
    let options = &system.config().pools[0].plugs.guards[0].options;
    assert_eq!(options.count("count"), Ok(2));
}

#[test]
fn what_could_not_be_made_is_tried_again_on_sighup() {
    let file = File::new("pools: {a: {}}");
    let tries = Arc::new(AtomicU32::new(0));
    let tried = Arc::clone(&tries);
    let registry = Registry::new().resizable("connections", move |_| {
        match tried.fetch_add(1, Ordering::Relaxed) {
            0 => Err("nobody answers".to_owned()),
            _ => Ok(Arc::new(Limiter::new(4))),
        }
    });
    let (tell, reloads) = channel();
    let system = System::follow(file.path(), &registry, move |told| drop(tell.send(told)));
    let system = system.expect("no fault");
    file.put("pools: {a: {}, b: {type: connections}}");
    let error = reloads.recv_timeout(DEADLINE).expect("in time").expect_err("nobody answers");
    assert_eq!(error.to_string(), "pools.b: nobody answers");
    assert_eq!(system.names(), ["a"]);
    signal_hook::low_level::raise(SIGHUP).expect("it can be sent");
    let reload = reloads.recv_timeout(DEADLINE).expect("in time").expect("the second time it does");
    assert_eq!((reload.added, system.names().len()), (1, 2));
}

#[test]
fn a_drained_system_follows_nothing() {
    let file = File::new("pools: {a: {}}");
    let (tell, reloads) = channel();
    let system = System::follow(file.path(), &Registry::new(), move |told| drop(tell.send(told)));
    let system = system.expect("no fault");
    assert!(system.drain(DEADLINE).is_clean());
    file.put("pools: {b: {}}");
    let told = reloads.recv_timeout(DEADLINE).expect_err("nobody is told any more");
    assert_eq!(told, RecvTimeoutError::Disconnected, "there is nobody left to tell");
    assert!(system.names().is_empty());
}
