//! Who calls: many runtimes, some that end or stand still, and none.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use headcount_core::jobs::port::Backend;

use crate::server::{Server, until};
use crate::subject::{all_done, ask, block_on, connect, jobs, queue};

/// Whoever waits on a thread without a runtime.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn without_a_runtime<T>(call: impl Future<Output = T>) -> T {
    let mut call = pin!(call);
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    loop {
        match call.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// How many connections of stores the server has, besides the one that asks.
fn connections(server: &Server) -> usize {
    let redis::Value::BulkString(all) = server.ask("CLIENT LIST") else { return 0 };
    all.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() - 1
}

#[test]
fn a_store_outlives_the_runtimes_that_call_it() {
    let server = Server::start("");
    let store = block_on(connect(&server.url()));
    for number in 0..3 {
        block_on(store.enqueue(&queue(), jobs([number]))).expect("it takes jobs");
    }
    until("their connections are gone", || (connections(&server) == 0).then_some(()));
    let leased = block_on(store.lease(&queue(), ask(1, 10))).expect("it hands out");
    assert_eq!(leased.jobs.len(), 3);
}

#[test]
fn a_runtime_that_stands_still_holds_up_no_other() {
    let server = Server::start("");
    let still = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let still = still.expect("a runtime");
    // From here on nobody drives it, and so none of its connections.
    let store = still.block_on(connect(&server.url()));
    let queue = queue();
    let mut begun = store.enqueue(&queue, jobs([1]));
    let polled = poll_fn(|wakeup| Poll::Ready(begun.as_mut().poll(wakeup).is_pending()));
    assert!(still.block_on(polled), "it is on its way");
    block_on(store.enqueue(&queue, jobs([2]))).expect("it takes jobs");
    let leased = block_on(store.lease(&queue, ask(1, 10))).expect("it hands out");
    assert!(leased.jobs.iter().any(|job| job.id.as_u128() == 2));
}

#[test]
fn a_store_can_be_called_without_a_runtime() {
    let server = Server::start("");
    let queue = queue();
    let store = without_a_runtime(connect(&server.url()));
    without_a_runtime(store.enqueue(&queue, jobs([1, 2]))).expect("it takes jobs");
    let leased = without_a_runtime(store.lease(&queue, ask(1, 10))).expect("it hands out");
    let settled = store.settle(&queue, ask(1, 0).holder, all_done(&leased));
    assert_eq!(without_a_runtime(settled).expect("taken back").len(), 2);
    let stats = without_a_runtime(store.stats(&queue)).expect("it counts");
    assert_eq!(stats.totals.done, 2);
}
