//! One request, from the door to the answer.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower_service::Service;

use super::door::Hosts;
use super::limits::Limits;
use crate::answer::Refusal;
use crate::app::App;

/// What every answer says to whoever shows it.
const HEADERS: [(&str, &str); 6] = [
    ("cache-control", "no-store"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
];

/// Where requests are taken and answers given out.
#[derive(Clone, Debug)]
pub(crate) struct Desk {
    pub(crate) app: Arc<App>,
    pub(crate) router: Router,
    pub(crate) hosts: Hosts,
    pub(crate) room: Arc<Semaphore>,
}

impl Desk {
    pub(crate) async fn answer(self, request: Request) -> Response {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let app = Arc::clone(&self.app);
        let answer = match self.served(request).await {
            Ok(response) => told(response, &method, &uri),
            Err(refusal) => refusal.into_response(),
        };
        app.count(answer.status().as_u16());
        dressed(answer)
    }

    async fn served(mut self, request: Request) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        self.hosts.check(&parts)?;
        // Whether the process lives can be asked however busy it is.
        let place = match parts.uri.path() {
            "/healthz" => None,
            _ => Some(Arc::clone(&self.room).try_acquire_owned().map_err(|_| {
                Refusal::busy("as many requests as are allowed are being answered; ask again later")
            })?),
        };
        let answer = async move {
            let answer = self.router.call(Request::from_parts(parts, body)).await;
            drop(place);
            answer
        };
        // A task of its own: it goes on when the client goes away, and its panic stays its own.
        match tokio::spawn(timeout(Limits::REQUEST_TIME_MAX, answer)).await {
            Ok(Ok(Ok(response))) => Ok(response),
            Ok(Err(_)) => Err(Refusal::busy("this took too long and was given up")),
            Err(_) => Err(Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "something is wrong in the server; it goes on, and its log says more",
            )),
        }
    }
}

/// The answer; where the router refused by itself, in words.
fn told(response: Response, method: &Method, uri: &Uri) -> Response {
    let is_json = response.headers().contains_key(header::CONTENT_TYPE)
        && response.headers()[header::CONTENT_TYPE] == "application/json";
    let status = response.status();
    if is_json || status.is_success() {
        return response;
    }
    let sentence = match status {
        StatusCode::NOT_FOUND => format!("there is nothing at {}", uri.path()),
        StatusCode::METHOD_NOT_ALLOWED => {
            format!("{method} is not possible at {}; the header \"allow\" says what is", uri.path())
        }
        _ => format!("the request to {} is not understood", uri.path()),
    };
    let mut worded = Refusal::new(status, sentence).into_response();
    if let Some(allow) = response.headers().get(header::ALLOW) {
        worded.headers_mut().insert(header::ALLOW, allow.clone());
    }
    if method == Method::HEAD {
        *worded.body_mut() = Body::empty();
    }
    worded
}

fn dressed(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
