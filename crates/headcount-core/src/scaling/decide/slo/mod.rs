//! Ours: keeps waits within a budget, and stops where more workers stop helping.
//!
//! The pool hires by itself, task by task, as soon as the wait budget would be missed (the inner
//! loop, see `roster`). So this decider does not say how many workers there should be; it says how
//! far the pool may go, and from where:
//!
//! ```text
//! ceiling = min(trust region, knee)    floor = forecast, only where hiring is slow
//! ```
//!
//! - *Trust region*: twice the concurrency that demonstrably worked. Without it a pool past its
//!   knee runs to its maximum within seconds, as every wait looks like a reason to hire.
//! - *Knee*: when tasks take longer because there are more of them, more workers bring no more
//!   throughput. The limit is then throughput times the service time at rest: the workers that
//!   would be busy if nobody stood in another's way.
//! - *Forecast*: where a worker takes longer to start than half of the wait budget, the floor
//!   covers the load expected when it will have started.
//!
//! Every estimate is in the proposal, so that a decision can be judged and replayed.

mod config;
mod decider;
mod forecast;
mod knee;
mod window;

pub use config::SloConfig;
pub use decider::Slo;
