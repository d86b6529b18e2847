//! A scaler among the policies of its pool.

use headcount_pool::policy::PoolPolicy;

use super::scaler::Scaler;

/// A scaler as a policy of its pool: to be found by its name, and switched on and off with the
/// others. It never rejects a task.
///
/// ```
/// use headcount::{Preset, Scaler, ScalingPolicy, ThreadPool};
/// use std::sync::Arc;
///
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let scaler = Scaler::of(pool.handle()).policy(Preset::gopipe()).build()?;
/// pool.policies().add(Arc::new(ScalingPolicy::of(&scaler)))?;
///
/// let policy = pool.policies().find_as::<ScalingPolicy>(ScalingPolicy::NAME);
/// policy.expect("it was added").scaler().start();
/// assert!(scaler.is_active());
/// pool.policies().disable(ScalingPolicy::NAME)?;
/// assert!(!scaler.is_active());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ScalingPolicy {
    scaler: Scaler,
}

impl ScalingPolicy {
    /// What it is called among the policies of a pool.
    pub const NAME: &str = "autoscaling";

    /// The policy of a scaler, which others may hold too.
    #[must_use]
    pub fn of(scaler: &Scaler) -> Self {
        Self { scaler: scaler.clone() }
    }

    /// The scaler itself.
    pub fn scaler(&self) -> &Scaler {
        &self.scaler
    }
}

impl PoolPolicy for ScalingPolicy {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn on_switch(&self, enabled: bool) {
        match enabled {
            true => self.scaler.start(),
            false => self.scaler.stop(),
        }
    }
}
