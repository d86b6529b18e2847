//! Jobs that are done on the thread that leases: which are, and whom they hold up.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use headcount_queue::jobs::{JobId, State};
use headcount_queue::{Consumer, Context, JobError, Queue, TaskSlots};
use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::block_in_place;
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
                next(&mut tiny.was_here).await;
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
