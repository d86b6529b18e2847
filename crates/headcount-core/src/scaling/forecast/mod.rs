//! What comes next, from what came so far: one number for each bucket of time.
//!
//! Worth something only where workers are slow to come, for the time that they take. So there are
//! few models, all cheap: the last value, its trend, the value of a season ago, and level, trend
//! and season together. None is trusted by itself: [`Best`] scores them all on what they said and
//! what came, and goes by the last value where none is better.

mod model;
mod holt;
mod season;
mod best;

pub use best::{Best, BestConfig};
pub use model::Forecaster;

/// The longest season, in buckets: a week of minutes.
pub const SEASON_MAX: u32 = 10_080;
/// The furthest that [`Best`] looks ahead, in buckets.
pub const HORIZON_MAX: u32 = 1024;

/// More than anything that is counted. Beyond it numbers are cut off, so that sums stay numbers.
const VALUE_MAX: f64 = 1e30;

fn bounded(value: f64) -> f64 {
    value.clamp(-VALUE_MAX, VALUE_MAX)
}

/// What a model can have written down.
fn is_sound(value: f64) -> bool {
    value.abs() <= VALUE_MAX
}
