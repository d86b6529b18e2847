//! Queueing maths: how long a line is, and how many workers keep it short.
//!
//! Everything is a pure function of a few numbers; times are seconds, rates are per second, shares
//! are between 0 and 1. A number that makes no sense is a [`BadNumber`]; a line that would grow
//! without end is `None`, never an infinity.
//!
//! ```
//! use headcount_sim::maths::{Service, Slo, Traffic, allen_cunneen, workers_needed};
//!
//! // 1000 jobs a second of 50 ms at the median and 200 ms at the 99th percentile.
//! let traffic = Traffic::poisson(1000.0, Service::lognormal(0.050, 0.200)?)?;
//! // At most 1 % may wait longer than 50 ms.
//! assert_eq!(workers_needed(&traffic, &Slo::wait(0.050, 0.01)?), Some(64));
//! assert!(allen_cunneen(&traffic, 64).expect("64 keep up") < 0.006);
//! assert_eq!(allen_cunneen(&traffic, 59), None, "59 never catch up");
//! # Ok::<(), headcount_sim::maths::BadNumber>(())
//! ```

mod bad_number;
mod normal;

mod load;
mod service;
mod service_sum;
mod traffic;

mod erlang;
mod little;

mod allen_cunneen;
mod kingman;
mod mm1;
mod mmc;
mod pollaczek_khinchine;

mod bursts;
mod latency;
mod wait;

mod capacity;
mod needed;
mod slo;
mod square_root;

mod dispersion;
mod least_squares;
mod scalability;

pub use allen_cunneen::allen_cunneen;
pub use bad_number::BadNumber;
pub use capacity::rate_max;
pub use dispersion::Dispersion;
pub use erlang::{erlang_b, erlang_c};
pub use kingman::kingman;
pub use latency::latency_beyond;
pub use little::{little_count, little_span};
pub use load::Load;
pub use mm1::mm1;
pub use mmc::mmc;
pub use needed::{WORKERS_MAX, workers_needed};
pub use pollaczek_khinchine::pollaczek_khinchine;
pub use scalability::{Scalability, Unfit};
pub use service::Service;
pub(crate) use service_sum::ServiceSum;
pub use slo::{Measured, Slo};
pub use square_root::{halfin_whitt, halfin_whitt_beta, square_root_staffing};
pub use traffic::Traffic;
pub use wait::{wait_beyond, wait_mean};
