//! Putting jobs into a queue, and learning what became of them.

mod batch;
mod error;
mod outcome;
mod queue;
mod submission;

pub use batch::{Batch, BatchSubmission, BatchSubmitted};
pub use error::SubmitError;
pub use outcome::Outcome;
pub use queue::Queue;
pub use submission::Submission;
