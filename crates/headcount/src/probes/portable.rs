//! The machine as `sysinfo` shows it, where there is no `proc` to read.
//!
//! It knows no I/O wait, no pressure and no containers; the load average is unknown on Windows.

use std::time::Duration;

use headcount_core::{MemoryUse, Timestamp};
use sysinfo::{MemoryRefreshKind, System};

use super::sample::{HostSample, Load};
use super::sensor::{Sensor, SensorError};

/// The machine that we run on.
///
/// ```
/// use headcount::Timestamp;
/// use headcount::probes::{Host, Sensor};
///
/// let sample = Host::new().sample(Timestamp::ORIGIN)?;
/// assert!(sample.memory.is_some() && sample.cores.is_some());
/// # Ok::<(), headcount::probes::SensorError>(())
/// ```
#[derive(Debug)]
pub struct Host {
    system: Option<System>,
    cpu: Cpu,
}

/// The use of processors, which is a rate.
#[derive(Debug, Default)]
struct Cpu {
    read_at: Option<Timestamp>,
    share: Option<f64>,
}

/// Over less than that, the share of time in use is noise.
const WINDOW_MIN: Duration = Duration::from_millis(500);

impl Host {
    /// The machine that we run on.
    #[must_use]
    pub fn new() -> Self {
        Self { system: System::new().ok(), cpu: Cpu::default() }
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl Sensor for Host {
    fn sample(&mut self, at: Timestamp) -> Result<HostSample, SensorError> {
        let system = self.system.as_mut().ok_or(SensorError::Unsupported)?;
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let cpu = self.cpu.share(system, at);
        let host_cores = u32::try_from(system.cpus().len()).ok().filter(|cores| 0 < *cores);
        let usable = std::thread::available_parallelism().ok();
        let memory = memory(system);
        Ok(HostSample {
            cpu,
            load: load(),
            host_cores,
            cores: usable.map(|cores| cores.get() as f64).or(host_cores.map(f64::from)),
            memory,
            memory_limit_bytes: memory.map(|memory| memory.limit_bytes),
            ..HostSample::default()
        })
    }
}

impl Cpu {
    fn share(&mut self, system: &mut System, at: Timestamp) -> Option<f64> {
        if self.read_at.is_some_and(|then| at.since(then) < WINDOW_MIN) {
            return self.share;
        }
        system.refresh_cpu_usage();
        // What the first reading says is of no window at all.
        if self.read_at.replace(at).is_some() {
            let share = f64::from(system.global_cpu_usage()) / 100.0;
            self.share = share.is_finite().then(|| share.clamp(0.0, 1.0));
        }
        self.share
    }
}

fn load() -> Option<Load> {
    // Windows keeps none, and what is offered in its place is said not to work.
    if cfg!(windows) {
        return None;
    }
    let load = System::load_average().ok()?;
    Some(Load { one: load.one, five: load.five, fifteen: load.fifteen })
}

fn memory(system: &System) -> Option<MemoryUse> {
    let limit_bytes = system.total_memory();
    let used_bytes = limit_bytes.saturating_sub(system.available_memory());
    (0 < limit_bytes).then_some(MemoryUse { used_bytes, limit_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_machine_is_plausible() {
        let mut host = Host::new();
        let first = host.sample(Timestamp::ORIGIN).unwrap();
        assert_eq!(first.cpu, None, "a rate needs two samples");
        let sample = host.sample(Timestamp::from_secs(1)).unwrap();
        assert!(sample.cpu.is_some_and(|share| (0.0..=1.0).contains(&share)), "{sample:?}");
        assert!(sample.cores.is_some_and(|cores| 1.0 <= cores), "{sample:?}");
        let memory = sample.memory.unwrap();
        assert!(0 < memory.used_bytes && memory.used_bytes < memory.limit_bytes, "{memory:?}");
    }

    #[test]
    fn a_sample_soon_after_another_repeats_its_rates() {
        let mut host = Host::new();
        for millis in [0, 1000] {
            host.sample(Timestamp::from_millis(millis)).unwrap();
        }
        let known = host.sample(Timestamp::from_millis(1001)).unwrap().cpu;
        assert_eq!(host.sample(Timestamp::from_millis(1002)).unwrap().cpu, known);
    }
}
