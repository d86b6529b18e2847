//! Carries the span of whoever submits a task over to where the task runs.
//!
//! Spans follow the thread, and a task changes threads. Without this the trace of a request ends
//! where it hands its work to a pool.

use std::any::Any;

use tracing::field::Empty;
use tracing::{Span, info_span};

use super::{Baggage, Ending, PoolPolicy, TaskView, Verdict};

/// Runs each task in a span of its own, below the span in which it was submitted.
///
/// The span is called `task`. It begins when the task begins, and has the fields `id`, `class`,
/// `waited_secs`, and from its end on `outcome` and `ran_secs`.
///
/// ```
/// use headcount_pool::policy::{Policies, TaskView, TraceContext};
/// use std::sync::Arc;
///
/// let policies = Policies::new();
/// policies.add(Arc::new(TraceContext)).expect("the only one of its name");
/// let task = TaskView { id: 1, class: Some("resize"), ..TaskView::default() };
/// let mut escort = tracing::info_span!("request").in_scope(|| policies.enqueue(&task))?;
/// escort.started(&task);
/// escort.around(&mut || tracing::info!("this is part of the request"));
/// # Ok::<(), headcount_pool::policy::Rejection>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceContext;

/// The spans of one task.
struct Spans {
    submitter: Span,
    /// None before the task begins.
    task: Span,
}

impl PoolPolicy for TraceContext {
    fn name(&self) -> &'static str {
        "trace_context"
    }

    fn on_enqueue(&self, _task: &TaskView<'_>) -> Verdict {
        Verdict::accept_with(Spans { submitter: Span::current(), task: Span::none() })
    }

    fn on_start(&self, task: &TaskView<'_>, baggage: Option<&mut (dyn Any + Send)>) {
        let Some(spans) = spans(baggage) else { return };
        spans.task = info_span!(
            parent: &spans.submitter,
            "task",
            id = task.id,
            class = task.class,
            waited_secs = task.waited.map(|waited| waited.as_secs_f64()),
            outcome = Empty,
            ran_secs = Empty,
        );
    }

    fn around(&self, baggage: Option<&mut (dyn Any + Send)>, inside: &mut dyn FnMut()) {
        match spans(baggage) {
            Some(spans) => spans.task.in_scope(inside),
            None => inside(),
        }
    }

    fn on_complete(&self, _task: &TaskView<'_>, ending: Ending, mut baggage: Option<Baggage>) {
        let Some(spans) = spans(baggage.as_deref_mut()) else { return };
        spans.task.record("outcome", ending.outcome.as_str());
        spans.task.record("ran_secs", ending.ran.as_secs_f64());
    }
}

fn spans(baggage: Option<&mut (dyn Any + Send)>) -> Option<&mut Spans> {
    baggage?.downcast_mut()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::fmt::{Debug, Write};
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::Duration;

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Dispatch, Event, Metadata, Subscriber, dispatcher};
    use tracing_core::span::Current;

    use super::*;
    use crate::policy::{Escort, Outcome, Policies};

    /// A subscriber that writes down what happens, in the words of the spans' names.
    #[derive(Clone, Default)]
    struct Scribe {
        book: Arc<Mutex<Book>>,
        spans_made: Arc<AtomicU64>,
    }

    #[derive(Default)]
    struct Book {
        lines: Vec<String>,
        spans: Vec<&'static Metadata<'static>>,
        /// Those that are entered, on whichever thread.
        entered: Vec<(thread::ThreadId, Id)>,
    }

    impl Book {
        fn name(&self, id: &Id) -> &'static str {
            self.metadata(id).name()
        }

        fn metadata(&self, id: &Id) -> &'static Metadata<'static> {
            self.spans[usize::try_from(id.into_u64()).expect("few spans") - 1]
        }
    }

    impl Scribe {
        fn write(&self, line: impl FnOnce(&Book) -> String) {
            let mut book = self.book.lock().expect("no panic");
            let line = line(&book);
            book.lines.push(line);
        }

        fn lines(&self) -> Vec<String> {
            self.book.lock().expect("no panic").lines.clone()
        }
    }

    struct Fields(String);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            write!(self.0, " {field}={value:?}").expect("room in a text");
        }
    }

    impl Subscriber for Scribe {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut fields = Fields(String::new());
            span.record(&mut fields);
            self.write(|book| {
                let parent = span.parent().map_or("nobody", |parent| book.name(parent));
                format!("{} of {parent}{}", span.metadata().name(), fields.0)
            });
            self.book.lock().expect("no panic").spans.push(span.metadata());
            Id::from_u64(self.spans_made.fetch_add(1, SeqCst) + 1)
        }

        fn record(&self, span: &Id, values: &Record<'_>) {
            let mut fields = Fields(String::new());
            values.record(&mut fields);
            self.write(|book| format!("{}{}", book.name(span), fields.0));
        }

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            let current = self.current_span();
            let name = current.metadata().map_or("nothing", |metadata| metadata.name());
            self.write(|_| format!("an event in {name}"));
        }

        fn enter(&self, span: &Id) {
            let entered = (thread::current().id(), span.clone());
            self.book.lock().expect("no panic").entered.push(entered);
        }

        fn exit(&self, span: &Id) {
            let left = (thread::current().id(), span.clone());
            self.book.lock().expect("no panic").entered.retain(|entered| *entered != left);
        }

        fn current_span(&self) -> Current {
            let book = self.book.lock().expect("no panic");
            let here = thread::current().id();
            match book.entered.iter().rev().find(|(thread, _)| *thread == here) {
                Some((_, id)) => Current::new(id.clone(), book.metadata(id)),
                None => Current::none(),
            }
        }
    }

    fn submit(policies: &Policies) -> (TaskView<'static>, Escort) {
        let task = TaskView { id: 7, class: Some("resize"), waited: None };
        (task, policies.enqueue(&task).expect("it never rejects"))
    }

    /// Submits with `submit`, and runs the task on another thread. What was written down?
    fn check(submit: impl FnOnce(&Policies) -> (TaskView<'static>, Escort), expected: &[&str]) {
        let scribe = Scribe::default();
        let dispatch = Dispatch::new(scribe.clone());
        let policies = Policies::new();
        policies.add(Arc::new(TraceContext)).expect("the only one");
        let (task, mut escort) = dispatcher::with_default(&dispatch, || submit(&policies));
        let task = TaskView { waited: Some(Duration::from_millis(1500)), ..task };
        let worker = thread::spawn(move || {
            dispatcher::with_default(&dispatch, || {
                escort.started(&task);
                escort.around(&mut || tracing::info!("first poll"));
                tracing::info!("between the polls");
                escort.around(&mut || tracing::info!("second poll"));
                let ran = Duration::from_millis(250);
                escort.ended(&task, Ending { outcome: Outcome::Failed, ran });
            });
        });
        worker.join().expect("no panic");
        assert_eq!(scribe.lines(), expected);
        assert_eq!(policies.hook_panics(), 0);
    }

    #[test]
    fn the_span_of_a_task_is_below_that_of_its_submitter() {
        check(
            |policies| info_span!("request").in_scope(|| submit(policies)),
            &[
                "request of nobody",
                "task of request id=7 class=\"resize\" waited_secs=1.5",
                "an event in task",
                "an event in nothing",
                "an event in task",
                "task outcome=\"failed\"",
                "task ran_secs=0.25",
            ],
        );
    }

    #[test]
    fn a_task_that_nobody_traced_has_a_span_of_its_own() {
        check(
            submit,
            &[
                "task of nobody id=7 class=\"resize\" waited_secs=1.5",
                "an event in task",
                "an event in nothing",
                "an event in task",
                "task outcome=\"failed\"",
                "task ran_secs=0.25",
            ],
        );
    }
}
