//! Every class for a pool of threads, and what only threads can do.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use headcount_pool::{Builder, PoolHandle, ThreadPool, Threads, Unrun};

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

mod powerless;

mod tiny;

type Pool = ThreadPool;
type Handle = PoolHandle<Threads>;

/// Whether a task that has begun runs to its end, whoever cancels it.
const RUNS_WHAT_BEGINS: bool = true;

fn builder(name: &str) -> Builder<Threads> {
    ThreadPool::builder().name(name)
}

/// A task that does this.
fn does<T>(act: impl FnOnce() -> T + Send + 'static) -> impl FnOnce() -> T + Send + 'static {
    act
}

/// A task that does something, waits at the gate, and then does something else.
fn script<B, A, T>(
    before: B,
    gate: &Gate,
    after: A,
) -> impl FnOnce() -> T + Send + use<B, A, T> + 'static
where
    B: FnOnce() + Send + 'static,
    A: FnOnce() -> T + Send + 'static,
{
    let pass = gate.pass();
    move || {
        before();
        pass.block();
        after()
    }
}

/// A task that waits at the gate.
fn at(gate: &Gate) -> impl FnOnce() + Send + use<> + 'static {
    script(|| (), gate, || ())
}

/// A task that adds one.
fn count_in(counter: &Arc<AtomicUsize>) -> impl FnOnce() + Send + use<> + 'static {
    does(add_one(counter))
}

/// Runs a task that was handed back.
fn run<T>(task: impl FnOnce() -> T) -> T {
    task()
}

/// Runs a task that a drained pool handed back.
fn run_unrun(unrun: Unrun<Threads>) {
    unrun.run();
}

/// How many workers of the pool called so there really are: threads that the kernel knows.
fn workers_alive(pool: &str) -> usize {
    let is_slot = |slot: &str| !slot.is_empty() && slot.bytes().all(|b| b.is_ascii_digit());
    threads_called(&format!("{pool}-"), is_slot)
}

/// The same, and its keeper.
fn alive(pool: &str) -> usize {
    threads_called(&format!("{pool}-"), |_| true)
}
