//! What comes round by the calendar.

use std::sync::{Arc, Mutex};

use headcount_core::Timestamp;
use headcount_queue::{Context, Missed, Queue, Schedule};

use crate::world::{BEGIN, Line, MINUTE, SECOND, builder, sleep, story};

/// When jobs began, by the store's clock, in seconds since the story began.
type Seen = Arc<Mutex<Vec<(u64, u64)>>>;

fn tell_time(queue: &Queue, seen: &Seen) {
    let seen = Arc::clone(seen);
    queue
        .handle("tick", move |(): (), ctx: Context| {
            let job = ctx.job();
            let since = |at: Timestamp| at.since(BEGIN).as_secs();
            seen.lock().unwrap().push((since(job.due_at), since(job.leased_at)));
            async { Ok(()) }
        })
        .unwrap();
}

fn every_minute(queue: &Queue, missed: Missed) -> Schedule {
    Schedule::new("minute", "* * * * *", queue.submit("tick", &())).unwrap().missed(missed)
}

#[test]
fn three_consumers_make_one_job_of_a_tick() {
    story(async {
        let line = Line::new();
        let seen = Seen::default();
        let queues = [line.queue(), line.another().queue(), line.another().queue()];
        for queue in &queues {
            tell_time(queue, &seen);
        }
        sleep(SECOND).await;
        let consumers = queues.each_ref().map(|queue| {
            builder(queue, 2).schedule(every_minute(queue, Missed::Skip)).start_here()
        });
        sleep(3 * MINUTE).await;
        // Never early, and not late.
        assert_eq!(*seen.lock().unwrap(), [(60, 60), (120, 120), (180, 180)]);
        let made: u64 = consumers.iter().map(|one| one.stats().scheduled_total).sum();
        assert_eq!(made, 3);
    });
}

/// The ticks that ran when the only consumer was away from 90 s to 270 s.
fn check(missed: Missed, expected: &[u64]) {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        let seen = Seen::default();
        tell_time(&queue, &seen);
        sleep(SECOND).await;
        let first = builder(&queue, 2).schedule(every_minute(&queue, Missed::Skip)).start_here();
        sleep(89 * SECOND).await;
        first.drain(SECOND).await;
        sleep(179 * SECOND + SECOND / 2).await;
        let _second = builder(&queue, 2).schedule(every_minute(&queue, missed)).start_here();
        sleep(60 * SECOND).await;
        // What is made up for is due at once, for its own time has passed.
        let ran: Vec<u64> = seen.lock().unwrap().iter().map(|(_, ran)| *ran).collect();
        assert_eq!(ran, expected, "{missed:?}");
    });
}

#[test]
fn a_missed_tick_is_skipped_or_made_up_for_once() {
    check(Missed::Skip, &[60, 300]);
    check(Missed::Once, &[60, 269, 300]);
}

#[test]
fn a_store_that_is_away_at_a_tick_has_it_later() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        let seen = Seen::default();
        tell_time(&queue, &seen);
        let schedule = every_minute(&queue, Missed::Skip);
        let _consumer = builder(&queue, 2).schedule(schedule).start_here();
        sleep(50 * SECOND).await;
        line.cut();
        sleep(20 * SECOND).await;
        line.mend();
        sleep(10 * SECOND).await;
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 1);
        assert!((70..75).contains(&seen[0].1), "{seen:?}");
    });
}
