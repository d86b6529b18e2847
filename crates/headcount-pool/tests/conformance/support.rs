//! What the tests share: waiting for events with a limit, gates that hold tasks, a look at the
//! kernel's list of threads, and dice.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};
use std::{fs, thread};

use headcount_pool::{PoolHandle, Threads};

/// Longer than anything takes, even where many others use the machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Looks again and again until it is so.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        thread::yield_now();
    }
}

/// Does it on a thread of its own, so that one who hangs is a failure and not a silence.
#[track_caller]
pub(crate) fn within<T: Send + 'static>(what: &str, act: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    let thread = thread::spawn(move || drop(send.send(act())));
    match receive.recv_timeout(LIMIT) {
        Ok(result) => {
            thread.join().expect("it has sent its result");
            result
        }
        Err(error) => panic!("{what}: {error} within {LIMIT:?}"),
    }
}

/// How many worker threads of the pool called so the kernel knows. Names have 15 bytes there.
pub(crate) fn worker_threads(pool: &str) -> usize {
    let is_worker = |name: &str| {
        let slot = name.strip_prefix(pool).and_then(|rest| rest.strip_prefix('-'));
        slot.is_some_and(|slot| !slot.is_empty() && slot.bytes().all(|b| b.is_ascii_digit()))
    };
    thread_names().iter().filter(|name| is_worker(name)).count()
}

/// How many threads of the pool the kernel knows, its keeper among them.
pub(crate) fn threads(pool: &str) -> usize {
    let prefix = format!("{pool}-");
    thread_names().iter().filter(|name| name.starts_with(&prefix)).count()
}

fn thread_names() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux").flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.map(|name| name.trim_end().to_owned()).collect()
}

/// Holds tasks until it is opened. Dropped, it opens, so that a failed test does not hang.
#[derive(Debug)]
pub(crate) struct Gate {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    open: bool,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { inner: Arc::default() }
    }

    /// A task that waits at the gate.
    pub(crate) fn task(&self) -> impl FnOnce() + Send + 'static {
        let inner = Arc::clone(&self.inner);
        move || inner.pass()
    }

    pub(crate) fn open(&self) {
        self.inner.lock().open = true;
        self.inner.changed.notify_all();
    }

    pub(crate) fn arrived(&self) -> usize {
        self.inner.lock().arrived
    }

    /// Waits until so many tasks have come to the gate.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) {
        let began = Instant::now();
        let mut state = self.inner.lock();
        while state.arrived < count {
            let arrived = state.arrived;
            assert!(began.elapsed() < LIMIT, "{arrived} of {count} came to the gate");
            let waited = self.inner.changed.wait_timeout(state, LIMIT);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self) {
        let mut state = self.lock();
        state.arrived += 1;
        self.changed.notify_all();
        let began = Instant::now();
        while !state.open && began.elapsed() < 3 * LIMIT {
            let waited = self.changed.wait_timeout(state, LIMIT);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

/// How many are inside at once, and the most there ever were.
#[derive(Debug, Default)]
pub(crate) struct Peak {
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl Peak {
    pub(crate) fn during<R>(&self, act: impl FnOnce() -> R) -> R {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        let result = act();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        result
    }

    pub(crate) fn inside(&self) -> usize {
        self.inside.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    pub(crate) fn forget(&self) {
        self.most.store(0, Ordering::SeqCst);
    }
}

/// A waker that counts its calls.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    count: AtomicUsize,
}

impl Calls {
    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::clone(self))
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.count.fetch_add(1, Ordering::SeqCst);
    }
}

/// Dice that fall the same way each time.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Lets a little time pass, now more and now less.
    pub(crate) fn dawdle(&mut self, spins_max: u64) {
        for _ in 0..self.below(spins_max) {
            std::hint::spin_loop();
        }
    }
}

/// A shared count.
pub(crate) fn counter() -> Arc<AtomicUsize> {
    Arc::default()
}

/// A task that adds one.
pub(crate) fn count_in(counter: &Arc<AtomicUsize>) -> impl FnOnce() + Send + use<> + 'static {
    let counter = Arc::clone(counter);
    move || {
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) fn read(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}

/// A task that submits itself again and again until it is over.
pub(crate) fn keep_busy(pool: &PoolHandle<Threads>, over: &Arc<AtomicBool>) {
    let (again, until) = (pool.clone(), Arc::clone(over));
    let submitted = pool.spawn(move || {
        if !until.load(Ordering::SeqCst) {
            keep_busy(&again, &until);
        }
    });
    // Refused once the test is over and the pool is closed.
    drop(submitted);
}
