//! Signals around signals: they average, bound or delay what another one says.
//!
//! No data stays no data: it is skipped and never taken for 0, and so is a number that is not
//! finite. Each takes all the room it needs when it is made. Reading one observation twice
//! changes nothing.

mod change;
mod clamp;
mod ewma;
mod samples;
mod window;

mod recent;

pub use change::Change;
pub use clamp::Clamp;
pub use ewma::Ewma;
pub use samples::Samples;
pub use window::{Aggregate, Window};

#[cfg(test)]
mod story;
