//! What handlers are told, and what goes around them.

use std::sync::{Arc, Mutex};

use headcount_queue::jobs::State;
use headcount_queue::{Context, HandleError, JobError, Middleware, Next, Outcome, Running};

use crate::world::{Line, MINUTE, SECOND, consumer, record, sleep, story};

#[test]
fn a_job_is_done_and_its_result_is_kept() {
    story(async {
        let queue = Line::new().queue();
        queue.handle("double", |number: u32, _ctx| async move { Ok(number * 2) }).unwrap();
        let consumer = consumer(&queue, 4);
        let id = queue.submit("double", &21).keep(MINUTE).await.unwrap().id();
        let outcome = queue.outcome(id, MINUTE).await.unwrap();
        assert_eq!(outcome.result::<u32>().unwrap(), Some(42));
        assert_eq!(consumer.stats().done_total, 1);
    });
}

#[test]
fn a_handler_that_blocks_does_its_job_too() {
    story(async {
        let queue = Line::new().queue();
        queue.handle_blocking("double", |number: u32, _ctx| Ok(number * 2)).unwrap();
        let _consumer = consumer(&queue, 4);
        let id = queue.submit("double", &21).keep(MINUTE).await.unwrap().id();
        let outcome = queue.outcome(id, MINUTE).await.unwrap();
        assert_eq!(outcome.result::<u32>().unwrap(), Some(42));
    });
}

#[test]
fn a_kind_has_one_handler() {
    story(async {
        let queue = Line::new().queue();
        let nothing = |(): (), _ctx: Context| async { Ok(()) };
        assert_eq!(queue.handle("kind", nothing), Ok(()));
        let taken = HandleError::Taken("kind".parse().unwrap());
        assert_eq!(queue.clone().handle("kind", nothing), Err(taken));
        assert!(matches!(queue.handle("No Kind", nothing), Err(HandleError::Name(_))));
    });
}

/// Writes down when it is entered and left.
struct Step(&'static str, Arc<Mutex<Vec<String>>>);

impl Middleware for Step {
    fn around<'a>(&'a self, ctx: Context, next: Next<'a>) -> Running<'a> {
        Box::pin(async move {
            self.1.lock().unwrap().push(format!("{} in", self.0));
            let outcome = next.run(ctx).await;
            self.1.lock().unwrap().push(format!("{} out", self.0));
            outcome
        })
    }
}

#[test]
fn what_was_added_first_is_outermost() {
    story(async {
        let queue = Line::new().queue();
        let steps = Arc::new(Mutex::new(Vec::new()));
        queue.middleware(Step("outer", Arc::clone(&steps)));
        queue.middleware(Step("inner", Arc::clone(&steps)));
        let seen = Arc::clone(&steps);
        let handler = move |(): (), _ctx| {
            seen.lock().unwrap().push("handler".to_owned());
            async { Ok(()) }
        };
        queue.handle("kind", handler).unwrap();
        let _consumer = consumer(&queue, 1);
        let id = queue.submit("kind", &()).await.unwrap().id();
        queue.outcome(id, MINUTE).await.unwrap();
        let steps = steps.lock().unwrap().join(", ");
        assert_eq!(steps, "outer in, inner in, handler, inner out, outer out");
    });
}

/// Lets nobody in.
struct Closed;

impl Middleware for Closed {
    fn around<'a>(&'a self, _ctx: Context, _next: Next<'a>) -> Running<'a> {
        Box::pin(async { Err(JobError::dead("not today")) })
    }
}

#[test]
fn a_step_can_answer_in_the_handlers_place() {
    story(async {
        let queue = Line::new().queue();
        queue.middleware(Closed);
        queue.handle("kind", |(): (), _ctx| async { Ok(()) }).unwrap();
        let _consumer = consumer(&queue, 1);
        let id = queue.submit("kind", &()).await.unwrap().id();
        let outcome = queue.outcome(id, MINUTE).await.unwrap();
        assert_eq!(outcome, Outcome::Dead { error: "not today".to_owned() });
    });
}

#[test]
fn progress_is_seen_while_it_is_made() {
    story(async {
        let queue = Line::new().queue();
        let handler = |(): (), ctx: Context| async move {
            ctx.progress(30);
            sleep(MINUTE).await;
            Ok(())
        };
        queue.handle("long", handler).unwrap();
        let _consumer = consumer(&queue, 1);
        let id = queue.submit("long", &()).await.unwrap().id();
        sleep(3 * SECOND).await;
        let record = record(&queue, id).await;
        assert_eq!((record.state, record.progress), (State::Running, Some(30)));
    });
}

#[test]
fn a_handler_knows_which_try_it_is() {
    story(async {
        let queue = Line::new().queue();
        let handler = |(): (), ctx: Context| async move {
            match ctx.attempt() {
                3 => Ok((ctx.id(), ctx.queue().as_str().to_owned(), ctx.kind().clone())),
                attempt => Err(JobError::failed(attempt)),
            }
        };
        queue.handle("stubborn", handler).unwrap();
        let _consumer = consumer(&queue, 1);
        let id = queue.submit("stubborn", &()).keep(MINUTE).await.unwrap().id();
        let outcome = queue.outcome(id, MINUTE).await.unwrap();
        let told: (String, String, String) = outcome.result().unwrap().expect("a result");
        assert_eq!(told, (id.to_string(), "default".to_owned(), "stubborn".to_owned()));
    });
}
