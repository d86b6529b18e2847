//! See and steer: the admin API, the health endpoints and the metrics.
//!
//! [`Ops`] serves plain JSON over HTTP/1 on a loopback address: queues and jobs of a store, pools
//! and why they have their size, `/healthz`, `/ready` and `/metrics`. It knows stores by the port
//! of the core and pools by a small trait of its own, [`Pools`]; whoever joins the two to real ones
//! is elsewhere. `docs/api.md` lists every route, `docs/metrics.md` every metric.
//!
//! What comes in goes through one door: `server/door.rs` decides who may ask at all, before any
//! route is looked at.

#![forbid(unsafe_code)]

mod ops;
mod server;

mod routes;
mod health;
mod jobs;
mod pools;
mod throttling;

mod metrics;

mod answer;
mod app;
mod request;

pub use metrics::{ALIASES, METRICS, Machine, Metric, MetricKind, Observer};
pub use ops::{Ops, OpsBuilder, StartError};
pub use pools::{DecisionView, Held, PoolHealth, PoolTotals, PoolView, Pools, PoolsError, Scale};
pub use routes::routes;
pub use server::Limits;
pub use throttling::{Throttling, ThrottlingFault};
