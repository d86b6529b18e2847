//! A pool and its scaler in one line.

use std::fmt;
use std::ops::Deref;

use headcount_core::PolicyConfig;
use headcount_pool::{BuildError, Builder, Kind, Pool};

use super::builder::{PolicyError, ScalerBuilder};
use super::scaler::Scaler;

/// Builds a pool that sizes itself.
///
/// ```
/// use headcount::{Autoscale, Preset, ThreadPool};
/// use std::time::Duration;
///
/// let slo = Preset::slo(Duration::from_millis(100));
/// let pool = ThreadPool::builder().workers(1..=64).autoscale(slo)?;
/// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
/// println!("{}", pool.scaler().why());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Autoscale<K: Kind>: Sized {
    /// Builds the pool, and keeps it at the size that `policy` says.
    ///
    /// The fewest and the most workers of the builder are the bounds, unless the policy has some.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the pool's settings, or with the policy.
    fn autoscale(self, policy: impl Into<PolicyConfig>) -> Result<Autoscaled<K>, AutoscaleError> {
        let policy = policy.into();
        self.autoscale_with(|scaler| scaler.policy(policy))
    }

    /// The same, with more to say: a budget, a state file, listeners.
    ///
    /// ```
    /// use headcount::{Autoscale, Budget, Preset, Share, ThreadPool};
    ///
    /// let budget = Budget::new(32);
    /// let pool = ThreadPool::builder().name("mails").workers(1..=16).autoscale_with(|scaler| {
    ///     scaler.policy(Preset::gopipe()).budget(&budget, Share::default())
    /// })?;
    /// assert_eq!(pool.scaler().name(), "mails");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the pool's settings, or with the policy.
    fn autoscale_with(
        self,
        settings: impl FnOnce(ScalerBuilder) -> ScalerBuilder,
    ) -> Result<Autoscaled<K>, AutoscaleError>;
}

impl<K: Kind> Autoscale<K> for Builder<K> {
    fn autoscale_with(
        self,
        settings: impl FnOnce(ScalerBuilder) -> ScalerBuilder,
    ) -> Result<Autoscaled<K>, AutoscaleError> {
        let pool = self.build().map_err(AutoscaleError::Pool)?;
        let scaler = settings(Scaler::of(pool.handle()).name(pool.name()));
        let scaler = scaler.start().map_err(AutoscaleError::Policy)?;
        Ok(Autoscaled { scaler, pool })
    }
}

/// A pool that sizes itself. All that can be done with the pool can be done with this.
///
/// ```
/// use headcount::{Autoscale, Autoscaled, Preset, ThreadPool, Threads};
///
/// let pool: Autoscaled<Threads> =
///     ThreadPool::builder().workers(1..=4).autoscale(Preset::gopipe())?;
/// pool.spawn(|| ())?;
/// let pool: ThreadPool = pool.into_pool();
/// let size = pool.snapshot().ceiling;
/// assert!((1..=4).contains(&size), "{size}: from here on it keeps what it was last given");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Autoscaled<K: Kind> {
    // Dropped first: nothing is decided about a pool that is on its way out.
    scaler: Scaler,
    pool: Pool<K>,
}

impl<K: Kind> Autoscaled<K> {
    /// What sizes it.
    pub fn scaler(&self) -> &Scaler {
        &self.scaler
    }

    /// The pool alone. It is not sized any more, unless somebody else holds its scaler.
    #[must_use]
    pub fn into_pool(self) -> Pool<K> {
        self.pool
    }
}

impl<K: Kind> Deref for Autoscaled<K> {
    type Target = Pool<K>;

    fn deref(&self) -> &Pool<K> {
        &self.pool
    }
}

/// Why there is no pool that sizes itself.
///
/// ```
/// use headcount::{Autoscale, AutoscaleError, Preset, ThreadPool};
///
/// let error = ThreadPool::builder().workers(5..=3).autoscale(Preset::gopipe());
/// assert!(matches!(error, Err(AutoscaleError::Pool(_))));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum AutoscaleError {
    /// The pool's settings are wrong.
    Pool(BuildError),
    /// The policy is wrong.
    Policy(PolicyError),
}

impl fmt::Display for AutoscaleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool(error) => error.fmt(f),
            Self::Policy(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AutoscaleError {}
