//! Tells the metrics how long jobs wait and run.

use std::sync::Arc;
use std::time::Instant;

use headcount::jobs::{Context, Middleware, Next, Running};
use headcount::ops::Observer;

/// A step around every handler that looks at the clock.
pub(super) struct Timing(pub(super) Arc<Observer>);

impl Middleware for Timing {
    fn around<'a>(&'a self, ctx: Context, next: Next<'a>) -> Running<'a> {
        let (queue, kind) = (ctx.queue().clone(), ctx.kind().clone());
        let job = ctx.job();
        self.0.started(&queue, &kind, job.leased_at.since(job.due_at));
        Box::pin(async move {
            let began = Instant::now();
            let outcome = next.run(ctx).await;
            self.0.finished(&queue, &kind, began.elapsed());
            outcome
        })
    }
}
