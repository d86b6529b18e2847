//! Handlers made of closures.

use std::future::Future;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::Context;
use super::error::JobError;
use super::{Handler, Running};

/// A closure over a payload of one type.
pub(super) struct Typed<T, F> {
    apply: F,
    payload: PhantomData<fn(T)>,
}

impl<T, F> Typed<T, F> {
    pub(super) const fn new(apply: F) -> Self {
        Self { apply, payload: PhantomData }
    }
}

impl<T, R, F, Fut> Handler for Typed<T, F>
where
    T: DeserializeOwned + Send + 'static,
    R: Serialize + Send + 'static,
    F: Fn(T, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, JobError>> + Send + 'static,
{
    fn run(&self, ctx: Context) -> Running<'_> {
        Box::pin(async move {
            let work = (self.apply)(payload(&ctx)?, ctx.clone());
            written(&work.await?, &ctx)
        })
    }
}

/// The payload, read from JSON.
pub(super) fn payload<T: DeserializeOwned>(ctx: &Context) -> Result<T, JobError> {
    serde_json::from_slice(ctx.payload()).map_err(|error| {
        let kind = ctx.kind().as_str();
        JobError::failed(format_args!("the payload is not what {kind:?} takes: {error}"))
    })
}

/// The result as JSON, where anybody could ever read it.
pub(super) fn written<R: Serialize>(
    result: &R,
    ctx: &Context,
) -> Result<Option<Vec<u8>>, JobError> {
    if ctx.spec().keep.is_zero() || size_of::<R>() == 0 {
        return Ok(None);
    }
    let bytes = serde_json::to_vec(result).map_err(|error| {
        JobError::dead(format_args!("its result cannot be written as JSON: {error}"))
    })?;
    Ok(Some(bytes))
}
