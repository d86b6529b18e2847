//! The rules of other systems, with their own numbers.
//!
//! They are here to be compared with, and for those who know them and want them. Each is true to
//! what its origin does where a pool of workers allows it; where it does not, the head of the file
//! says what was done instead. A limit on concurrency is the size of the pool.

pub(super) mod meter;
mod pace;
mod sliding;
mod window;

mod on_demand;
mod tracking;
mod horizon;
mod knative;
mod ds2;
mod erlang;
mod gradient2;
mod vegas;
mod arc;
mod envoy;
mod hill_climb;

pub use arc::ArcConfig;
pub use ds2::Ds2Config;
pub use envoy::EnvoyConfig;
pub use erlang::ErlangConfig;
pub(super) use erlang::staffed;
pub use gradient2::Gradient2Config;
pub use hill_climb::HillClimbConfig;
pub use horizon::HorizonConfig;
pub use knative::KnativeConfig;
pub use on_demand::OnDemand;
pub use tracking::{Load, TrackingConfig};
pub use vegas::VegasConfig;

use crate::{Bounds, Staffing};

/// Where a limit may lie: as its origin has it, within the bounds of the pool.
///
/// A limit beyond the bounds would have to come all the way back before the pool moved.
#[derive(Clone, Copy, Debug)]
struct Range {
    min: f64,
    max: f64,
}

impl Range {
    fn of(min: u32, max: u32, bounds: Bounds) -> Self {
        let min = min.clamp(bounds.min.min(bounds.max), bounds.max);
        Self { min: f64::from(min), max: f64::from(max.min(bounds.max).max(min)) }
    }

    fn clamp(self, limit: f64) -> f64 {
        // `clamp` of a number that is none would stay none.
        if limit.is_finite() { limit.clamp(self.min, self.max) } else { self.min }
    }
}

/// A limit as the size of a pool: its whole part.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
fn exactly(limit: f64) -> Staffing {
    Staffing::exactly(limit.floor() as u32)
}

/// The next whole number of workers, without one more for the last bit of a float.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
fn whole_above(workers: f64) -> u32 {
    (workers - super::steps::EPSILON).ceil() as u32
}

#[cfg(test)]
pub(super) mod harness;
