//! Recorded runs: every observation and every decision, for replay.
//!
#![doc = include_str!("README.md")]

mod reader;
mod recorder;
mod row;

pub use reader::{TraceError, TraceReader};
pub use recorder::{Recorder, RecorderConfig, files};
pub use row::Row;
