//! What the jobs of one or several pools have in common: a database, an API, a disk.
//!
//! Up to its *knee* it serves all calls at full speed. Each call beyond that slows all of them
//! down, those under way as well: `slowness(b) = b/K * (1 + crowding * (b - K))`, so that beyond
//! the knee more calls mean less throughput.

use headcount_core::Timestamp;

/// Something that jobs call, and that has a knee.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::world::Downstream;
///
/// let brown_out = (Timestamp::from_secs(60), 20.0);
/// let database = Downstream { changes: vec![brown_out], ..Downstream::with_knee(40.0) };
/// assert_eq!(database.knee_at(Timestamp::from_secs(59)), 40.0);
/// assert_eq!(database.knee_at(Timestamp::from_secs(61)), 20.0);
/// assert_eq!(database.slowness(40.0, 40.0), 1.0);
/// assert!(2.0 < database.slowness(80.0, 40.0), "they are in each other's way");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Downstream {
    /// How many calls are served at full speed. Infinite: there is no knee.
    pub knee: f64,
    /// What each call beyond the knee costs all others, as a share.
    pub crowding: f64,
    /// When the knee becomes another one, in order of time.
    pub changes: Vec<(Timestamp, f64)>,
    /// When calls fail. `None`: never.
    pub refusal: Option<Refusal>,
}

/// When a downstream turns calls away.
///
/// ```
/// use headcount_sim::world::{Downstream, Refusal};
///
/// let refusal = Some(Refusal { above: 50.0, share: 0.3 });
/// let limited = Downstream { refusal, ..Downstream::with_knee(40.0) };
/// assert_eq!(limited.failing_share(45.0), 0.0);
/// assert_eq!(limited.failing_share(60.0), 0.3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refusal {
    /// With more calls than this.
    pub above: f64,
    /// The share of calls that then fail.
    pub share: f64,
}

impl Downstream {
    /// The crowding beyond a knee, unless said otherwise: at twice the knee two thirds of the
    /// throughput are left where the knee is 25.
    pub const CROWDING: f64 = 0.02;

    /// One without a knee: every worker has a machine of its own.
    #[must_use]
    pub fn free() -> Self {
        Self::with_knee(f64::INFINITY)
    }

    /// One that serves so many calls at full speed.
    #[must_use]
    pub fn with_knee(knee: f64) -> Self {
        Self { knee, crowding: Self::CROWDING, changes: Vec::new(), refusal: None }
    }

    /// The knee at one moment.
    #[must_use]
    pub fn knee_at(&self, at: Timestamp) -> f64 {
        let changed = self.changes.iter().take_while(|(when, _)| *when <= at).last();
        changed.map_or(self.knee, |(_, knee)| *knee)
    }

    /// How many times longer everything takes with `calls` under way and this `knee`.
    #[must_use]
    pub fn slowness(&self, calls: f64, knee: f64) -> f64 {
        match calls <= knee {
            true => 1.0,
            false => calls / knee * (1.0 + self.crowding * (calls - knee)),
        }
    }

    /// The share of calls that fail with so many under way.
    #[must_use]
    pub fn failing_share(&self, calls: f64) -> f64 {
        self.refusal.filter(|refusal| refusal.above < calls).map_or(0.0, |refusal| refusal.share)
    }
}
