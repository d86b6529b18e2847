//! What was measured of the machine at one instant, as plain numbers.

use headcount_core::MemoryUse;
use headcount_core::health::{Pressure, Vitals};

use super::ceiling::Container;

/// What was measured of the machine at one instant. `None`: it could not be measured.
///
/// ```
/// use headcount::probes::{HostSample, Load};
///
/// let load = Load { one: 24.0, five: 12.0, fifteen: 6.0 };
/// let sample = HostSample {
///     load: Some(load),
///     host_cores: Some(8),
///     cores: Some(0.5),
///     ..HostSample::default()
/// };
/// let vitals = sample.vitals();
/// assert_eq!(vitals.load_per_core, Some(3.0), "the load is of the host, and so are its cores");
/// assert_eq!(vitals.memory, None, "nobody has measured it");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostSample {
    /// The share of processor time that was used since the sample before, 0 to 1: of the
    /// container's quota where it has one, else of all processors of the host.
    pub cpu: Option<f64>,
    /// The share of the container's scheduling periods in which it was held back because its quota
    /// was used up, 0 to 1. `None` also where there is no quota.
    pub throttled: Option<f64>,
    /// The share of time that the host's processors idled for want of a disk, 0 to 1.
    pub io_wait: Option<f64>,
    /// Tasks that run or wait to, on the whole host, averaged.
    pub load: Option<Load>,
    /// The processors of the host, on which the load lies.
    pub host_cores: Option<u32>,
    /// The processors that this process may use: of those it may run on, what the quota grants.
    pub cores: Option<f64>,
    /// Memory that cannot be given back, against the limit that has the least room left: the
    /// host's, the container's, or one further up.
    pub memory: Option<MemoryUse>,
    /// The lowest of all limits on memory, whichever of them has the least room left.
    pub memory_limit_bytes: Option<u64>,
    /// Stalled time as the kernel measures it: of the container where the kernel says, else of the
    /// host.
    pub pressure: Option<Pressure>,
    /// The open files of this process against its limit.
    pub file_descriptors: Option<Usage>,
    /// Threads against the limit that is used up the most: this process's, the container's or the
    /// host's.
    pub threads: Option<Usage>,
    /// The share of database connections in use, 0 to 1, in the pool that is used the most.
    pub db_pool: Option<f64>,
}

impl HostSample {
    /// What the health score is made of.
    ///
    /// The load is divided by the cores of the host, not by those of the container: all of the
    /// host's tasks are in it, and a small container on a large host is not sick because of them.
    #[must_use]
    pub fn vitals(&self) -> Vitals {
        let per_core = |load: Load| {
            let cores = self.host_cores.filter(|cores| 0 < *cores)?;
            Some(load.one / f64::from(cores))
        };
        Vitals {
            io_wait: self.io_wait,
            load_per_core: self.load.and_then(per_core),
            memory: self.memory.and_then(share_of_memory),
            db_pool: self.db_pool,
            pressure: self.pressure,
        }
    }

    /// How large the container is, or the host where there is no container.
    #[must_use]
    pub fn container(&self) -> Container {
        Container { cores: self.cores, memory_limit_bytes: self.memory_limit_bytes }
    }
}

fn share_of_memory(memory: MemoryUse) -> Option<f64> {
    let limit = (0 < memory.limit_bytes).then_some(memory.limit_bytes)?;
    Some((memory.used_bytes as f64 / limit as f64).min(1.0))
}

/// The load averages of the host.
///
/// ```
/// use headcount::probes::Load;
///
/// let load = Load { one: 9.5, five: 4.0, fifteen: 1.2 };
/// assert!(load.fifteen < load.one, "it is rising");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Of the last minute.
    pub one: f64,
    /// Of the last five minutes.
    pub five: f64,
    /// Of the last fifteen minutes.
    pub fifteen: f64,
}

/// How much of something countable is in use.
///
/// ```
/// use headcount::probes::Usage;
///
/// assert_eq!(Usage { used: 768, limit: 1024 }.share(), 0.75);
/// assert_eq!(Usage { used: 0, limit: 0 }.share(), 1.0, "not even one is allowed");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many are in use.
    pub used: u64,
    /// How many are allowed.
    pub limit: u64,
}

impl Usage {
    /// The share in use, 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        match self.limit {
            0 => 1.0,
            limit => (self.used as f64 / limit as f64).min(1.0),
        }
    }

    /// The one of both that is used up more.
    #[cfg(target_os = "linux")]
    pub(super) fn fuller(self, other: Self) -> Self {
        if self.share() < other.share() { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_no_vital() {
        assert_eq!(HostSample::default().vitals(), Vitals::default());
        let without_cores =
            HostSample { load: Some(Load::default()), host_cores: Some(0), ..Default::default() };
        assert_eq!(without_cores.vitals(), Vitals::default());
        let memory = Some(MemoryUse::default());
        assert_eq!(HostSample { memory, ..Default::default() }.vitals(), Vitals::default());
    }

    #[test]
    fn memory_is_a_share_and_at_most_all_of_it() {
        let share = |used_bytes| {
            let memory = Some(MemoryUse { used_bytes, limit_bytes: 1000 });
            HostSample { memory, ..Default::default() }.vitals().memory
        };
        assert_eq!((share(990), share(1001)), (Some(0.99), Some(1.0)));
    }
}
