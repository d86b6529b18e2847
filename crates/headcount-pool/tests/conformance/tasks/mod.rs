//! Every class for a pool of async tasks, and what only those can do.
//!
//! The pool is used from outside of its runtime, as a pool of threads is. Where the kernel's list
//! of threads shows how many workers of the other kind there are, here it is the runtime's count
//! of the tasks that it keeps. Each pool has a runtime of its own, so those are its workers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use headcount_pool::{Builder, PoolHandle, TaskPool, Tasks, Unrun};
use tokio::runtime::Runtime;

use crate::support::{Gate, add_one, threads_called};

#[path = "../common.rs"]
mod common;

#[path = "../capacity.rs"]
mod capacity;

#[path = "../arrivals.rs"]
mod arrivals;

#[path = "../waiting.rs"]
mod waiting;

#[path = "../crowds.rs"]
mod crowds;

#[path = "../shells.rs"]
mod shells;

#[path = "../failures.rs"]
mod failures;

#[path = "../policies.rs"]
mod policies;

#[path = "../lifetime.rs"]
mod lifetime;

#[path = "../turns.rs"]
mod turns;
#[path = "../truth.rs"]
mod truth;

#[path = "../stress.rs"]
mod stress;

mod endings;

mod nesting;

type Pool = TaskPool;
type Handle = PoolHandle<Tasks>;

/// Whether a task that has begun runs to its end, whoever cancels it. A future is dropped instead.
const RUNS_WHAT_BEGINS: bool = false;

thread_local! {
    /// The runtimes of this test, by the name of the pool.
    static RUNTIMES: RefCell<BTreeMap<String, Runtime>> = const { RefCell::new(BTreeMap::new()) };
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(3).enable_time().thread_name("runtime").build().expect("a runtime")
}

/// So that the keeper of a pool of threads by the same name is another.
fn own_name(pool: &str) -> String {
    format!("a:{pool}")
}

fn builder(name: &str) -> Builder<Tasks> {
    let handle = RUNTIMES.with_borrow_mut(|runtimes| {
        runtimes.entry(name.to_owned()).or_insert_with(runtime).handle().clone()
    });
    TaskPool::builder().name(own_name(name)).runtime(handle)
}

/// A task that does this.
async fn does<T>(act: impl FnOnce() -> T + Send + 'static) -> T {
    act()
}

/// A task that does something, waits at the gate, and then does something else.
fn script<B, A, T>(
    before: B,
    gate: &Gate,
    after: A,
) -> impl Future<Output = T> + Send + use<B, A, T> + 'static
where
    B: FnOnce() + Send + 'static,
    A: FnOnce() -> T + Send + 'static,
{
    let pass = gate.pass();
    async move {
        before();
        pass.wait().await;
        after()
    }
}

/// A task that waits at the gate.
fn at(gate: &Gate) -> impl Future<Output = ()> + Send + use<> + 'static {
    script(|| (), gate, || ())
}

/// A task that adds one.
fn count_in(counter: &Arc<AtomicUsize>) -> impl Future<Output = ()> + Send + use<> + 'static {
    does(add_one(counter))
}

/// Runs a task that was handed back.
fn run<T>(task: impl Future<Output = T>) -> T {
    runtime().block_on(task)
}

/// Runs a task that a drained pool handed back.
fn run_unrun(unrun: Unrun<Tasks>) {
    run(unrun.run());
}

/// How many workers of the pool called so there really are: tasks that its runtime knows.
fn workers_alive(pool: &str) -> usize {
    RUNTIMES.with_borrow(|runtimes| runtimes[pool].metrics().num_alive_tasks())
}

/// The same, and its keeper.
fn alive(pool: &str) -> usize {
    workers_alive(pool) + threads_called(&format!("{}-", own_name(pool)), |_| true)
}
