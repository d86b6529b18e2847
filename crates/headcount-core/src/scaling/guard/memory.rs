//! Keeps the workers within the memory there is.

use super::{Because, Guard, Ruling};
use crate::{MemoryUse, Situation, Staffing};

/// Limits the pool to the workers that memory has room for.
///
/// Two limits hold: what fits into the share of the limit if workers were all there is, and what
/// fits beside what is in use already. Without a measurement the pool does not grow.
///
/// ```
/// use headcount_core::guard::{Guard, MemoryLimit};
/// use headcount_core::{History, MemoryUse, Observation, PoolSnapshot, Situation, Staffing};
///
/// let pool = PoolSnapshot::of(Staffing::exactly(4));
/// let memory = Some(MemoryUse { used_bytes: 0, limit_bytes: 1 << 30 });
/// let observation = Observation { pool, memory, ..Observation::default() };
/// let history = History::default();
/// let situation = Situation { observation: &observation, readings: &[], history: &history };
/// let limit = MemoryLimit { bytes_per_worker: 64 << 20, use_max: 0.5 };
/// let ruling = limit.review(&situation, Staffing::exactly(50));
/// let because = ruling.because().expect("fifty do not fit");
/// assert_eq!(because.to_string(), "memory has room for 8");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct MemoryLimit {
    /// What one worker takes, its task included. Default: 16 MiB.
    pub bytes_per_worker: u64,
    /// The share of the memory limit that may be used. Default: 0.5.
    pub use_max: f64,
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self { bytes_per_worker: 16 << 20, use_max: 0.5 }
    }
}

impl MemoryLimit {
    fn workers_max(&self, live: u32, memory: MemoryUse) -> u32 {
        let each = self.bytes_per_worker.max(1) as f64;
        let usable = memory.limit_bytes as f64 * self.use_max;
        let alone = usable / each;
        let beside = f64::from(live) + (usable - memory.used_bytes as f64) / each;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates.
        let workers = alone.min(beside).floor() as u32;
        workers
    }
}

impl Guard for MemoryLimit {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn is_limit(&self) -> bool {
        true
    }

    fn review(&self, situation: &Situation<'_>, wanted: Staffing) -> Ruling {
        let from = situation.from();
        let Some(memory) = situation.observation.memory else {
            let kept = wanted.no_more_than(from);
            return Ruling::of(from, wanted, kept, Because::MemoryUnknown);
        };
        let most = self.workers_max(situation.pool().live, memory);
        Ruling::of(from, wanted, wanted.at_most(most), Because::Memory(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::guard::harness::{Scene, check};

    const GIB: u64 = 1 << 30;

    fn memory(used_bytes: u64, limit_bytes: u64) -> Scene {
        Scene::at(0).with(move |o| o.memory = Some(MemoryUse { used_bytes, limit_bytes }))
    }

    #[test]
    fn half_of_the_memory_divided_by_the_need_of_each() {
        let limit = MemoryLimit { bytes_per_worker: GIB / 16, use_max: 0.5 };
        memory(0, GIB).check(&limit, 4, 50, "memory 8");
        memory(0, GIB).check(&limit, 4, 8, "yes 8");
    }

    #[test]
    fn what_others_use_counts() {
        let limit = MemoryLimit { bytes_per_worker: GIB / 16, use_max: 0.5 };
        memory(GIB * 3 / 8, GIB).check(&limit, 4, 50, "memory 6");
        memory(GIB * 5 / 8, GIB).check(&limit, 4, 4, "memory 2");
        memory(u64::MAX, GIB).check(&limit, 4, 4, "memory 0");
        memory(0, 0).check(&limit, 4, 4, "memory 0");
    }

    #[test]
    fn without_a_measurement_the_pool_does_not_grow() {
        check(&MemoryLimit::default(), 4, 5, "memory unknown 4");
        check(&MemoryLimit::default(), 4, 3, "yes 3");
    }
}
