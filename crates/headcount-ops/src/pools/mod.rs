//! Pools: what they are to this crate, and the routes that show and steer them.

mod port;
mod routes;
mod view;

pub use port::{Pools, PoolsError, Scale};
pub(crate) use routes::{all, decisions, one, policy, scale, set_policy, why};
pub use view::{DecisionView, Held, PoolHealth, PoolTotals, PoolView};
