//! The example service, as a process: it reloads on SIGHUP and on a change, and drains on SIGTERM.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{env, fs, process};

#[allow(dead_code, reason = "its `main` is for the example")]
#[path = "../../examples/service.rs"]
mod example;

/// Set in the process that plays the service, to the path of its file.
const PLAYS: &str = "HEADCOUNT_TEST_SERVICE";

/// Runs in a directory of its own, and is killed if a test fails.
struct Service {
    child: Child,
    told: BufReader<ChildStdout>,
    directory: PathBuf,
}

impl Service {
    fn start(name: &str, text: &str) -> Self {
        let directory = env::temp_dir().join(format!("headcount-{name}-{}", process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        fs::write(directory.join("headcount.yaml"), text).expect("a file");
        let mut child = Command::new(env::current_exe().expect("we run"))
            .args(["--exact", "service::plays_the_service", "--nocapture"])
            .env(PLAYS, directory.join("headcount.yaml"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("we can be run again");
        let told = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut service = Self { child, told, directory };
        // What the harness of the tests prints comes first.
        while service.line() != "ready" {}
        service
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(0 < self.told.read_line(&mut line).expect("it speaks"), "it has ended");
        line.trim_end().to_owned()
    }

    fn send(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().expect("there is a kill");
        assert!(sent.success());
    }

    fn write(&self, text: &str) {
        let beside = self.directory.join("new");
        fs::write(&beside, text).expect("a file");
        fs::rename(&beside, self.directory.join("headcount.yaml")).expect("in its place");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        fs::remove_dir_all(&self.directory).ok();
    }
}

/// Not a test: this is what the process does that the tests start.
#[test]
fn plays_the_service() {
    if let Some(path) = env::var_os(PLAYS) {
        example::serve(Path::new(&path)).expect("it ends well");
    }
}

#[test]
fn sigterm_drains_and_every_task_that_was_taken_in_has_run() {
    let mut service = Service::start("term", "pools: {work: {workers: {max: 4}}}");
    service.write("pools: {work: {preset: gopipe, workers: {max: 2}}}");
    assert!(service.line().starts_with("reloaded: Reload { added: 0, changed: 1"));
    service.write("pools: {work: {workers: {max: -2}}}");
    let refused = service.line();
    assert!(refused.starts_with("refused: ") && refused.contains("workers.max"), "{refused}");
    service.write("pools: {work: {workers: {max: 3}}}");
    let mut line = service.line();
    while !line.starts_with("reloaded: ") {
        line = service.line();
    }
    service.send("-TERM");
    let last = service.line();
    let numbers: Vec<u64> = last
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    let [accepted, ran, unrun] = numbers[..] else { panic!("{last}") };
    assert!(0 < accepted && accepted == ran && unrun == 0, "{last}");
    assert!(service.child.wait().expect("it ends").success());
}

#[test]
fn sighup_reads_the_file_again_and_ends_nothing() {
    let mut service = Service::start("hup", "pools: {work: {workers: {max: 4}}}");
    service.send("-HUP");
    service.send("-HUP");
    service.write("pools: {work: {workers: {max: 5}}}");
    assert!(service.line().starts_with("reloaded: "));
    service.send("-TERM");
    assert!(service.line().starts_with("accepted "));
}
