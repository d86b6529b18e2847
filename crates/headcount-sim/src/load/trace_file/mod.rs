//! Load from files: counts of arrivals, and jobs one by one.
//!
//! Two forms, both CSV with a line that names the columns, both plain or packed with gzip:
//!
//! | File | Columns | Means |
//! |---|---|---|
//! | `<name>_<step>s.arrivals.csv[.gz]` | `t_seconds,arrivals` | how many came in each step |
//! | `<name>.jobs.csv[.gz]` | `t_seconds,service_seconds` | one line for each job |
//! | | `t_seconds,size_in_tokens,size_out_tokens` | the same, of a language model |
//!
//! Columns stand in any order; others are passed over. Nothing is opened here: whoever has a file
//! hands in a reader. A file of any length, packed or not, is read in bounded memory: a line, the
//! number of lines and the bytes behind the packing have limits, and an error says which.

mod error;
mod lines;
mod table;
mod arrivals;
mod jobs;
mod names;
pub mod azure;

#[cfg(test)]
mod bad_files_tests;

pub use arrivals::{ARRIVALS_PER_BUCKET_MAX, Arrivals, BUCKETS_MAX};
pub use error::TraceFileError;
pub use jobs::{JOBS_MAX, read_jobs, tokens_to_size};
pub use lines::{BLANK_LINES_MAX, LINE_BYTES_MAX, UNPACKED_BYTES_MAX};
pub use names::{TraceFiles, TraceFolder};
pub use table::SECONDS_MAX;
