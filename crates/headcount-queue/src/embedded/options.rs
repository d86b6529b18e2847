//! How a store is opened.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use headcount_core::{Clock, Timestamp};

use super::disk::SEGMENT_LEN;

/// How a store in a folder is opened. All have defaults.
///
/// ```
/// use headcount_queue::embedded::{Durability, EmbeddedOptions};
/// use std::time::Duration;
///
/// let durability = Durability::Interval(Duration::from_millis(10));
/// let options = EmbeddedOptions { durability, ..EmbeddedOptions::default() };
/// assert_eq!(options.calls_max, 10_000);
/// ```
#[derive(Clone)]
pub struct EmbeddedOptions {
    /// When a change is on disk. The default is before it is acknowledged.
    pub durability: Durability,
    /// How many calls may be under way at once; more wait for their turn. The default is 10,000.
    pub calls_max: usize,
    /// How long a call may take. The default is 30 seconds.
    pub call_timeout: Duration,
    /// How long the journal becomes before what it says goes to the database, in bytes. So much is
    /// in memory besides, and is read again at the next start. The default is 16 MiB.
    pub journal_bytes: u64,
    /// Tells the time since 1970. The default is the machine's clock.
    pub clock: Arc<dyn Clock>,
    /// Is told how long each commit took, its sync included, by the thread that writes: it must not
    /// block. The default is nobody.
    pub committed: Option<Committed>,
}

/// Is told how long a commit took.
pub type Committed = Arc<dyn Fn(Duration) + Send + Sync>;

/// When a change is on disk.
///
/// Either way it survives the end of the process, `kill -9` included, once it is acknowledged.
/// What is handed out is not synced: a power cut makes it ready again, and is counted as no crash.
///
/// ```
/// use headcount_queue::embedded::Durability;
///
/// assert_eq!(Durability::default(), Durability::Synced);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before it is acknowledged: a power cut loses nothing that was.
    #[default]
    Synced,
    /// At most this long after it was acknowledged: a power cut loses what was submitted in that
    /// time, and jobs that ended in it run again.
    Interval(Duration),
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Synced,
            calls_max: 10_000,
            call_timeout: Duration::from_secs(30),
            journal_bytes: SEGMENT_LEN,
            clock: Arc::new(SinceEpoch),
            committed: None,
        }
    }
}

impl fmt::Debug for EmbeddedOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedOptions")
            .field("durability", &self.durability)
            .field("calls_max", &self.calls_max)
            .field("call_timeout", &self.call_timeout)
            .field("journal_bytes", &self.journal_bytes)
            .finish_non_exhaustive()
    }
}

struct SinceEpoch;

impl Clock for SinceEpoch {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A machine whose clock stands before 1970 has other worries.
        Timestamp::ORIGIN + since.unwrap_or_default()
    }
}
