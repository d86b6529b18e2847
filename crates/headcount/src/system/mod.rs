//! Everything that a configuration file says, at work.

mod at_work;

mod reload;
mod unit;
mod watching;

mod error;

pub use at_work::{System, SystemBuilder, SystemDrained};
pub use error::SystemError;
pub use reload::Reload;
