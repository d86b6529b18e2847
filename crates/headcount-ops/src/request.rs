//! What is asked: names, queries and bodies, each within its limits.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::str::FromStr;

use axum::body::Body;
use axum::extract::Query;
use axum::http::{StatusCode, Uri};
use hyper::body::Body as _;
use serde::de::DeserializeOwned;

use crate::answer::Refusal;
use crate::app::App;

/// A part of the path, as what it stands for.
pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|error: T::Err| Refusal::bad(error.to_string()))
}

/// The parameters of a query, none but these.
pub(crate) fn query(uri: &Uri, known: &[&str]) -> Result<BTreeMap<String, String>, Refusal> {
    let parameters = Query::<BTreeMap<String, String>>::try_from_uri(uri);
    let Query(parameters) = parameters.map_err(|error| Refusal::bad(error.to_string()))?;
    match parameters.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Refusal::bad(format!(
            "the parameter {name:?} is not known here; known are {}",
            known.join(", "),
        ))),
        None => Ok(parameters),
    }
}

/// A whole number of a query, from 1 to `most`.
pub(crate) fn number(text: Option<&String>, name: &str, most: usize) -> Result<usize, Refusal> {
    let Some(text) = text else { return Ok(most.min(100)) };
    match text.parse() {
        Ok(number) if 1 <= number && number <= most => Ok(number),
        _ => Err(Refusal::bad(format!("{name} is {text:?}; it must be from 1 to {most}"))),
    }
}

/// The body, as what it should be.
pub(crate) async fn body<T: DeserializeOwned>(app: &App, body: Body) -> Result<T, Refusal> {
    let bytes = bytes(app, body).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Refusal::bad(format!("the body is not what is expected: {error}")))
}

/// The body as it came. It is read bit by bit, so that one that is too long or too slow is noticed
/// before it is all there.
pub(crate) async fn bytes(app: &App, body: Body) -> Result<Vec<u8>, Refusal> {
    let most = app.limits.read_time_max;
    match tokio::time::timeout(most, gathered(body, app.limits.body_bytes_max)).await {
        Ok(bytes) => bytes,
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body was not there after {most:?}; send it faster or in parts"),
        )),
    }
}

async fn gathered(mut body: Body, bytes_max: usize) -> Result<Vec<u8>, Refusal> {
    let mut gathered = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Refusal::bad(format!("the body broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes_max - gathered.len() < data.len() {
            return Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("the body has more than {bytes_max} bytes; send fewer or smaller jobs"),
            ));
        }
        gathered.extend_from_slice(&data);
    }
    Ok(gathered)
}
