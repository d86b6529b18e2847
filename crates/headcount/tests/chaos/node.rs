//! A process of the storm: it submits, works, or both, until it is told to stop or is killed.
//!
//! The test binary starts itself again with its orders in the environment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use headcount::jobs::{Consumer, Context, JobError, Queue, TaskSlots, Worker};
use headcount_core::jobs::port::{Backend, Command, StoreError};
use headcount_core::jobs::{Backoff, JobId, Rules, State};
use serde::{Deserialize, Serialize};
use signal_hook::consts::SIGTERM;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::history::What;
use super::store;
use super::witness::{Diary, Witness, later};

/// Where a node finds its orders.
pub(crate) const ORDERS: &str = "HEADCOUNT_CHAOS_ORDERS";
/// The queue that all of it is about.
pub(crate) const QUEUE: &str = "storm";
/// How long a node has to stop.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// How long after the word to stop a start is still forgiven: the word takes its time.
const HEARD: Duration = Duration::from_millis(300);

/// What a node is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(crate) directory: PathBuf,
    /// An address of Redis, or a directory.
    pub(crate) store: String,
    /// Which jobs to submit, from the first to before the last.
    pub(crate) submit: (u64, u64),
    pub(crate) works: Works,
    /// Whether it stops by itself when all jobs have ended.
    pub(crate) leaves: bool,
    /// Whether its size is changed all the time.
    pub(crate) restless: bool,
    pub(crate) wave: Wave,
}

/// Whether a node works, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Works {
    Not,
    InAPool,
    /// Without one, so that quick jobs are done by the thread that leases.
    Bare,
}

/// What jobs are like.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Wave {
    /// One is submitted every so often, so that the jobs last as long as the storm; 0 for as fast
    /// as can be.
    pub(crate) every_millis: u64,
    /// They take up to this long; with 0 they do not even wait.
    pub(crate) millis_max: u64,
    /// Whether the store forgets them when they have ended well, so that ends may travel with
    /// leases; else it keeps them for the checker.
    pub(crate) forgotten: bool,
    /// One in so many fails once; 0 for none.
    pub(crate) fails_each: u64,
    /// One in so many panics once; 0 for none.
    pub(crate) panics_each: u64,
    /// One in so many takes its process with it, always; 0 for none.
    pub(crate) aborts_each: u64,
}

#[derive(Serialize, Deserialize)]
struct Step {
    millis: u64,
    fails: bool,
    panics: bool,
    aborts: bool,
}

impl Wave {
    fn step(self, number: u64) -> Step {
        let one_in = |each: u64| number.checked_rem(each) == Some(each / 2);
        // Spread over the whole range without a generator of chance.
        let millis = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        Step {
            millis: millis % self.millis_max.max(1),
            fails: one_in(self.fails_each),
            panics: one_in(self.panics_each),
            aborts: one_in(self.aborts_each),
        }
    }
}

/// The job with this number: the same one whenever it is submitted.
pub(crate) fn job_id(number: u64) -> JobId {
    JobId::new(1 + number, u128::from(number))
}

/// Does what the orders say, and returns when it is over.
pub(crate) fn run(orders: &Orders) {
    let (stop, stopped) = oneshot::channel();
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM]).expect("a handler");
    std::thread::spawn(move || {
        signals.forever().next();
        let _ = stop.send(());
    });
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(live(orders, stopped));
    // A handler that does not heed its end must not keep the process.
    runtime.shutdown_background();
}

async fn live(orders: &Orders, stopped: oneshot::Receiver<()>) {
    let diary = Diary::open(&orders.directory);
    let store = Witness::of(store::open_in_time(&orders.store).await, &diary);
    let queue = Queue::new(Arc::clone(&store), QUEUE).expect("a name");
    keep_all(&*store, &queue).await;
    handle(&queue, &diary);
    let hands = Hands::of(orders.works, &queue);
    let submitting = tokio::spawn(submit(queue.clone(), orders.clone()));
    let restless = match &hands {
        Some(Hands::Pool(worker)) if orders.restless => {
            Some(tokio::spawn(resize(worker.scaler().clone())))
        }
        _ => None,
    };
    tokio::select! {
        _ = stopped => {}
        () = finished(submitting, &queue, orders) => {}
    }
    if let Some(restless) = restless {
        restless.abort();
    }
    if let Some(hands) = &hands {
        let note = async {
            later(HEARD).await;
            diary.note(What::Stopping);
        };
        tokio::join!(hands.drain(), note);
    }
    diary.note(What::Exit);
}

/// What a node works with.
enum Hands {
    Pool(Worker),
    Bare(Consumer),
}

impl Hands {
    fn of(works: Works, queue: &Queue) -> Option<Self> {
        match works {
            Works::Not => None,
            Works::InAPool => {
                let worker = Worker::builder(queue).workers(1..=16).start();
                Some(Self::Pool(worker.expect("a worker starts")))
            }
            Works::Bare => {
                // So few that all of a lease are quick enough to be done where they arrive.
                let slots = TaskSlots::new(2, Handle::current());
                let consumer = Consumer::builder(queue, slots).start();
                Some(Self::Bare(consumer.expect("its threads start")))
            }
        }
    }

    async fn drain(&self) {
        match self {
            Self::Pool(worker) => drop(worker.drain(GRACE).await),
            Self::Bare(consumer) => drop(consumer.drain(GRACE).await),
        }
    }
}

/// The checker looks at every job when all is over, so none may be forgotten.
async fn keep_all(store: &dyn Backend, queue: &Queue) {
    let all = 100_000_000;
    let rules = Rules { done_max: all, dead_max: all, ..Rules::default() };
    let command = Command::Rules(Box::new(rules));
    while store.steer(queue.name(), command.clone()).await.is_err() {
        later(Duration::from_millis(50)).await;
    }
}

fn handle(queue: &Queue, diary: &Arc<Diary>) {
    let diary = Arc::clone(diary);
    let handled = queue.handle("step", move |step: Step, ctx: Context| {
        diary.started(ctx.id());
        async move {
            let first = ctx.job().attempts == 0;
            assert!(!(step.panics && first), "a panic that was asked for");
            if step.aborts {
                std::process::abort();
            }
            if 0 < step.millis {
                later(Duration::from_millis(step.millis)).await;
            }
            match step.fails && first {
                true => Err(JobError::failed("a failure that was asked for")),
                false => Ok(()),
            }
        }
    });
    handled.expect("one handler");
}

/// Submits each job until the store has it.
async fn submit(queue: Queue, orders: Orders) {
    let (from, to) = orders.submit;
    for number in from..to {
        loop {
            let step = orders.wave.step(number);
            let submission = queue.submit("step", &step).id(job_id(number));
            let keep = Duration::from_secs(if orders.wave.forgotten { 0 } else { 36_000 });
            let submission = submission.keep(keep).attempts(5);
            let submission = submission.backoff(Backoff::Fixed(Duration::from_millis(20)));
            if submission.await.is_ok() {
                break;
            }
            later(Duration::from_millis(50)).await;
        }
        if 0 < orders.wave.every_millis {
            later(Duration::from_millis(orders.wave.every_millis)).await;
        }
    }
}

async fn resize(scaler: headcount::Scaler) {
    let mut size = 1_u32;
    loop {
        size = size.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let _ = scaler.scale_to(1 + (size >> 16) % 16);
        later(Duration::from_millis(1)).await;
    }
}

/// When it has nothing more to do: who only submits, when all is submitted; who works and is to
/// leave, when all jobs have ended; others never.
async fn finished(submitting: tokio::task::JoinHandle<()>, queue: &Queue, orders: &Orders) {
    submitting.await.expect("submitting does not panic");
    let works = orders.works != Works::Not;
    while works && !(orders.leaves && quiet(queue).await.unwrap_or(false)) {
        later(Duration::from_millis(20)).await;
    }
}

/// Whether nothing waits or runs.
pub(crate) async fn quiet(queue: &Queue) -> Result<bool, StoreError> {
    let jobs = queue.stats().await?.jobs;
    Ok(State::ALL.into_iter().all(|state| state.is_final() || jobs[state] == 0))
}
