//! How many workers a container has room for, whatever the load.
//!
//! Half of the memory limit divided by what a worker takes is the rule of the design this was asked
//! for in; the same for processors is ours.

use std::fmt;

/// The size of a container, or of the host where there is no container.
///
/// ```
/// use headcount::probes::{HostSample, Container};
///
/// let sample = HostSample { cores: Some(1.5), ..Default::default() };
/// assert_eq!(sample.container(), Container { cores: Some(1.5), memory_limit_bytes: None });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Container {
    /// Processors, in parts where a quota grants parts. `None`: not known.
    pub cores: Option<f64>,
    /// The limit on memory. `None`: not known.
    pub memory_limit_bytes: Option<u64>,
}

/// What one worker takes of its container.
///
/// ```
/// use headcount::probes::{Container, PerWorker};
///
/// let container = Container { cores: Some(1.5), memory_limit_bytes: Some(1 << 30) };
/// let worker = PerWorker { bytes: Some(64 << 20), ..PerWorker::default() };
/// let ceiling = worker.ceiling(&container).expect("the limit is known");
/// assert_eq!(ceiling.workers, 8);
/// assert_eq!(ceiling.to_string(), "at most 8: 50 % of 1024.0 MiB, 64.0 MiB for each worker");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerWorker {
    /// Processors: 1 for a worker that computes, less for one that mostly waits. Default: `None`,
    /// so processors limit nothing.
    pub cpu: Option<f64>,
    /// Bytes of memory, its task included. Default: `None`, so memory limits nothing.
    pub bytes: Option<u64>,
    /// The share of memory that workers may have, 0 to 1. Default: 0.5.
    pub memory_share: f64,
}

impl Default for PerWorker {
    fn default() -> Self {
        Self { cpu: None, bytes: None, memory_share: 0.5 }
    }
}

impl PerWorker {
    /// The most workers that the container has room for, at least 1; `None` where nothing limits
    /// them or the limit is not known.
    ///
    /// A worker that takes nothing, or less than nothing, limits nothing.
    #[must_use]
    pub fn ceiling(&self, container: &Container) -> Option<Ceiling> {
        let limits = [self.by_cpu(container), self.by_memory(container)];
        limits.into_iter().flatten().min_by_key(|ceiling| ceiling.workers)
    }

    fn by_cpu(&self, container: &Container) -> Option<Ceiling> {
        let (cores, each) = (known(container.cores?)?, known(self.cpu?)?);
        Some(Ceiling { workers: whole(cores / each), bound: Bound::Cpu { cores, each } })
    }

    fn by_memory(&self, container: &Container) -> Option<Ceiling> {
        let limit_bytes = container.memory_limit_bytes?;
        let (each_bytes, share) = (self.bytes?, known(self.memory_share)?.min(1.0));
        let room = limit_bytes as f64 * share / known(each_bytes as f64)?;
        let bound = Bound::Memory { limit_bytes, share, each_bytes };
        Some(Ceiling { workers: whole(room), bound })
    }
}

/// A number to divide by or into parts.
fn known(value: f64) -> Option<f64> {
    (value.is_finite() && 0.0 < value).then_some(value)
}

/// Whole workers, of which there is always one.
fn whole(workers: f64) -> u32 {
    // A little more, as 0.3 divided by 0.1 is a little less than 3.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
    let workers = (workers * (1.0 + 1e-9)).floor() as u32;
    workers.max(1)
}

/// The most workers that a container has room for, and why. Displays as a sentence.
///
/// ```
/// use headcount::probes::{Container, PerWorker};
///
/// let worker = PerWorker { cpu: Some(0.25), ..PerWorker::default() };
/// let container = Container { cores: Some(1.5), ..Container::default() };
/// let ceiling = worker.ceiling(&container).expect("the cores are known");
/// assert_eq!(ceiling.to_string(), "at most 6: 1.5 cores, 0.25 for each worker");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// The most workers.
    pub workers: u32,
    /// What there are no more of.
    pub bound: Bound,
}

/// What limits the workers of a container.
///
/// ```
/// use headcount::probes::{Bound, Container, PerWorker};
///
/// let worker = PerWorker { cpu: Some(1.0), bytes: Some(1 << 20), ..PerWorker::default() };
/// let container = Container { cores: Some(2.0), memory_limit_bytes: Some(1 << 30) };
/// let ceiling = worker.ceiling(&container).expect("both limits are known");
/// assert_eq!(ceiling.bound, Bound::Cpu { cores: 2.0, each: 1.0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Bound {
    /// Processors.
    Cpu {
        /// How many there are.
        cores: f64,
        /// How many a worker takes.
        each: f64,
    },
    /// Memory.
    Memory {
        /// How much there is.
        limit_bytes: u64,
        /// The share of it that workers may have.
        share: f64,
        /// How much a worker takes.
        each_bytes: u64,
    },
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {}: ", self.workers)?;
        match self.bound {
            Bound::Cpu { cores, each } => write!(f, "{cores} cores, {each} for each worker"),
            Bound::Memory { limit_bytes, share, each_bytes } => {
                let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
                let (limit, each) = (mib(limit_bytes), mib(each_bytes));
                let percent = share * 100.0;
                write!(f, "{percent:.0} % of {limit:.1} MiB, {each:.1} MiB for each worker")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn check(per_worker: (Option<f64>, Option<u64>), container: Container, told: &str) {
        let (cpu, bytes) = per_worker;
        let ceiling = PerWorker { cpu, bytes, ..PerWorker::default() }.ceiling(&container);
        assert_eq!(ceiling.map_or("no limit".to_owned(), |ceiling| ceiling.to_string()), told);
    }

    fn container(cores: f64, memory_limit_bytes: u64) -> Container {
        Container { cores: Some(cores), memory_limit_bytes: Some(memory_limit_bytes) }
    }

    #[test]
    fn the_tighter_of_both_limits_holds() {
        let each = (Some(0.5), Some(GIB / 16));
        check(each, container(2.0, GIB), "at most 4: 2 cores, 0.5 for each worker");
        let told = "at most 8: 50 % of 1024.0 MiB, 64.0 MiB for each worker";
        check(each, container(8.0, GIB), told);
    }

    #[test]
    fn there_is_always_room_for_one() {
        check((Some(4.0), None), container(0.5, 0), "at most 1: 0.5 cores, 4 for each worker");
        let told = "at most 1: 50 % of 0.0 MiB, 1024.0 MiB for each worker";
        check((None, Some(GIB)), container(1.0, 0), told);
    }

    #[test]
    fn tenths_add_up() {
        check((Some(0.1), None), container(0.3, 0), "at most 3: 0.3 cores, 0.1 for each worker");
    }

    #[test]
    fn what_is_not_known_limits_nothing() {
        check((None, None), container(2.0, GIB), "no limit");
        check((Some(1.0), Some(GIB)), Container::default(), "no limit");
        check((Some(0.0), Some(0)), container(2.0, GIB), "no limit");
        check((Some(f64::NAN), None), container(2.0, GIB), "no limit");
        check((Some(1.0), None), container(f64::INFINITY, GIB), "no limit");
    }

    #[test]
    fn a_tiny_worker_does_not_overflow_the_count() {
        let worker = PerWorker { cpu: Some(1e-300), ..PerWorker::default() };
        let ceiling = worker.ceiling(&container(64.0, GIB)).expect("both are known");
        assert_eq!(ceiling.workers, u32::MAX);
    }
}
