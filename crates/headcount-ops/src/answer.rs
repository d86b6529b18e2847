//! What is answered: JSON, or a sentence that says why not.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use headcount_core::jobs::port::StoreError;
use serde::Serialize;

/// What a route answers.
pub(crate) type Answer = Result<Response, Refusal>;

/// The answer, as JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let bytes = serde_json::to_vec(value).expect("answers are plain data with text for keys");
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// The same, where all went well.
#[expect(clippy::unnecessary_wraps, reason = "it is what routes return")]
pub(crate) fn ok(value: &impl Serialize) -> Answer {
    Ok(json(StatusCode::OK, value))
}

/// Why something was not done.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) sentence: String,
    /// Each thing that is wrong, where there may be several.
    pub(crate) faults: Vec<String>,
    /// What would have been understood.
    pub(crate) example: Option<&'static str>,
}

#[derive(Serialize)]
struct Written<'a> {
    error: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    faults: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'a serde_json::value::RawValue>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into(), faults: Vec::new(), example: None }
    }

    /// What was asked makes no sense.
    pub(crate) fn bad(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, sentence)
    }

    /// What was asked for is not there.
    pub(crate) fn missing(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, sentence)
    }

    /// It cannot be done now.
    pub(crate) fn busy(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, sentence)
    }

    /// Several things are wrong, all of them told.
    pub(crate) fn faulty(faults: Vec<String>) -> Self {
        let sentence = faults.join("; ");
        Self { faults, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, sentence) }
    }

    pub(crate) fn with_example(self, example: &'static str) -> Self {
        Self { example: Some(example), ..self }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::Full { .. } => StatusCode::TOO_MANY_REQUESTS,
            StoreError::Refused(_) => StatusCode::BAD_REQUEST,
            StoreError::Format(_) => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let example = self.example.map(|text| {
            serde_json::from_str(text).expect("examples are JSON, which a test holds them to")
        });
        let written = Written { error: &self.sentence, faults: &self.faults, example };
        let mut response = json(self.status, &written);
        if matches!(self.status.as_u16(), 429 | 503) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
