//! Sends the payload, hears the answer, and lets go when it is time.

use std::future::Future;
use std::time::{Duration, SystemTime};

use headcount_queue::{Context, Handler, JobError, Running};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, Uri};

use super::client::{Client, client, told};
use super::verdict::{retry_after, verdict};
use crate::jobs::handlers::HandlerError;
use crate::jobs::handlers::kept::{First, Keep as _, json};
use crate::jobs::handlers::{ERROR_BYTES_MAX, RESULT_BYTES_MAX};

/// Sends a request for each job.
///
/// The payload is the body of a POST; `Idempotency-Key` and `X-Headcount-Job-Id` are the job's id,
/// `X-Headcount-Queue`, `X-Headcount-Kind` and `X-Headcount-Attempt` say the rest. A status of 2xx:
/// done, and the body is the result where it is JSON of at most 64 KiB. 408, 425, 429, 5xx, or no
/// answer: tried again, not before `Retry-After`. Other 4xx: given up. Redirects are not followed;
/// the job is tried again, as they are a mistake that somebody can mend.
///
/// ```
/// use headcount::jobs::handlers::Http;
/// use std::time::Duration;
///
/// let bill = Http::new("http://billing.internal:8080/jobs")?
///     .header("Authorization", "Bearer of-good-news")?
///     .timeout(Duration::from_secs(10));
/// assert_eq!(bill.url(), "http://billing.internal:8080/jobs");
/// # Ok::<(), headcount::jobs::handlers::HandlerError>(())
/// ```
#[derive(Clone)]
pub struct Http {
    url: Uri,
    headers: HeaderMap,
    timeout: Duration,
    client: Client,
}

impl Http {
    /// The service at this URL.
    ///
    /// # Errors
    ///
    /// When nothing can be called by it; when it is of https and this build has no TLS.
    pub fn new(url: &str) -> Result<Self, HandlerError> {
        let fault = |why: &str| HandlerError::Target(shown(url), why.to_owned());
        let needed = "a URL is needed, such as http://host:8080/jobs";
        let uri = url.parse::<Uri>().map_err(|error| match url.contains("://") {
            true => fault(&error.to_string()),
            false => fault(needed),
        })?;
        let authority = uri.authority().map(|authority| authority.as_str().contains('@'));
        match (uri.scheme_str(), authority) {
            (Some("http" | "https"), Some(false)) => {}
            (Some("http" | "https"), Some(true)) => {
                return Err(fault("put its user and password into a header, as Authorization"));
            }
            _ => return Err(fault(needed)),
        }
        let client = client(&uri)?;
        let timeout = Duration::from_secs(60);
        Ok(Self { url: uri, headers: HeaderMap::new(), timeout, client })
    }

    /// Where requests go.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.to_string()
    }

    /// A header beside our own.
    ///
    /// # Errors
    ///
    /// When it cannot be sent.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, HandlerError> {
        let fault = || HandlerError::Header(name.to_owned());
        let key = name.parse::<HeaderName>().map_err(|_| fault())?;
        let mut value = value.parse::<HeaderValue>().map_err(|_| fault())?;
        value.set_sensitive(true);
        self.headers.insert(key, value);
        Ok(self)
    }

    /// How long one try may take. Default: a minute.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// One try, which ends early when `unwanted` does.
    async fn attempt(
        &self,
        ctx: &Context,
        unwanted: impl Future<Output = ()>,
    ) -> Result<Option<Vec<u8>>, JobError> {
        let answered = tokio::time::timeout(self.timeout, self.answer(ctx));
        tokio::select! {
            // Whoever lets go of a request closes its connection.
            () = unwanted => Err(JobError::preempted()),
            answered = answered => answered.unwrap_or_else(|_| {
                let limit = self.timeout.as_secs_f64();
                Err(JobError::failed(format_args!("{}: no answer within {limit} s", self.place())))
            }),
        }
    }

    async fn answer(&self, ctx: &Context) -> Result<Option<Vec<u8>>, JobError> {
        let sent = self.client.request(self.request(ctx)).await;
        let response = sent.map_err(|error| {
            JobError::failed(format_args!("{}: {}", self.place(), told(&error)))
        })?;
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
        let wait = wait.and_then(|wait| retry_after(wait, SystemTime::now()));
        let bytes_max = if status.is_success() { RESULT_BYTES_MAX } else { ERROR_BYTES_MAX };
        let body = body(response, bytes_max).await;
        match &body {
            Err(error) if status.is_success() => {
                let place = self.place();
                return Err(JobError::failed(format_args!(
                    "{place}: its answer broke off: {error}"
                )));
            }
            _ => {}
        }
        let words = body.as_ref().map(First::text).unwrap_or_default();
        verdict(status, wait, &words)?;
        let is_asked_for = !ctx.spec().keep.is_zero();
        Ok(body.ok().and_then(First::whole).filter(|_| is_asked_for).and_then(json))
    }

    fn request(&self, ctx: &Context) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(ctx.payload())));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(self.headers.clone());
        let id = ctx.id().to_string();
        for (name, value) in [
            ("idempotency-key", id.as_str()),
            ("x-headcount-job-id", &id),
            ("x-headcount-queue", ctx.queue().as_str()),
            ("x-headcount-kind", ctx.kind().as_str()),
            ("x-headcount-attempt", &ctx.attempt().to_string()),
        ] {
            let value = HeaderValue::from_str(value).expect("ids and names are plain letters");
            headers.insert(HeaderName::from_static(name), value);
        }
        request
    }

    /// Where a request went, without what a query may hold.
    fn place(&self) -> String {
        let host = self.url.authority().map(ToString::to_string).unwrap_or_default();
        format!("{host}{}", self.url.path())
    }
}

impl Handler for Http {
    fn run(&self, ctx: Context) -> Running<'_> {
        Box::pin(async move { self.attempt(&ctx, ctx.cancelled()).await })
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http")
            .field("place", &self.place())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// As much of an answer as is kept. The rest of one that is longer is not waited for.
async fn body(response: Response<Incoming>, bytes_max: usize) -> Result<First, hyper::Error> {
    let mut body = response.into_body();
    let mut first = First::new(bytes_max);
    while let Some(frame) = body.frame().await {
        if let Some(piece) = frame?.data_ref() {
            first.keep(piece);
        }
        if first.has_more() {
            break;
        }
    }
    Ok(first)
}

/// A URL without its password.
fn shown(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://***@{host}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
#[path = "handler_tests.rs"]
mod tests;
