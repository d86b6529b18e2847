//! How jobs are done: handlers, what they are told, what they can answer, and what goes around
//! them.

mod context;
mod error;
mod middleware;
mod registry;
mod run;
mod typed;

use std::future::Future;
use std::pin::Pin;

pub use context::Context;
pub(crate) use error::Follows;
pub use error::JobError;
pub use middleware::{Middleware, Next};
pub use registry::HandleError;

pub(crate) use middleware::Place;
pub(crate) use registry::{Handlers, Known};
pub(crate) use run::{Act, Counted, Grip, Run, Stop};

/// A handler at work: in the end it gives the bytes of a result, or says why there is none.
pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Option<Vec<u8>>, JobError>> + Send + 'a>>;

/// Does jobs of one kind.
///
/// A handler may be called for many jobs at once, and for one job more than once: a job whose
/// worker was lost is run again. It may be dropped at any await point when the job timed out, was
/// cancelled or was lost to another worker; what must not be left half done belongs in a task of
/// its own, or listens to [`Context::cancelled`] and is then given a moment.
///
/// Most handlers are closures: see [`Queue::handle`](crate::Queue::handle).
///
/// ```
/// use headcount_queue::{Context, Handler, Running};
///
/// /// Gives back what it was given.
/// struct Echo;
///
/// impl Handler for Echo {
///     fn run(&self, ctx: Context) -> Running<'_> {
///         Box::pin(async move { Ok(Some(ctx.payload().to_vec())) })
///     }
/// }
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Does the job whose payload and surroundings are in `ctx`.
    fn run(&self, ctx: Context) -> Running<'_>;
}
