//! Scalers at work: what is decided in the core is done here.
//!
//! A [`Scaler`] joins something [`Resizable`](headcount_core::Resizable) to a policy. A [`Driver`]
//! looks at all of them, each when it is due: it gathers what is known, has the policy decide,
//! applies what came out and records it (`cycle.rs`, the whole loop). When to look is decided in
//! `agenda.rs` and the core's `Pulse`, which know no clock.
//!
//! What the lock of a scaler protects is one turn: nobody else looks, decides or acts in it. The
//! lock is held while the pool is asked and resized, so whatever the pool calls back from there
//! must not need it: a poke goes to the driver's agenda, whose lock is a leaf. Listeners are called
//! when no lock is held. Files are written by threads of their own (`writer.rs`): a tick hands over
//! what is to be written and waits for no disk.

mod driver;
mod scaler;

mod cycle;
mod inner;

mod agenda;

mod builder;
mod event;
mod names;
mod surroundings;
mod wall;
mod writer;

mod autoscale;
mod pool_policy;

mod budget;
mod downstream;
mod state_file;
mod throttle;

pub use autoscale::{Autoscale, AutoscaleError, Autoscaled};
pub use budget::{Budget, Share};
pub use builder::{PolicyError, ScalerBuilder};
pub use downstream::Downstream;
pub use driver::Driver;
pub use event::{AudienceFull, Scaled, ScalerEvent};
pub use pool_policy::ScalingPolicy;
pub use scaler::Scaler;
pub use state_file::StateFile;
pub use surroundings::Surroundings;
pub use throttle::{Job, Throttle};
pub use wall::{UtcOffset, UtcOffsetError};

#[cfg(feature = "config")]
pub(crate) use inner::{Fit, MakeExtras};
#[cfg(feature = "trace")]
pub(crate) use names::Names;
#[cfg(feature = "trace")]
pub(crate) use surroundings::{Footing, Record, Tick};
#[cfg(feature = "trace")]
pub(crate) use writer::{GivesWay, Room, Writer};
