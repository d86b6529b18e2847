//! Why a job was not submitted.

use std::fmt;

use headcount_core::jobs::port::StoreError;
use headcount_core::jobs::{KeyError, LabelError, PriorityError, SpecError};

/// Why a job was not submitted.
///
/// Nothing is in the store, except after [`SubmitError::Store`]: then nobody knows, and the same
/// [`Submission`](super::Submission), which keeps its id, can be sent again.
///
/// ```
/// use headcount_queue::jobs::Label;
/// use headcount_queue::SubmitError;
///
/// let error = "Thumb Nail".parse::<Label>().map_err(SubmitError::from).expect_err("no name");
/// assert!(error.to_string().contains("\"Thumb Nail\""));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SubmitError {
    /// A kind or a tenant has no proper name.
    Name(LabelError),
    /// A key is no proper key.
    Key(KeyError),
    /// There is no such priority.
    Priority(PriorityError),
    /// The payload could not be written as JSON; the text says why.
    Payload(String),
    /// What is asked for makes no sense.
    Spec(SpecError),
    /// The store did not take it, or did not say so.
    Store(StoreError),
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
            Self::Priority(error) => error.fmt(f),
            Self::Payload(why) => write!(f, "the payload cannot be written as JSON: {why}"),
            Self::Spec(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SubmitError {}

impl From<LabelError> for SubmitError {
    fn from(error: LabelError) -> Self {
        Self::Name(error)
    }
}

impl From<KeyError> for SubmitError {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<PriorityError> for SubmitError {
    fn from(error: PriorityError) -> Self {
        Self::Priority(error)
    }
}

impl From<SpecError> for SubmitError {
    fn from(error: SpecError) -> Self {
        Self::Spec(error)
    }
}

impl From<StoreError> for SubmitError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
