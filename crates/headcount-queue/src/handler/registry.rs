//! Which handler does which kind.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex};

use headcount_core::jobs::{Label, LabelError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Handler;
use super::context::Context;
use super::error::JobError;
use super::middleware::Middleware;
use super::typed::{self, Typed};
use crate::sync::lock;

/// The handlers of a queue, shared by its clones.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    // Replaced as a whole, so that whoever runs a job holds no lock.
    known: Arc<Mutex<Arc<Known>>>,
}

/// All that is known of how jobs are done, at one instant.
#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(super) kinds: BTreeMap<Label, Entry>,
    pub(super) middleware: Vec<Arc<dyn Middleware>>,
}

#[derive(Clone)]
pub(super) enum Entry {
    Async(Arc<dyn Handler>),
    Blocking(Blocking),
}

pub(super) type Blocking = Arc<dyn Fn(&Context) -> Result<Option<Vec<u8>>, JobError> + Send + Sync>;

/// Why a handler was not taken.
///
/// ```
/// use headcount_queue::HandleError;
///
/// let error = HandleError::Taken("thumbnail".parse().expect("a name"));
/// assert_eq!(error.to_string(), "the kind \"thumbnail\" has a handler already");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandleError {
    /// That is no name of a kind.
    Name(LabelError),
    /// The kind has a handler already.
    Taken(Label),
}

impl Handlers {
    pub(crate) fn known(&self) -> Arc<Known> {
        Arc::clone(&lock(&self.known))
    }

    pub(crate) fn kinds(&self) -> Vec<Label> {
        self.known().kinds.keys().cloned().collect()
    }

    pub(crate) fn add(&self, kind: &str, handler: Arc<dyn Handler>) -> Result<(), HandleError> {
        self.enter(kind, Entry::Async(handler))
    }

    pub(crate) fn add_typed<T, R, F, Fut>(&self, kind: &str, apply: F) -> Result<(), HandleError>
    where
        T: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(T, Context) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, JobError>> + Send + 'static,
    {
        self.add(kind, Arc::new(Typed::new(apply)))
    }

    pub(crate) fn add_blocking<T, R, F>(&self, kind: &str, apply: F) -> Result<(), HandleError>
    where
        T: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        F: Fn(T, Context) -> Result<R, JobError> + Send + Sync + 'static,
    {
        let apply = move |ctx: &Context| {
            let result = apply(typed::payload(ctx)?, ctx.clone())?;
            typed::written(&result, ctx)
        };
        self.enter(kind, Entry::Blocking(Arc::new(apply)))
    }

    pub(crate) fn add_middleware(&self, middleware: Arc<dyn Middleware>) {
        Arc::make_mut(&mut lock(&self.known)).middleware.push(middleware);
    }

    fn enter(&self, kind: &str, entry: Entry) -> Result<(), HandleError> {
        let kind: Label = kind.parse().map_err(HandleError::Name)?;
        let mut known = lock(&self.known);
        if known.kinds.contains_key(&kind) {
            return Err(HandleError::Taken(kind));
        }
        Arc::make_mut(&mut known).kinds.insert(kind, entry);
        Ok(())
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kinds.keys()).finish()
    }
}

impl Known {
    /// Whether jobs of this kind block their thread.
    pub(crate) fn is_blocking(&self, kind: &Label) -> bool {
        matches!(self.kinds.get(kind), Some(Entry::Blocking(_)))
    }

    /// Why a job of this kind cannot be done here.
    pub(super) fn unknown(&self, kind: &Label) -> String {
        let known: Vec<&str> = self.kinds.keys().map(Label::as_str).collect();
        match known.is_empty() {
            true => format!("no handler for {:?}; this worker has none at all", kind.as_str()),
            false => {
                let known = known.join(", ");
                format!("no handler for {:?}; this worker handles {known}", kind.as_str())
            }
        }
    }
}

impl fmt::Display for HandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Taken(kind) => {
                write!(f, "the kind {:?} has a handler already", kind.as_str())
            }
        }
    }
}

impl std::error::Error for HandleError {}
