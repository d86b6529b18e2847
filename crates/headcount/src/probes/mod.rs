//! What is known of the machine, for all pools of a process at once.
//!
//! ```text
//! Sensor -- HostSample --> Sampler (one thread) -- Latest --> every pool's observation
//! ```
//!
//! [`Host`] is the sensor of the machine we run on: processors, I/O wait, load, memory, kernel
//! pressure, file descriptors and threads, each within the limits of the container, if there is
//! one. A [`Sampler`] asks a sensor every few seconds and keeps its last word, so that a pool that
//! wants to know how the machine is never waits for the answer. [`PerWorker`] says how many workers
//! a container has room for at all.
//!
//! ```
//! use headcount::probes::{Host, Sampler, SamplerConfig};
//! use headcount::{Clock, Observation, PoolSnapshot, SystemClock};
//! use std::sync::Arc;
//!
//! let sampler = Sampler::start(Host::new(), SamplerConfig::default(), Arc::new(SystemClock))?;
//! sampler.sample_now();
//!
//! let mut observation = Observation::new(SystemClock.now(), PoolSnapshot::default());
//! sampler.tell(&mut observation);
//! assert!(observation.memory.is_some(), "what a guard or a decider will see");
//! # Ok::<(), headcount::probes::StartError>(())
//! ```

mod sample;
mod sensor;

mod ceiling;
mod db_pool;
#[cfg(feature = "deadpool")]
mod deadpool;

mod config;
mod kept;
mod sampler;

#[cfg(target_os = "linux")]
mod linux;
// On Linux it only proves itself in the tests.
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(unreachable_pub))]
mod portable;

pub use ceiling::{Bound, Ceiling, Container, PerWorker};
pub use config::{SamplerConfig, StartError};
pub use db_pool::{DbPool, DbPoolsFull};
pub use kept::{Latest, SampleCounts};
#[cfg(target_os = "linux")]
pub use linux::Host;
#[cfg(not(target_os = "linux"))]
pub use portable::Host;
pub use sample::{HostSample, Load, Usage};
pub use sampler::Sampler;
pub use sensor::{Scripted, Sensor, SensorError};
