//! How much a consumer asks for, and how often.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use headcount_queue::Context;
use headcount_queue::jobs::State;

use crate::world::{Instant, Line, MINUTE, SECOND, consumer, sleep, story};

/// How often the store was asked for jobs or told of their ends.
fn trips(line: &Line) -> usize {
    let calls = line.calls();
    [&calls.leases, &calls.settles, &calls.turns]
        .iter()
        .map(|all| all.load(Ordering::Relaxed))
        .sum()
}

#[test]
fn an_idle_consumer_leaves_the_store_alone() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        let _consumer = consumer(&queue, 4);
        sleep(MINUTE).await;
        let calls = line.calls();
        let leases = calls.leases.load(Ordering::Relaxed);
        assert!((8..=20).contains(&leases), "{leases} leases in a minute");
        assert!(calls.waits.load(Ordering::Relaxed) <= leases + 1);
        assert_eq!(calls.settles.load(Ordering::Relaxed), 0);
        assert_eq!(calls.extends.load(Ordering::Relaxed), 0, "nothing is held");
    });
}

#[test]
fn a_paused_queue_is_left_alone_too() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        let store = queue.store();
        store.steer(queue.name(), headcount_queue::port::Command::Pause).await.unwrap();
        queue.submit("kind", &()).await.unwrap();
        let _consumer = consumer(&queue, 4);
        sleep(MINUTE).await;
        let leases = line.calls().leases.load(Ordering::Relaxed);
        assert!(leases <= 20, "{leases} leases in a minute");
    });
}

#[test]
fn no_more_is_leased_than_there_are_free_slots() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counts = (Arc::clone(&running), Arc::clone(&most));
        queue
            .handle("work", move |seconds: u32, _ctx: Context| {
                let (running, most) = (Arc::clone(&counts.0), Arc::clone(&counts.1));
                async move {
                    most.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    sleep(seconds * SECOND).await;
                    running.fetch_sub(1, Ordering::Relaxed);
                    Ok(())
                }
            })
            .unwrap();
        let jobs: Vec<_> = (0..50).map(|number| queue.submit("work", &(number % 5))).collect();
        queue.submit_many(jobs).await.unwrap();
        let consumer = consumer(&queue, 4);
        for _ in 0..100 {
            sleep(SECOND / 3).await;
            let stats = consumer.stats();
            assert!(stats.running + stats.buffered <= 4, "{stats:?}");
        }
        assert_eq!(consumer.stats().done_total, 50);
        assert_eq!(most.load(Ordering::Relaxed), 4);
        assert!(line.calls().asked.lock().unwrap().iter().all(|asked| *asked <= 4));
    });
}

#[test]
fn what_ends_together_is_settled_together() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        queue.handle("work", |(): (), _ctx| async { Ok(()) }).unwrap();
        queue.submit_many((0..1000).map(|_| queue.submit("work", &()))).await.unwrap();
        let consumer = consumer(&queue, 100);
        sleep(SECOND).await;
        assert_eq!(consumer.stats().done_total, 1000);
        let trips = trips(&line);
        assert!(trips <= 30, "{trips} ({:?})", line.calls());
    });
}

#[test]
fn a_job_begins_as_soon_as_it_comes() {
    story(async {
        let queue = Line::new().queue();
        queue.handle("work", |(): (), _ctx| async { Ok(()) }).unwrap();
        let consumer = consumer(&queue, 4);
        sleep(17 * SECOND).await;
        let begun = Instant::now();
        let id = queue.submit("work", &()).await.unwrap().id();
        queue.outcome(id, MINUTE).await.unwrap();
        assert!(begun.elapsed() < SECOND / 20, "{:?}", begun.elapsed());
        assert_eq!(consumer.stats().done_total, 1);
    });
}

#[test]
fn a_delayed_job_begins_when_it_is_due() {
    story(async {
        let queue = Line::new().queue();
        queue.handle("work", |(): (), _ctx| async { Ok(()) }).unwrap();
        let _consumer = consumer(&queue, 4);
        let delay = 33 * SECOND;
        let id = queue.submit("work", &()).delay(delay).keep(MINUTE).await.unwrap().id();
        sleep(40 * SECOND).await;
        let record = crate::world::record(&queue, id).await;
        let began = record.started_at.expect("it began").since(record.submitted_at);
        assert!(delay <= began && began < delay + SECOND / 10, "{began:?}");
    });
}

#[test]
fn short_jobs_of_a_backlog_are_leased_and_settled_by_the_slotful() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        // They end one after the other, as on several threads.
        let handler = |turns: u32, _ctx| async move {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            Ok(())
        };
        queue.handle("work", handler).unwrap();
        let jobs: Vec<_> = (0..1000).map(|number| queue.submit("work", &(number % 10))).collect();
        queue.submit_many(jobs).await.unwrap();
        let consumer = consumer(&queue, 10);
        sleep(SECOND).await;
        assert_eq!(consumer.stats().done_total, 1000);
        let trips = trips(&line);
        assert!(trips <= 150, "{trips}");
        let settles = &line.calls().settles;
        // Those of the first lease are told apart, as nobody knew yet how short they are.
        assert!(settles.load(Ordering::Relaxed) <= 12, "the others go with leases: {settles:?}");
    });
}

#[test]
fn a_long_job_among_short_ones_holds_up_nobody() {
    story(async {
        let queue = Line::new().queue();
        queue
            .handle("work", |seconds: u32, _ctx| async move {
                sleep(seconds * SECOND).await;
                Ok(())
            })
            .unwrap();
        let jobs = (0..400).map(|number| queue.submit("work", &(u32::from(number < 3) * 60)));
        queue.submit_many(jobs.collect::<Vec<_>>()).await.unwrap();
        let consumer = consumer(&queue, 4);
        sleep(2 * SECOND).await;
        assert_eq!(consumer.stats().done_total, 397);
    });
}

#[test]
fn what_leaves_something_behind_is_settled_by_itself() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        queue.handle("work", |(): (), _ctx| async { Ok("a result") }).unwrap();
        let jobs = (0..1000).map(|_| queue.submit("work", &()).keep(MINUTE));
        queue.submit_many(jobs).await.unwrap();
        let consumer = consumer(&queue, 10);
        sleep(SECOND).await;
        assert_eq!(consumer.stats().done_total, 1000);
        let calls = line.calls();
        assert_eq!(calls.turns.load(Ordering::Relaxed), 0);
        // They are told of slotful by slotful, and not when all of the backlog is over.
        let settles = calls.settles.load(Ordering::Relaxed);
        assert!((90..=150).contains(&settles), "{settles}");
        let kept = queue.store().stats(queue.name()).await.unwrap();
        assert_eq!(kept.jobs[State::Done], 1000);
    });
}
