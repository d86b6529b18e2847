//! Connections: taken in, limited in number and time, and let go in good order.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::limits::Limits;
use super::requests::Desk;

/// How long nothing is accepted after an error: where files run out, trying at once only burns
/// time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Takes connections in until `ending` says within which time the last of them has to be gone.
pub(crate) async fn accept(
    listener: TcpListener,
    desk: Desk,
    mut ending: watch::Receiver<Option<Duration>>,
) {
    let limits = desk.app.limits;
    let room = Arc::new(Semaphore::new(limits.connections_max));
    let mut open = JoinSet::new();
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place.expect("nobody closes it"), listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = ended(&mut ending) => break,
            Some(_) = open.join_next() => continue,
            next = next => next,
        };
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (desk, ending) = (desk.clone(), ending.clone());
        open.spawn(async move {
            serve(stream, desk, ending).await;
            drop(place);
        });
    }
    drop(listener);
    let grace = ending.borrow().unwrap_or_default();
    let all_gone = async { while open.join_next().await.is_some() {} };
    // Those that are not gone by then are dropped with the set.
    drop(timeout(grace, all_gone).await);
}

/// Returns when all is to end.
async fn ended(ending: &mut watch::Receiver<Option<Duration>>) {
    drop(ending.wait_for(Option::is_some).await);
}

async fn serve(stream: TcpStream, desk: Desk, mut ending: watch::Receiver<Option<Duration>>) {
    let limits = desk.app.limits;
    let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let desk = desk.clone();
        async move { Ok::<_, Infallible>(desk.answer(request.map(Body::new)).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.read_time_max)
        .max_buf_size(Limits::HEAD_BYTES_MAX)
        .max_headers(Limits::HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        // What went wrong with a connection is the other side's to know.
        _ = connection.as_mut() => return,
        () = sleep(limits.connection_time_max) => {}
        () = ended(&mut ending) => {}
    }
    // The request that is being answered is finished, and no other is taken.
    connection.as_mut().graceful_shutdown();
    drop(timeout(Limits::REQUEST_TIME_MAX, connection).await);
}
