//! What was measured of the machine, as plain numbers.

/// What was measured of the machine.
///
/// What could not be measured is `None` and is left out of the score; so is a number that is not
/// finite.
///
/// ```
/// use headcount_core::health::{Health, HealthRules, Vitals};
/// use headcount_core::Timestamp;
///
/// let vitals = Vitals { io_wait: Some(0.05), memory: Some(0.60), ..Vitals::default() };
/// let health = Health::assess(&HealthRules::default(), &vitals, Timestamp::ORIGIN);
/// assert_eq!(health.map(|health| health.score), Some(100.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Vitals {
    /// The share of time that processors idled for want of a disk, 0 to 1.
    pub io_wait: Option<f64>,
    /// The load average of the last minute for each core.
    pub load_per_core: Option<f64>,
    /// The share of memory in use that cannot be given back, 0 to 1.
    pub memory: Option<f64>,
    /// The share of the database connections in use, 0 to 1.
    pub db_pool: Option<f64>,
    /// Stalled time as the kernel measures it. `None`: the kernel does not say.
    pub pressure: Option<Pressure>,
}

/// The share of the last ten seconds in which some task was stalled for want of a resource.
///
/// On Linux these are the lines `some avg10` of `/proc/pressure`, divided by 100.
///
/// ```
/// use headcount_core::health::{Health, HealthRules, Pressure, Resource, Vitals};
/// use headcount_core::Timestamp;
///
/// let pressure = Pressure { cpu: 0.1, io: 0.0, memory: 0.9 };
/// let vitals = Vitals { pressure: Some(pressure), ..Vitals::default() };
/// let health = Health::assess(&HealthRules::default(), &vitals, Timestamp::ORIGIN);
/// assert_eq!(health.and_then(|health| health.worst), Some(Resource::Memory));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pressure {
    /// Stalled for a processor, 0 to 1.
    pub cpu: f64,
    /// Stalled for a disk, 0 to 1.
    pub io: f64,
    /// Stalled for memory, 0 to 1.
    pub memory: f64,
}
