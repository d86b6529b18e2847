//! What the tests share: waiting for events with a limit, gates that hold tasks, a look at the
//! kernel's list of threads, and dice.

use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};
use std::{fs, thread};

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

/// How many threads whose name begins so the kernel knows. Names have 15 bytes there.
pub(crate) fn threads_called(prefix: &str, such: impl Fn(&str) -> bool) -> usize {
    let such = |name: &&String| name.strip_prefix(prefix).is_some_and(&such);
    thread_names().iter().filter(such).count()
}

/// Whether the thread of that name is there and sleeps.
pub(crate) fn is_asleep(name: &str) -> bool {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux").flatten();
    let stats = tasks.filter_map(|task| fs::read_to_string(task.path().join("stat")).ok());
    let sleeps = format!("({name}) S ");
    stats.into_iter().any(|stat| stat.contains(&sleeps))
}

fn thread_names() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("this is Linux").flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.map(|name| name.trim_end().to_owned()).collect()
}

/// Holds tasks until it is opened, whether they block a thread or are awaited. Dropped, it opens,
/// so that a failed test does not hang.
#[derive(Debug)]
pub(crate) struct Gate {
    inner: Arc<Pass>,
}

/// The way through a gate.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    open: bool,
    /// Who awaits it.
    awaiting: Vec<Waker>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { inner: Arc::default() }
    }

    /// The way through it, for one task.
    pub(crate) fn pass(&self) -> Arc<Pass> {
        Arc::clone(&self.inner)
    }

    /// Waits at the gate with its thread, whatever it runs on.
    pub(crate) fn blocks(&self) -> impl FnOnce() + Send + 'static {
        let pass = self.pass();
        move || pass.block()
    }

    pub(crate) fn open(&self) {
        let awaiting = {
            let mut state = self.inner.lock();
            state.open = true;
            std::mem::take(&mut state.awaiting)
        };
        self.inner.changed.notify_all();
        awaiting.into_iter().for_each(Waker::wake);
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

impl Pass {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrive(&self) -> std::sync::MutexGuard<'_, State> {
        let mut state = self.lock();
        state.arrived += 1;
        self.changed.notify_all();
        state
    }

    /// Waits with its thread.
    pub(crate) fn block(&self) {
        let mut state = self.arrive();
        let began = Instant::now();
        while !state.open && began.elapsed() < 3 * LIMIT {
            let waited = self.changed.wait_timeout(state, LIMIT);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits without its thread, which others use at least once meanwhile.
    #[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "there is nobody who awaits"))]
    pub(crate) fn wait(self: Arc<Self>) -> impl Future<Output = ()> + Send {
        let mut polled = false;
        poll_fn(move |context| match std::mem::replace(&mut polled, true) {
            true => self.poll_open(context),
            false => {
                drop(self.arrive());
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
    }

    fn poll_open(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        match state.open {
            true => Poll::Ready(()),
            false => {
                state.awaiting.push(context.waker().clone());
                Poll::Pending
            }
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
    pub(crate) fn enter(&self) {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
    }

    pub(crate) fn leave(&self) {
        self.inside.fetch_sub(1, Ordering::SeqCst);
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

/// Adds one.
pub(crate) fn add_one(counter: &Arc<AtomicUsize>) -> impl FnOnce() + Send + use<> + 'static {
    let counter = Arc::clone(counter);
    move || {
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) fn read(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}
