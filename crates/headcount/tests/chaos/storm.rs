//! Who starts the nodes of a storm, kills them, and judges it when it is over.

use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use headcount::jobs::Queue;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::checker::{Findings, Promises, check};
use super::history::{Entry, What, read};
use super::node::{GRACE, ORDERS, Orders, QUEUE, Wave, Works, job_id, quiet};
use super::store;
use super::witness::{later, now};

/// How long nothing may happen in a storm that is not over. How long it takes in all depends on
/// its size and on what else the machine has to do.
const STANDSTILL_MAX: Duration = Duration::from_secs(60);

/// Watches whether anything happens: as long as nodes write in their diaries, it does.
struct Patience {
    directory: PathBuf,
    written: u64,
    since: Instant,
}

impl Patience {
    fn with(storm: &Storm) -> Self {
        Self { directory: storm.directory.path().into(), written: 0, since: Instant::now() }
    }

    /// Panics with these words when nothing has happened for too long.
    fn last(&mut self, wanted: &str) {
        let diaries = diaries(&self.directory).into_iter();
        let written = diaries.map(|path| fs::metadata(path).expect("a history").len()).sum();
        if self.written != written {
            (self.written, self.since) = (written, Instant::now());
        }
        let still = self.since.elapsed();
        assert!(still < STANDSTILL_MAX, "for {still:?} nothing happened: {wanted}");
    }
}

fn diaries(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).expect("a directory");
    let files = files.map(|file| file.expect("an entry").path());
    files.filter(|path| path.extension().is_some_and(|end| end == "history")).collect()
}

/// What every store promises. Ten seconds in which a lease runs out and is noticed, and two more
/// for a machine that has other things to do.
pub(crate) const PROMISES: Promises = Promises {
    recovery_max: Duration::from_secs(12),
    grace: Duration::from_secs(GRACE.as_secs() + 2),
    lost_max: 0,
    forgets: false,
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
    fn signal(&mut self, signal: Signal) {
        if self.ended().is_none() {
            kill_process(Pid::from_child(&self.child), signal).expect("it is not waited for");
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("its own child")
    }

    /// Whether it ended by itself or because it was told to. One that died of that word had not
    /// begun anything: to listen is the first thing it does.
    fn is_gone(&mut self) -> bool {
        let told = Some(Signal::TERM.as_raw());
        self.ended().is_some_and(|status| status.success() || status.signal() == told)
    }

    /// Whether it is there for nothing but to submit. Such a one ends when it has.
    fn is_producer(&self) -> bool {
        self.orders.works == Works::Not
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
            works: Works::Not,
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

    /// Kills one of the nodes and starts another in its place. Producers are spared where jobs are
    /// forgotten: whoever submits one again that nobody remembers has it done again.
    pub(crate) fn strike(&mut self) {
        let spares = self.wave.forgotten;
        let may_fall = |at: &usize| !spares || !self.nodes[*at].is_producer();
        let victims: Vec<usize> = (0..self.nodes.len()).filter(may_fall).collect();
        let nth = usize::try_from(self.below(victims.len() as u64)).expect("few nodes");
        let mut node = self.nodes.swap_remove(victims[nth]);
        if node.ended().is_none() {
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
        let diaries = diaries(self.directory.path()).into_iter();
        let mut texts: Vec<String> =
            diaries.map(|path| fs::read_to_string(path).expect("a history")).collect();
        let kills: Vec<String> = self.kills.iter().map(ToString::to_string).collect();
        texts.push(kills.join("\n") + "\n");
        read(&texts).expect("histories can be read")
    }

    /// Sends a signal to every node.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.nodes.iter_mut().for_each(|node| node.signal(signal));
    }

    /// Starts nodes again that took themselves away, until `over`.
    pub(crate) fn revive_until(&mut self, mut over: impl FnMut(&mut Self) -> bool) {
        while !over(self) {
            for at in (0..self.nodes.len()).rev() {
                let node = &mut self.nodes[at];
                if node.ended().is_some() && !node.is_gone() {
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
        let mut patience = Patience::with(self);
        while !self.gone() {
            patience.last("nodes do not stop");
            pause(Duration::from_millis(10));
        }
        for node in std::mem::take(&mut self.nodes) {
            self.start_again(node.orders);
        }
    }

    /// Whether every node has ended well.
    pub(crate) fn gone(&mut self) -> bool {
        self.nodes.iter_mut().all(Node::is_gone)
    }

    /// Waits until everything is submitted.
    pub(crate) fn until_submitted(&mut self) {
        let mut patience = Patience::with(self);
        self.revive_until(|storm| {
            patience.last("not all is submitted");
            storm.is_submitted()
        });
    }

    /// Whether everything was submitted and acknowledged.
    fn is_submitted(&mut self) -> bool {
        self.nodes.iter_mut().all(|node| !node.is_producer() || node.is_gone())
    }

    /// Waits until all jobs are submitted and have ended, stops the nodes, and judges what
    /// happened.
    pub(crate) fn judge(mut self, promises: Promises) -> Findings {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let mut patience = Patience::with(&self);
        // A store of its own is known to be quiet when its process leaves.
        if self.store.starts_with("redis://") {
            self.until_submitted();
            runtime.block_on(until_quiet(&self.store, &mut patience));
            self.signal(Signal::TERM);
        }
        self.revive_until(|storm| {
            patience.last("nodes do not stop");
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

/// Waits until nothing waits or runs. Nobody submits any more.
async fn until_quiet(store: &str, patience: &mut Patience) {
    let store = store::open_in_time(store).await;
    let queue = Queue::new(store, QUEUE).expect("a name");
    while !quiet(&queue).await.unwrap_or(false) {
        let stats = queue.stats().await;
        patience.last(&format!("it does not become quiet: {stats:?}"));
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
