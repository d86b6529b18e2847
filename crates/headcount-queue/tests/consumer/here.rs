//! Jobs that are done on the thread that leases: which are, and whom they hold up.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use headcount_queue::jobs::{JobId, State};
use headcount_queue::{Consumer, Context, JobError, Queue, Slots, TaskSlots};
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{block_in_place, consume_budget};
use tokio::time::timeout;

use crate::world::{Line, record, sleep};

/// Longer than anything takes here, on any machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often something that depends on the machine's mood is tried.
const TRIES: usize = 2000;

/// Tells a story on real threads.
fn story<F: Future>(story: F) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(story);
}

fn is_taker() -> bool {
    thread::current().name() == Some("take default")
}

async fn next<T>(received: &mut UnboundedReceiver<T>) -> T {
    timeout(PATIENCE, received.recv()).await.expect("it comes").expect("somebody sends")
}

/// Jobs that end at once, and where each was done.
struct Tiny {
    queue: Queue,
    was_here: UnboundedReceiver<bool>,
}

impl Tiny {
    fn of(queue: &Queue) -> Self {
        let (sender, was_here) = unbounded_channel();
        let tell = move |(), _ctx: Context| {
            let sender = sender.clone();
            async move {
                sender.send(is_taker())?;
                Ok(())
            }
        };
        queue.handle("tiny", tell).unwrap();
        Self { queue: queue.clone(), was_here }
    }

    /// Has so many done; returns how many of them were done by the taker.
    async fn run(&mut self, jobs: usize) -> usize {
        for _ in 0..jobs {
            self.queue.submit("tiny", &()).await.unwrap();
        }
        let mut here = 0;
        for _ in 0..jobs {
            here += usize::from(next(&mut self.was_here).await);
        }
        here
    }

    /// Until the taker does them.
    async fn prove(&mut self) {
        for _ in 0..TRIES {
            if 0 < self.run(100).await {
                return;
            }
        }
        panic!("{TRIES} times a hundred jobs, and none was done by the taker");
    }
}

/// A job that holds its thread until it is told to end.
struct Stone {
    begun: UnboundedReceiver<bool>,
    end: mpsc::Sender<()>,
}

impl Stone {
    fn of(queue: &Queue) -> Self {
        let (sender, begun) = unbounded_channel();
        let (end, told) = mpsc::channel();
        let told = Arc::new(Mutex::new(told));
        let hold = move |(), _ctx: Context| {
            let (sender, told) = (sender.clone(), Arc::clone(&told));
            async move {
                sender.send(is_taker())?;
                told.lock().unwrap().recv_timeout(2 * PATIENCE)?;
                Ok(())
            }
        };
        queue.handle("stone", hold).unwrap();
        Self { begun, end }
    }

    /// Until one lies on the taker's thread.
    async fn fall(&mut self, tiny: &mut Tiny) -> JobId {
        for _ in 0..TRIES {
            tiny.prove().await;
            let id = tiny.queue.submit("stone", &()).await.unwrap().id();
            if next(&mut self.begun).await {
                return id;
            }
            self.roll_away();
        }
        panic!("{TRIES} stones, and none fell on the taker");
    }

    fn roll_away(&self) {
        self.end.send(()).unwrap();
    }
}

fn consumer(queue: &Queue, slots: usize) -> Consumer {
    let slots = TaskSlots::new(slots, Handle::current());
    Consumer::builder(queue, slots).start().unwrap()
}

#[test]
fn jobs_that_proved_quick_are_done_by_the_taker_and_others_are_not() {
    story(async {
        let queue = Line::new().queue();
        let mut tiny = Tiny::of(&queue);
        let _consumer = consumer(&queue, 2);
        assert_eq!(tiny.run(50).await, 0, "nothing is known of them yet");
        tiny.prove().await;
    });
}

#[test]
fn slots_that_are_apart_have_everything_done_in_their_runtime() {
    story(async {
        let queue = Line::new().queue();
        let mut tiny = Tiny::of(&queue);
        let slots = TaskSlots::new(2, Handle::current()).apart();
        let _consumer = Consumer::builder(&queue, slots).start().unwrap();
        assert_eq!(tiny.run(3000).await, 0);
    });
}

#[test]
fn a_job_that_lies_on_the_taker_holds_up_no_other() {
    story(async {
        let queue = Line::new().queue();
        let (mut tiny, mut stone) = (Tiny::of(&queue), Stone::of(&queue));
        let consumer = consumer(&queue, 2);
        let id = stone.fall(&mut tiny).await;
        // Leased, done and settled, while the taker can do none of that. So many would be trusted.
        assert_eq!(tiny.run(6000).await, 0, "the taker is away");
        assert_eq!(record(&queue, id).await.state, State::Running);
        stone.roll_away();
        // It is back: a drain needs its loops.
        let drained = consumer.drain(PATIENCE).await;
        assert_eq!(drained.unsettled, 0);
        let stats = consumer.stats();
        assert_eq!((stats.running, stats.unsettled, stats.stuck), (0, 0, 0), "{stats:?}");
        assert_eq!(stats.leased_total, stats.done_total, "{stats:?}");
    });
}

#[test]
fn those_leased_with_a_job_that_lies_on_the_taker_are_done_by_others() {
    story(async {
        let queue = Line::new().queue();
        let (mut tiny, mut stone) = (Tiny::of(&queue), Stone::of(&queue));
        let _consumer = consumer(&queue, 8);
        for _ in 0..TRIES {
            tiny.prove().await;
            let pause = headcount_queue::port::Command::Pause;
            queue.store().steer(queue.name(), pause).await.unwrap();
            queue.submit("stone", &()).await.unwrap();
            for _ in 0..7 {
                queue.submit("tiny", &()).await.unwrap();
            }
            let resume = headcount_queue::port::Command::Resume;
            queue.store().steer(queue.name(), resume).await.unwrap();
            let lies_here = next(&mut stone.begun).await;
            for _ in 0..7 {
                let was_here = next(&mut tiny.was_here).await;
                assert!(!(lies_here && was_here), "the taker lies under the stone");
            }
            stone.roll_away();
            if lies_here {
                return;
            }
        }
        panic!("{TRIES} stones, and none fell on the taker");
    });
}

#[test]
fn what_lies_on_the_taker_takes_one_of_the_slots() {
    story(async {
        let queue = Line::new().queue();
        let (mut tiny, mut stone) = (Tiny::of(&queue), Stone::of(&queue));
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (sender, mut ended) = unbounded_channel();
        let counts = (running, Arc::clone(&most), sender);
        let nap = move |(), _ctx: Context| {
            let (running, most, sender) = counts.clone();
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sleep(Duration::from_millis(1)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                sender.send(())?;
                Ok(())
            }
        };
        queue.handle("nap", nap).unwrap();
        let _consumer = consumer(&queue, 4);
        stone.fall(&mut tiny).await;
        for _ in 0..50 {
            queue.submit("nap", &()).await.unwrap();
        }
        for _ in 0..50 {
            next(&mut ended).await;
        }
        stone.roll_away();
        assert_eq!(most.load(Ordering::SeqCst), 3, "of four slots the stone has one");
    });
}

#[test]
fn what_does_not_end_at_once_goes_on_in_the_runtime_of_the_slots() {
    /// Where a job was at first, and where it ended.
    async fn travel(sender: UnboundedSender<(bool, bool)>) -> Result<(), JobError> {
        let began_here = is_taker();
        assert_eq!(block_in_place(|| 7), 7, "as in any task of it");
        assert_eq!(tokio::spawn(async { 8 }).await?, 8);
        sleep(Duration::from_millis(1)).await;
        sender.send((began_here, is_taker()))?;
        Ok(())
    }
    story(async {
        let queue = Line::new().queue();
        let mut tiny = Tiny::of(&queue);
        let (sender, mut ended) = unbounded_channel();
        queue.handle("traveller", move |(), _ctx: Context| travel(sender.clone())).unwrap();
        let _consumer = consumer(&queue, 2);
        for _ in 0..TRIES {
            tiny.prove().await;
            queue.submit("traveller", &()).await.unwrap();
            let (began_here, ended_here) = next(&mut ended).await;
            assert!(!ended_here, "it goes on elsewhere");
            if began_here {
                return;
            }
        }
        panic!("{TRIES} travellers, and none began on the taker");
    });
}

#[test]
fn a_drain_does_not_wait_for_what_lies_on_the_taker() {
    story(async {
        let queue = Line::new().queue();
        let (mut tiny, mut stone) = (Tiny::of(&queue), Stone::of(&queue));
        let consumer = consumer(&queue, 2);
        let id = stone.fall(&mut tiny).await;
        let drained = timeout(PATIENCE, consumer.drain(Duration::from_millis(300))).await;
        assert_eq!(drained.expect("it ends").unsettled, 0);
        assert_eq!(record(&queue, id).await.state, State::Ready, "it was given back");
        stone.roll_away();
    });
}

/// Has jobs of this kind submitted until one begins on the taker, as `begun` tells.
async fn until_one_begins_here(tiny: &mut Tiny, kind: &str, begun: &mut UnboundedReceiver<bool>) {
    for _ in 0..TRIES {
        tiny.prove().await;
        let timeout = Duration::from_millis(300);
        tiny.queue.submit(kind, &()).timeout(timeout).attempts(1).await.unwrap();
        if next(begun).await {
            return;
        }
    }
    panic!("{TRIES} of {kind}, and none began on the taker");
}

#[test]
fn what_began_on_the_taker_counts_for_all_who_share_its_slots() {
    story(async {
        let queue = Line::new().queue();
        let mut tiny = Tiny::of(&queue);
        let (sender, mut begun) = unbounded_channel();
        let wait = move |(), _ctx: Context| {
            let sender = sender.clone();
            async move {
                sender.send(is_taker())?;
                sleep(PATIENCE).await;
                Ok(())
            }
        };
        queue.handle("wait", wait).unwrap();
        let slots = TaskSlots::new(2, Handle::current());
        let consumer = Consumer::builder(&queue, slots.clone()).start().unwrap();
        for _ in 0..TRIES {
            tiny.prove().await;
            let id = queue.submit("wait", &()).await.unwrap().id();
            let began_here = next(&mut begun).await;
            let free = slots.free();
            queue.cancel(id).await.unwrap();
            if began_here {
                assert!(free <= 1, "{free} of two are free beside a job that waits");
                consumer.drain(PATIENCE).await;
                // A slot is given back a moment after the end of its job is told.
                let all_are_given_back = async {
                    while slots.free() < 2 {
                        tokio::task::yield_now().await;
                    }
                };
                timeout(PATIENCE, all_are_given_back).await.expect("all are given back");
                return;
            }
        }
        panic!("{TRIES} jobs, and none began on the taker");
    });
}

#[test]
fn a_handler_that_never_waits_is_dropped_all_the_same() {
    /// Tells, when it is dropped, whether it had begun on the taker.
    struct Dropped(UnboundedSender<bool>, bool);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(self.1);
        }
    }
    story(async {
        let queue = Line::new().queue();
        let mut tiny = Tiny::of(&queue);
        let (sender, mut begun) = unbounded_channel();
        let (dropped, mut was_dropped) = unbounded_channel();
        let spin = move |(), _ctx: Context| {
            let (sender, dropped) = (sender.clone(), dropped.clone());
            async move {
                sender.send(is_taker())?;
                let _dropped = Dropped(dropped, is_taker());
                // As one does that reads from a channel which is never empty.
                loop {
                    consume_budget().await;
                }
                #[allow(unreachable_code, reason = "it says what the handler gives")]
                Ok(())
            }
        };
        queue.handle("spin", spin).unwrap();
        let _consumer = consumer(&queue, 2);
        until_one_begins_here(&mut tiny, "spin", &mut begun).await;
        // Those before it, that began elsewhere, say nothing of it.
        while !next(&mut was_dropped).await {}
    });
}

#[test]
fn a_panic_that_panics_when_it_goes_ends_its_job_and_nothing_else() {
    /// What is thrown.
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("once more");
        }
    }
    story(async {
        let queue = Line::new().queue();
        let mut tiny = Tiny::of(&queue);
        let (sender, mut begun) = unbounded_channel();
        let explode = move |(), _ctx: Context| {
            let sender = sender.clone();
            async move {
                sender.send(is_taker())?;
                std::panic::panic_any(Bomb);
                #[allow(unreachable_code, reason = "it says what the handler gives")]
                Ok(())
            }
        };
        queue.handle("bomb", explode).unwrap();
        let consumer = consumer(&queue, 2);
        until_one_begins_here(&mut tiny, "bomb", &mut begun).await;
        tiny.run(10).await;
        consumer.drain(PATIENCE).await;
        let stats = consumer.stats();
        assert!(0 < stats.panicked_total, "{stats:?}");
        assert_eq!(stats.panicked_total, stats.dead_total, "each ended by it: {stats:?}");
    });
}

#[test]
fn jobs_go_back_when_the_runtime_of_the_slots_is_gone() {
    story(async {
        let queue = Line::new().queue();
        let mut tiny = Tiny::of(&queue);
        let nap = |(), _ctx: Context| async {
            sleep(Duration::from_millis(1)).await;
            Ok(())
        };
        queue.handle("nap", nap).unwrap();
        let home = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let slots = TaskSlots::new(2, home.handle().clone());
        let consumer = Consumer::builder(&queue, slots).start().unwrap();
        tiny.prove().await;
        // It is gone when this returns, its timers and all.
        tokio::task::spawn_blocking(move || drop(home)).await.unwrap();
        let before = consumer.stats();
        for _ in 0..20 {
            queue.submit("nap", &()).await.unwrap();
        }
        // Leased again and again, and given back each time.
        let given_back = async {
            while consumer.stats().released_total < before.released_total + 1000 {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, given_back).await.expect("they are given back");
        let stats = consumer.stats();
        let ended = (stats.panicked_total, stats.failed_total, stats.dead_total);
        assert_eq!(ended, (0, 0, 0), "{stats:?}");
    });
}
