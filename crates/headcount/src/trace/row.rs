//! One line of a trace.

use headcount_core::{Decision, ExtraParts, Observation, PolicyConfig};
use serde::{Deserialize, Serialize};

/// The version of the form that is written. Since 2 a policy comes with the names of the parts that
/// are not its own; a file of version 1 knows nothing of those.
pub(super) const VERSION: u32 = 2;

/// The oldest version that is read.
pub(super) const VERSION_MIN: u32 = 1;

/// The first line.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Header {
    pub(super) headcount_trace: u32,
}

/// One line of a trace.
///
/// ```
/// use headcount::trace::{Row, TraceReader};
///
/// let text = "{\"headcount_trace\":2}\n\
///             {\"pool\":\"thumbs\",\"policy\":{\"workers_max\":8},\"notes\":[]}\n";
/// let row = TraceReader::new(text.as_bytes())?.next().expect("one row")?;
/// assert_eq!(row.pool(), "thumbs");
/// assert!(matches!(row, Row::Policy { policy, .. } if policy.workers_max == Some(8)));
/// # Ok::<(), headcount::trace::TraceError>(())
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Row {
    /// What was observed, and what was decided on it.
    Tick {
        /// The pool.
        pool: String,
        /// What was known.
        observation: Box<Observation>,
        /// What came of it.
        decision: Box<Decision>,
    },
    /// From here on the pool goes by this policy.
    Policy {
        /// The pool.
        pool: String,
        /// The policy, as it was written.
        policy: Box<PolicyConfig>,
        /// What its autoscaler remembers at this point, in words, but for the parts that are not
        /// the policy's own.
        notes: Vec<u64>,
        /// The parts that are not the policy's own: what they said stands in each decision.
        #[serde(default, skip_serializing_if = "ExtraParts::is_empty")]
        extras: ExtraParts,
    },
}

impl Row {
    /// The pool that it tells of.
    #[must_use]
    pub fn pool(&self) -> &str {
        match self {
            Self::Tick { pool, .. } | Self::Policy { pool, .. } => pool,
        }
    }
}
