//! Who may ask anything at all: decided before any route is looked at.
//!
//! The API has no passwords yet; what protects it is that only this machine reaches it. A browser
//! on this machine would let any page of the web reach it too, in two ways. A page can send a
//! request to an address of this machine (cross-site): every method that could change something is
//! refused unless the browser says that the page is ours. Or a page's own name can be made to point
//! here (rebinding): the name in `Host` must be one of ours, for every request.

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

use crate::answer::Refusal;

/// The names under which requests are taken.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    /// The names of this machine's loopback, and these.
    pub(crate) fn with(more: impl IntoIterator<Item = String>) -> Self {
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        Self(own.into_iter().chain(more).map(|name| name.to_ascii_lowercase()).collect())
    }

    /// Whether the request may go on to its route.
    pub(crate) fn check(&self, request: &Parts) -> Result<(), Refusal> {
        let host = self.checked_host(request)?;
        if matches!(request.method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        check_site(&request.headers, &host)?;
        check_type(request)
    }

    /// Whom the request is for. A name that stands in the request's first line counts as well.
    fn checked_host(&self, request: &Parts) -> Result<Authority, Refusal> {
        let mut hosts = request.headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refusal::bad("a request needs one header \"host\", no more and no less"));
        };
        let host = host.to_str().ok().and_then(|text| text.parse::<Authority>().ok());
        let Some(host) = host else {
            return Err(Refusal::bad("the header \"host\" holds no host"));
        };
        for named in [Some(&host), request.uri.authority()].into_iter().flatten() {
            if !self.0.contains(&named.host().to_ascii_lowercase()) {
                return Err(misdirected(named));
            }
        }
        Ok(host)
    }
}

fn misdirected(host: &Authority) -> Refusal {
    let sentence = format!(
        "{:?} is not a name of this server, so the request may come from a page that pretends it \
         is; ask by localhost, or allow the name where the server is started",
        host.host(),
    );
    Refusal::new(StatusCode::MISDIRECTED_REQUEST, sentence)
}

/// Browsers say from where a request comes; what is no browser says nothing, and is let through.
fn check_site(headers: &HeaderMap, host: &Authority) -> Result<(), Refusal> {
    let forbidden = |what: &str| {
        let sentence = format!("{what}, and only pages of this server may change anything");
        Err(Refusal::new(StatusCode::FORBIDDEN, sentence))
    };
    let site = HeaderName::from_static("sec-fetch-site");
    for said in headers.get_all(site) {
        if !matches!(said.as_bytes(), b"same-origin" | b"none") {
            return forbidden("a browser sends this from another site");
        }
    }
    for origin in headers.get_all(header::ORIGIN) {
        let from = origin.to_str().ok().and_then(|text| text.split_once("://")).map(|pair| pair.1);
        if from.is_none_or(|from| !from.eq_ignore_ascii_case(host.as_str())) {
            return forbidden("the page that sends this is from elsewhere");
        }
    }
    Ok(())
}

/// A page of another site cannot send JSON without being asked for leave, which it never gets.
fn check_type(request: &Parts) -> Result<(), Refusal> {
    let is_json = |kind: &str| {
        let kind = kind.split_once(';').map_or(kind, |(kind, _)| kind);
        kind.trim().eq_ignore_ascii_case("application/json")
    };
    let mut kinds = request.headers.get_all(header::CONTENT_TYPE).iter();
    let ours = match (kinds.next(), kinds.next()) {
        // No page can send this method without being asked for leave either.
        (None, _) => request.method == Method::DELETE,
        (Some(kind), None) => kind.to_str().is_ok_and(is_json),
        _ => false,
    };
    match ours {
        true => Ok(()),
        false => Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "what changes something must say that it is JSON, with or without a body: add the \
             header \"content-type: application/json\"",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    /// A request in a few words: method, and headers as `name: value`.
    #[track_caller]
    fn check(method: &str, headers: &[&str], expected: u16) {
        let mut request = Request::builder().method(method).uri("/api/v1/queues");
        for header in headers {
            let (name, value) = header.split_once(": ").expect("a header");
            request = request.header(name, value);
        }
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        let hosts = Hosts::with(["Ops.Example".to_owned()]);
        let status = hosts.check(&parts).map_or_else(|refusal| refusal.status.as_u16(), |()| 200);
        assert_eq!(status, expected, "{method} {headers:?}");
    }

    const HERE: &str = "host: 127.0.0.1:7878";
    const JSON: &str = "content-type: application/json";

    #[test]
    fn only_names_of_this_server_are_answered() {
        for host in ["127.0.0.1:7878", "localhost", "LOCALHOST:80", "[::1]:7878", "ops.example"] {
            check("GET", &[&format!("host: {host}")], 200);
        }
        for host in ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "localhost.", "[::2]"] {
            check("GET", &[&format!("host: {host}")], 421);
        }
        check("GET", &[], 400);
        check("GET", &[HERE, HERE], 400);
        check("GET", &["host: a b"], 400);
    }

    #[test]
    fn a_page_from_elsewhere_changes_nothing() {
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"] {
            check(method, &[HERE, JSON, "sec-fetch-site: cross-site"], 403);
            check(method, &[HERE, JSON, "sec-fetch-site: same-site"], 403);
            check(method, &[HERE, JSON, "origin: https://evil.example"], 403);
            check(method, &[HERE, JSON, "origin: null"], 403);
            check(method, &[HERE, JSON, "origin: http://127.0.0.1:9999"], 403);
            check(method, &[HERE, JSON, "sec-fetch-site: same-origin", "origin: null"], 403);
            check(method, &[HERE, JSON, "origin: http://127.0.0.1:7878"], 200);
            check(method, &[HERE, JSON, "sec-fetch-site: none"], 200);
            check(method, &[HERE, JSON], 200);
        }
        check("GET", &[HERE, "sec-fetch-site: cross-site"], 200);
    }

    #[test]
    fn what_changes_something_says_that_it_is_json() {
        check("POST", &[HERE], 415);
        check("PUT", &[HERE, "content-type: text/plain"], 415);
        check("POST", &[HERE, "content-type: application/x-www-form-urlencoded"], 415);
        check("POST", &[HERE, "content-type: text/plain;application/json"], 415);
        check("POST", &[HERE, "content-type: Application/JSON; charset=utf-8"], 200);
        check("POST", &[HERE, JSON, JSON], 415);
        check("DELETE", &[HERE], 200);
        check("DELETE", &[HERE, "content-type: text/plain"], 415);
    }
}
