//! Scalers at work, by effect.

mod scaling;
mod sharing;
mod support;
#[cfg(feature = "trace")]
mod tracing;

mod pools;
