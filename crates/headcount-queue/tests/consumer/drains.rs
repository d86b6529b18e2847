//! How consumers end.

use std::sync::{Arc, Mutex};

use headcount_queue::jobs::State;
use headcount_queue::{Consumer, Context, JobError, Slots, Work};

use crate::world::{Instant, Line, MINUTE, SECOND, consumer, record, sleep, story};

/// Takes jobs and never begins one.
#[derive(Clone, Debug, Default)]
struct Shelf(Arc<Mutex<Vec<Work>>>);

impl Slots for Shelf {
    fn free(&self) -> usize {
        3 - self.0.lock().unwrap().len()
    }

    fn run(&self, work: Work) {
        self.0.lock().unwrap().push(work);
    }
}

#[test]
fn what_has_not_begun_is_given_back_at_once() {
    story(async {
        let queue = Line::new().queue();
        let shelf = Shelf::default();
        let consumer = Consumer::builder(&queue, shelf.clone()).start_here();
        let jobs: Vec<_> = (0..5).map(|number| queue.submit("kind", &number)).collect();
        let jobs = queue.submit_many(jobs).await.unwrap();
        sleep(SECOND).await;
        assert_eq!(consumer.stats().buffered, 3);
        let begun = Instant::now();
        let drained = consumer.drain(25 * SECOND).await;
        assert_eq!((drained.handed_back, drained.unsettled), (3, 0));
        assert!(begun.elapsed() < SECOND, "{:?}", begun.elapsed());
        for job in jobs {
            let record = record(&queue, job.id()).await;
            assert_eq!((record.state, record.attempts, record.crashes), (State::Ready, 0, 0));
        }
        // Whoever begins it later finds that it was given back.
        let works = std::mem::take(&mut *shelf.0.lock().unwrap());
        for work in works {
            work.run().await;
        }
        assert_eq!(consumer.stats().running, 0);
    });
}

#[test]
fn work_that_is_dropped_is_given_back() {
    story(async {
        let queue = Line::new().queue();
        let shelf = Shelf::default();
        let _consumer = Consumer::builder(&queue, shelf.clone()).start_here();
        let id = queue.submit("kind", &()).await.unwrap().id();
        sleep(SECOND).await;
        assert_eq!(record(&queue, id).await.state, State::Running);
        let epoch = record(&queue, id).await.held.expect("it is held").1;
        shelf.0.lock().unwrap().clear();
        sleep(10 * SECOND).await;
        let again = record(&queue, id).await;
        assert_eq!((again.attempts, again.preemptions), (0, 1));
        assert!(epoch < again.held.expect("it was taken again").1);
    });
}

#[test]
fn what_runs_may_end_by_itself() {
    story(async {
        let queue = Line::new().queue();
        queue
            .handle("sleep", |(): (), _ctx| async {
                sleep(10 * SECOND).await;
                Ok(())
            })
            .unwrap();
        let consumer = consumer(&queue, 2);
        let id = queue.submit("sleep", &()).keep(60 * MINUTE).await.unwrap().id();
        sleep(SECOND).await;
        let begun = Instant::now();
        let drained = consumer.drain(25 * SECOND).await;
        assert_eq!((drained.finished, drained.stopped), (1, 0));
        assert!(begun.elapsed() < 10 * SECOND, "{:?}", begun.elapsed());
        assert_eq!(record(&queue, id).await.state, State::Done);
        assert_eq!(queue.stats().await.unwrap().holders, 0, "the lease was ended");
    });
}

#[test]
fn what_does_not_end_is_stopped_within_the_grace() {
    story(async {
        let queue = Line::new().queue();
        queue
            .handle("sleep", |(): (), _ctx| async {
                sleep(60 * MINUTE).await;
                Ok(())
            })
            .unwrap();
        let consumer = consumer(&queue, 2);
        let id = queue.submit("sleep", &()).await.unwrap().id();
        sleep(SECOND).await;
        let begun = Instant::now();
        let drained = consumer.drain(25 * SECOND).await;
        assert_eq!((drained.finished, drained.stopped, drained.unsettled), (0, 1, 0));
        let took = begun.elapsed();
        assert!(20 * SECOND < took && took <= 25 * SECOND, "{took:?}");
        let record = record(&queue, id).await;
        assert_eq!((record.state, record.attempts, record.preemptions), (State::Ready, 0, 1));
    });
}

/// Counts to a hundred, one a second, and goes on where it was.
async fn count(ctx: Context) -> Result<Vec<u32>, JobError> {
    let begun = ctx.last_checkpoint::<u32>()?.unwrap_or(0);
    for number in begun..100 {
        if ctx.stop_requested() {
            ctx.checkpoint(&number)?;
            return Err(JobError::preempted());
        }
        sleep(SECOND).await;
    }
    Ok(vec![begun, ctx.preemptions(), ctx.attempt()])
}

#[test]
fn a_job_that_can_goes_on_where_it_was() {
    story(async {
        let line = Line::new();
        let queue = line.queue();
        queue.handle("count", |(): (), ctx| count(ctx)).unwrap();
        let first = consumer(&queue, 1);
        let id = queue.submit("count", &()).keep(60 * MINUTE).await.unwrap().id();
        sleep(40 * SECOND + SECOND / 2).await;
        let drained = first.drain(25 * SECOND).await;
        assert_eq!((drained.finished, drained.stopped), (1, 0));
        let _second = consumer(&queue, 1);
        let begun = Instant::now();
        let outcome = queue.outcome(id, 60 * MINUTE).await.unwrap();
        // It began at 41, once preempted, on its first try: no failure was counted.
        assert_eq!(outcome.result::<Vec<u32>>().unwrap(), Some(vec![41, 1, 1]));
        assert!(begun.elapsed() < 61 * SECOND, "{:?}", begun.elapsed());
    });
}

#[test]
fn a_consumer_that_is_dropped_gives_back_what_it_held() {
    story(async {
        let queue = Line::new().queue();
        queue
            .handle("sleep", |(): (), _ctx| async {
                sleep(60 * MINUTE).await;
                Ok(())
            })
            .unwrap();
        let consumer = consumer(&queue, 2);
        let id = queue.submit("sleep", &()).await.unwrap().id();
        sleep(SECOND).await;
        drop(consumer);
        sleep(SECOND).await;
        assert_eq!(record(&queue, id).await.state, State::Ready);
    });
}
