//! Scalers at work, by effect.

#[cfg(all(feature = "trace", unix))]
mod recording;
mod scaling;
mod sharing;
mod support;
#[cfg(feature = "trace")]
mod tracing;

mod pools;
