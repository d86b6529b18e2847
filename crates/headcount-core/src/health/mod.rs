//! How well the machine is: a score from plain numbers, the zone it falls in, and how long it
//! may be believed.
//!
//! ```text
//! Vitals -> HealthRules -> Health (a score, 0 to 100) -> Standing (fresh or assumed) -> Zone
//! ```
//!
//! The score is a weighted sum, so that a spike of one reading does not throttle every worker.
//! Weights alone cannot see a single exhausted resource, though: memory at 99 % costs ten points.
//! Past its second threshold each resource therefore also limits the score by itself.

mod fault;
mod rules;
mod score;
mod standing;
mod vitals;
mod zone;

pub use fault::HealthFault;
pub use rules::{Exhausted, Exhaustion, HealthRules, Scoring, Thresholds, Weights};
pub use score::{Health, Resource};
pub use standing::{ASSUMED_SCORE, Basis, STALE_AFTER, Standing};
pub use vitals::{Pressure, Vitals};
pub use zone::Zone;
