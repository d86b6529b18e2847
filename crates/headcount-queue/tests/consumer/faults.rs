//! What becomes of jobs when leases and lines break.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use headcount_queue::jobs::{Holder, State};
use headcount_queue::port::LeaseAsk;
use headcount_queue::{Context, Queue};

use crate::world::{Line, MINUTE, SECOND, consumer, record, sleep, story};

/// Has jobs that take so many seconds, and counts how many began and how many came to their end.
fn slow(queue: &Queue, begun: &Arc<AtomicU32>, ended: &Arc<AtomicU32>) {
    let (begun, ended) = (Arc::clone(begun), Arc::clone(ended));
    let handler = move |seconds: u32, _ctx: Context| {
        begun.fetch_add(1, Ordering::Relaxed);
        let ended = Arc::clone(&ended);
        async move {
            sleep(seconds * SECOND).await;
            ended.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    };
    queue.handle("slow", handler).unwrap();
}

#[test]
fn a_job_ten_times_as_long_as_the_lease_runs_once() {
    story(async {
        let line = Line::new();
        let (begun, ended) = (Arc::default(), Arc::default());
        let queues = [line.queue(), line.another().queue()];
        for queue in &queues {
            slow(queue, &begun, &ended);
        }
        let consumers = queues.each_ref().map(|queue| consumer(queue, 2));
        let id = queues[0].submit("slow", &80).keep(60 * MINUTE).await.unwrap().id();
        sleep(2 * MINUTE).await;
        assert_eq!(record(&queues[0], id).await.state, State::Done);
        assert_eq!((begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed)), (1, 1));
        let lost: u64 = consumers.iter().map(|one| one.stats().lost_leases_total).sum();
        assert_eq!(lost, 0);
    });
}

#[test]
fn an_answer_that_comes_after_its_lease_begins_nothing() {
    story(async {
        let line = Line::new();
        let (begun, ended) = (Arc::default(), Arc::default());
        let (late, other) = (line.queue(), line.another().queue());
        slow(&late, &begun, &ended);
        slow(&other, &begun, &ended);
        let id = late.submit("slow", &1).keep(60 * MINUTE).await.unwrap().id();
        // At a moment when nobody renews.
        line.hold_up_next_answer(19 * SECOND + SECOND / 3);
        let _late = consumer(&late, 1);
        sleep(SECOND).await;
        let _other = consumer(&other, 1);
        sleep(MINUTE).await;
        let told = record(&late, id).await;
        assert_eq!((told.state, told.crashes), (State::Done, 1));
        assert_eq!((begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed)), (1, 1));
    });
}

#[test]
fn whoever_begins_takes_over_at_once_from_those_who_are_lost() {
    story(async {
        let line = Line::new();
        let (begun, ended) = (Arc::default(), Arc::default());
        let queue = line.queue();
        slow(&queue, &begun, &ended);
        let id = queue.submit("slow", &0).keep(60 * MINUTE).await.unwrap().id();
        let ask = LeaseAsk { holder: Holder::new(7), ttl: 8 * SECOND, jobs_max: 1 };
        assert_eq!(queue.store().lease(queue.name(), ask).await.unwrap().jobs.len(), 1);
        sleep(9 * SECOND).await;
        // Of processes that live for a moment only, each has to do it: none comes to it later.
        let _consumer = consumer(&queue, 1);
        sleep(SECOND / 10).await;
        let told = record(&queue, id).await;
        assert_eq!((told.state, told.crashes), (State::Done, 1));
    });
}

#[test]
fn jobs_whose_lease_was_never_heard_of_run_nevertheless() {
    story(async {
        let line = Line::new();
        let (begun, ended) = (Arc::default(), Arc::default());
        let queue = line.queue();
        slow(&queue, &begun, &ended);
        // Something that keeps the lease alive all the while.
        let long = queue.submit("slow", &600).keep(60 * MINUTE).await.unwrap().id();
        let consumer = consumer(&queue, 2);
        sleep(SECOND).await;
        line.lose_next_lease();
        let id = queue.submit("slow", &1).keep(60 * MINUTE).await.unwrap().id();
        sleep(20 * SECOND).await;
        let told = record(&queue, id).await;
        assert_eq!((told.state, told.attempts, told.crashes), (State::Done, 0, 0));
        assert_eq!(record(&queue, long).await.state, State::Running);
        assert_eq!(consumer.stats().lost_leases_total, 0);
    });
}

#[test]
fn ends_that_went_with_a_lost_lease_are_told_again() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        let runs = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&runs);
        queue
            .handle("work", move |(): (), _ctx| {
                counted.fetch_add(1, Ordering::Relaxed);
                async { Ok(()) }
            })
            .unwrap();
        queue.submit_many((0..50).map(|_| queue.submit("work", &()))).await.unwrap();
        line.lose_next_turn();
        let consumer = consumer(&queue, 10);
        sleep(MINUTE).await;
        let stats = queue.store().stats(queue.name()).await.unwrap();
        assert_eq!((stats.demand(), stats.totals.done), (0, 50));
        assert_eq!(runs.load(Ordering::Relaxed), 50, "each ran once");
        assert_eq!(stats.totals.preempted, 10, "those of which nobody heard were given back");
        assert_eq!(consumer.stats().stale_total, 10, "the store had heard of these already");
    });
}

#[test]
fn a_holder_that_was_cut_off_stops_what_others_have_taken() {
    story(async {
        let here = Line::new();
        let there = here.another();
        let (begun, ended) = (Arc::default(), Arc::default());
        let queues = [here.queue(), there.queue()];
        slow(&queues[0], &begun, &ended);
        let first = consumer(&queues[0], 1);
        let id = queues[1].submit("slow", &60).keep(60 * MINUTE).await.unwrap().id();
        sleep(SECOND).await;
        here.cut();
        slow(&queues[1], &begun, &ended);
        let second = consumer(&queues[1], 1);
        sleep(12 * SECOND).await;
        assert_eq!(second.stats().running, 1, "within 12 s another has it");
        here.mend();
        sleep(5 * SECOND).await;
        assert_eq!((first.stats().running, first.stats().lost_leases_total), (0, 1));
        sleep(2 * MINUTE).await;
        let record = record(&queues[1], id).await;
        assert_eq!((record.state, record.crashes, record.attempts), (State::Done, 1, 0));
        assert_eq!((begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed)), (2, 1));
        // Another life of it goes on taking jobs.
        queues[1].submit_many((0..4).map(|_| queues[1].submit("slow", &30))).await.unwrap();
        sleep(2 * MINUTE).await;
        assert_eq!((first.stats().done_total, second.stats().done_total), (2, 3));
    });
}

#[test]
fn an_ending_that_comes_too_late_is_refused() {
    story(async {
        let here = Line::new();
        let there = here.another();
        let (begun, ended) = (Arc::default(), Arc::default());
        let queues = [here.queue(), there.queue()];
        for queue in &queues {
            slow(queue, &begun, &ended);
        }
        let first = consumer(&queues[0], 1);
        let id = queues[1].submit("slow", &13).keep(60 * MINUTE).await.unwrap().id();
        sleep(SECOND).await;
        here.cut();
        let second = consumer(&queues[1], 1);
        // The first is done while it is cut off, and says so when the second runs it.
        sleep(15 * SECOND).await;
        assert_eq!(first.stats().done_total, 1);
        here.mend();
        sleep(5 * SECOND).await;
        assert_eq!((first.stats().stale_total, first.stats().unsettled), (1, 0));
        sleep(MINUTE).await;
        let record = record(&queues[1], id).await;
        assert_eq!((record.state, record.crashes), (State::Done, 1));
        assert_eq!(second.stats().done_total, 1);
    });
}

#[test]
fn a_store_that_is_away_for_a_while_loses_nothing() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        let (begun, ended) = (Arc::default(), Arc::default());
        slow(&queue, &begun, &ended);
        let consumer = consumer(&queue, 4);
        let jobs = queue.submit_many((0..20).map(|_| queue.submit("slow", &3))).await.unwrap();
        assert_eq!(jobs.len(), 20);
        sleep(SECOND).await;
        line.cut();
        sleep(20 * SECOND).await;
        // Those that ran have ended, and nothing more could be taken.
        assert_eq!((ended.load(Ordering::Relaxed), consumer.stats().unsettled), (4, 4));
        let errors = consumer.stats().store_errors_total;
        assert!(0 < errors && errors < 150, "{errors} calls in 20 s are no storm");
        line.mend();
        sleep(MINUTE).await;
        assert_eq!((begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed)), (20, 20));
        let stats = queue.stats().await.unwrap();
        assert_eq!((stats.totals.done, stats.totals.crashed), (20, 0));
        assert_eq!(consumer.stats().unsettled, 0);
    });
}

#[test]
fn a_lease_made_anew_unawares_is_noticed() {
    story(async {
        let here = Line::new();
        let there = here.another();
        let (begun, ended) = (Arc::default(), Arc::default());
        let queues = [here.queue(), there.queue()];
        for queue in &queues {
            slow(queue, &begun, &ended);
        }
        let first = consumer(&queues[0], 2);
        let id = queues[1].submit("slow", &60).await.unwrap().id();
        sleep(SECOND).await;
        // Its next request for jobs is on its way while it can say nothing else, and arrives when
        // the lease has run out and another has the job.
        here.mute_renewals();
        here.hold_up_next_lease(20 * SECOND);
        let second = consumer(&queues[1], 1);
        sleep(14 * SECOND).await;
        assert_eq!((first.stats().running, second.stats().running), (1, 1), "neither knows");
        sleep(15 * SECOND).await;
        assert_eq!((first.stats().running, first.stats().lost_leases_total), (0, 1));
        first.drain(SECOND).await;
        sleep(2 * MINUTE).await;
        assert!(queues[1].job(id).await.unwrap().is_none(), "it was done, and not kept");
        assert_eq!((begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed)), (2, 1));
    });
}
