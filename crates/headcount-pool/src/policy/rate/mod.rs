//! So many in a while: a rate limit, by itself or as a policy.

mod handle;

mod bucket;

pub use bucket::{Rate, TakeError};
pub use handle::RateLimit;
