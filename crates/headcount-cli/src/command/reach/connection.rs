//! One question to a server, over a connection of its own.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// How long it may take until the server is there.
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// The most bytes of an answer: a thousand jobs with large payloads.
pub(super) const ANSWER_BYTES_MAX: usize = 256 << 20;

/// A question as both kinds of server understand it.
pub(super) fn question(method: Method, host: &str, path: &str, body: Vec<u8>) -> Question {
    Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, host)
        .header(CONNECTION, "close")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .expect("a method, a path that is escaped and a host without control characters")
}

pub(super) type Question = Request<Full<Bytes>>;

/// The status and the body of an answer, or why there is none.
pub(super) async fn ask(host: &str, question: Question) -> Result<(u16, Vec<u8>), String> {
    let connecting = tokio::time::timeout(CONNECT_MAX, TcpStream::connect(host));
    let stream = connecting.await.map_err(|_| late(CONNECT_MAX))?;
    let stream = stream.map_err(|error| error.to_string())?;
    let answering = tokio::time::timeout(ANSWER_MAX, ask_over(stream, question));
    answering.await.map_err(|_| late(ANSWER_MAX))?
}

async fn ask_over(stream: TcpStream, question: Question) -> Result<(u16, Vec<u8>), String> {
    let shaking = hyper::client::conn::http1::handshake(TokioIo::new(stream));
    let (mut sender, connection) = shaking.await.map_err(|error| error.to_string())?;
    // It ends with the answer, which the sender tells us about.
    let driven = tokio::spawn(connection);
    let answer = sender.send_request(question).await.map_err(|error| error.to_string())?;
    let status = answer.status().as_u16();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
    driven.abort();
    Ok((status, body.map_err(|error| error.to_string())?.to_bytes().to_vec()))
}

fn late(after: Duration) -> String {
    format!("no answer within {} s", after.as_secs())
}
