//! Who starts the nodes of a storm, kills them, and judges it when it is over.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use headcount::jobs::Queue;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::checker::{Findings, Promises, check};
use super::history::{Entry, What, read};
use super::node::{GRACE, ORDERS, Orders, QUEUE, Wave, job_id, quiet};
use super::store;
use super::witness::{later, now};

/// How long a storm may take to become quiet once nobody is killed any more.
const QUIET_MAX: Duration = Duration::from_secs(60);

/// What every store promises. Ten seconds in which a lease runs out and is noticed, and two more
/// for a machine that has other things to do.
pub(crate) const PROMISES: Promises = Promises {
    recovery_max: Duration::from_secs(12),
    grace: Duration::from_secs(GRACE.as_secs() + 2),
    lost_max: 0,
};

/// A storm: a directory for diaries, and the nodes that live.
pub(crate) struct Storm {
    pub(crate) directory: TempDir,
    store: String,
    wave: Wave,
    nodes: Vec<Node>,
    kills: Vec<Entry>,
    chance: u64,
}

/// A process, and what it was started for.
pub(crate) struct Node {
    child: Child,
    orders: Orders,
}

impl Node {
    /// Unless it has ended by itself.
    fn tell_to_stop(&mut self) {
        if self.child.try_wait().expect("its own child").is_none() {
            kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it is not waited for");
        }
    }
}

impl Storm {
    pub(crate) fn new(directory: TempDir, store: String, wave: Wave) -> Self {
        let seed = 0x2545_f491_4f6c_dd1d;
        Self { directory, store, wave, nodes: Vec::new(), kills: Vec::new(), chance: seed }
    }

    pub(crate) fn orders(&self) -> Orders {
        Orders {
            directory: self.directory.path().into(),
            store: self.store.clone(),
            submit: (0, 0),
            works: false,
            leaves: false,
            restless: false,
            wave: self.wave,
        }
    }

    pub(crate) fn start(&mut self, orders: Orders) {
        let child = spawned(&orders);
        self.nodes.push(Node { child, orders });
    }

    /// A number below `limit`, by a chance that is the same in every run.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance % limit
    }

    /// Kills one of the nodes and starts another in its place.
    pub(crate) fn strike(&mut self) {
        let victim = usize::try_from(self.below(self.nodes.len() as u64)).expect("few nodes");
        let mut node = self.nodes.swap_remove(victim);
        let ended = node.child.try_wait().expect("its own child");
        if ended.is_none() {
            let entry = Entry { at: now(), pid: node.child.id(), what: What::Killed };
            self.kills.push(entry);
            node.child.kill().expect("it runs");
        }
        node.child.wait().expect("it was killed");
        self.start_again(node.orders);
    }

    /// The process that follows one that ended: it submits what nobody has heard of.
    fn start_again(&mut self, orders: Orders) {
        let (from, to) = orders.submit;
        let accepted = self.accepted();
        let from = (from..to).find(|number| !accepted(*number)).unwrap_or(to);
        self.start(Orders { submit: (from, to), ..orders });
    }

    fn accepted(&self) -> impl Fn(u64) -> bool + use<> {
        let mut known = std::collections::BTreeSet::new();
        for entry in self.entries() {
            if let What::Accepted(id) = entry.what {
                known.insert(id);
            }
        }
        move |number| known.contains(&job_id(number))
    }

    fn entries(&self) -> Vec<Entry> {
        let files = fs::read_dir(self.directory.path()).expect("a directory");
        let files = files.map(|file| file.expect("an entry").path());
        let histories = files.filter(|path| path.extension().is_some_and(|end| end == "history"));
        let mut texts: Vec<String> =
            histories.map(|path| fs::read_to_string(path).expect("a history")).collect();
        let kills: Vec<String> = self.kills.iter().map(ToString::to_string).collect();
        texts.push(kills.join("\n") + "\n");
        read(&texts).expect("histories can be read")
    }

    /// Sends a signal to every node.
    pub(crate) fn signal(&self, signal: Signal) {
        for node in &self.nodes {
            let pid = Pid::from_child(&node.child);
            kill_process(pid, signal).expect("it was started here and not waited for");
        }
    }

    /// Starts nodes again that took themselves away, until `over`.
    pub(crate) fn revive_until(&mut self, mut over: impl FnMut(&mut Self) -> bool) {
        while !over(self) {
            for at in (0..self.nodes.len()).rev() {
                let ended = self.nodes[at].child.try_wait().expect("its own child");
                if ended.is_some_and(|status| !status.success()) {
                    let node = self.nodes.swap_remove(at);
                    let entry = Entry { at: now(), pid: node.child.id(), what: What::Killed };
                    self.kills.push(entry);
                    self.start_again(node.orders);
                }
            }
            pause(Duration::from_millis(20));
        }
    }

    /// Waits until every node has ended, and starts another in the place of each.
    pub(crate) fn revive_all(&mut self) {
        let begin = Instant::now();
        while !self.gone() {
            assert!(begin.elapsed() < QUIET_MAX, "nodes do not stop");
            pause(Duration::from_millis(10));
        }
        for node in std::mem::take(&mut self.nodes) {
            self.start_again(node.orders);
        }
    }

    /// Whether every node has ended well by itself.
    pub(crate) fn gone(&mut self) -> bool {
        let mut nodes = self.nodes.iter_mut();
        nodes.all(|node| {
            let ended = node.child.try_wait().expect("its own child");
            ended.is_some_and(|status| status.success())
        })
    }

    /// Waits until all jobs have ended, stops the nodes, and judges what happened.
    pub(crate) fn judge(mut self, promises: Promises) -> Findings {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let shared = self.store.starts_with("redis://");
        if shared {
            runtime.block_on(until_quiet(&self.store));
            self.signal(Signal::TERM);
        }
        let begin = Instant::now();
        let mut ended = self.kills.len();
        self.revive_until(|storm| {
            assert!(begin.elapsed() < QUIET_MAX, "nodes do not stop");
            // One that was told before it could listen died of it. Whoever came in its place has
            // not been told.
            if shared && ended < storm.kills.len() {
                ended = storm.kills.len();
                storm.nodes.iter_mut().for_each(Node::tell_to_stop);
            }
            storm.gone()
        });
        let last = runtime.block_on(async {
            let store = store::open_in_time(&self.store).await;
            store::last(&*store, &QUEUE.parse().expect("a name")).await
        });
        let findings = check(&self.entries(), &last, promises);
        if !findings.broken.is_empty() {
            self.directory.disable_cleanup(true);
            let kept = self.directory.path().display();
            panic!("{findings}\n{:#?}\nthe histories are in {kept}", findings.broken);
        }
        findings
    }
}

async fn until_quiet(store: &str) {
    let store = store::open_in_time(store).await;
    let queue = Queue::new(store, QUEUE).expect("a name");
    let begin = Instant::now();
    while !quiet(&queue).await.unwrap_or(false) {
        let stats = queue.stats().await;
        assert!(begin.elapsed() < QUIET_MAX, "it does not become quiet: {stats:?}");
        later(Duration::from_millis(50)).await;
    }
}

/// Waits; what is waited for happens in other processes, by the machine's clock.
pub(crate) fn pause(span: Duration) {
    std::thread::park_timeout(span);
}

fn spawned(orders: &Orders) -> Child {
    let orders_text = serde_json::to_string(orders).expect("plain data");
    let myself = std::env::current_exe().expect("a test binary");
    let log = log(&orders.directory);
    let mut command = Command::new(myself);
    command.args(["a_node_of_a_storm", "--exact", "--ignored", "--nocapture"]);
    command.env(ORDERS, orders_text).stdin(Stdio::null());
    command.stdout(log.try_clone().expect("a file")).stderr(log);
    command.spawn().expect("the test binary can be started again")
}

fn log(directory: &Path) -> fs::File {
    let path = directory.join("nodes.log");
    fs::OpenOptions::new().create(true).append(true).open(path).expect("a log")
}

impl Drop for Storm {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.child.kill();
            let _ = node.child.wait();
        }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |share: usize| {
            let all = &self.recoveries;
            let place = (all.len() * share / 100).min(all.len().saturating_sub(1));
            all.get(place).copied().unwrap_or_default().as_secs_f64()
        };
        write!(
            f,
            "{} jobs, {} starts, {} kills, {} lost; again after a crash {}, a failure {}, a \
             release {}; {} stale refused; {} recoveries: p50 {:.1} s, p99 {:.1} s, max {:.1} s; \
             {} promises broken",
            self.submitted,
            self.starts,
            self.kills,
            self.lost,
            self.again_after_crash,
            self.again_after_failure,
            self.again_after_release,
            self.stale,
            self.recoveries.len(),
            at(50),
            at(99),
            at(100),
            self.broken.len(),
        )
    }
}
