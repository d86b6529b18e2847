//! A policy is data: written, then checked, then built.
//!
//! ```text
//! PolicyConfig  --check-->  Policy  --build-->  Autoscaler
//! every field optional      nothing wrong       remembers
//! ```
//!
//! `check` reports every fault at once, and hints at what is legal but unwise.

mod config;
mod check;
mod preset;
mod peers;
mod tempo;
mod extra_parts;
mod inspection;

pub use check::{Extras, Policy};
pub use config::{GuardsConfig, PolicyConfig, SignalConfig};
pub use extra_parts::ExtraParts;
pub(crate) use extra_parts::REPLAYED;
pub(crate) use inspection::Inspection;
pub use inspection::{Fault, Hint};
pub use preset::{Origin, Preset};
