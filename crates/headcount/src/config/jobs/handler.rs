//! What runs jobs of one kind: a program or a request, never both.

use std::collections::BTreeMap;

use headcount_core::jobs::Label;
use serde_json::Value as Json;

use super::types::{ExecConfig, HandlerConfig, HandlerRun, HttpConfig};
use crate::config::form::{Found, span_of};
use crate::config::report::Finding;
use crate::config::tree::Node;

/// Fields that say something to a program only, and those that do to a request.
const OF_EXEC: [&str; 5] = ["dir", "env", "dead_codes", "snooze", "grace"];
const OF_HTTP: [&str; 1] = ["headers"];

/// Headers that we set ourselves, or that the connection lives by.
const OURS: [&str; 6] =
    ["content-length", "connection", "host", "idempotency-key", "transfer-encoding", "upgrade"];

pub(super) fn handlers_of(queue: &Node, values: &Json, found: &mut Found) -> Vec<HandlerConfig> {
    let handlers = values.get("handlers").and_then(Json::as_object);
    let mut all = Vec::new();
    for (kind, handler) in handlers.into_iter().flatten() {
        let node = queue.get("handlers").and_then(|handlers| handlers.get(kind));
        let (Some(node), Ok(kind)) = (node, kind.parse::<Label>()) else { continue };
        let run = run_of(node, handler, found);
        let timeout = handler.get("timeout").and_then(span_of);
        all.extend(run.map(|run| HandlerConfig { kind, run, timeout }));
    }
    all
}

fn run_of(node: &Node, handler: &Json, found: &mut Found) -> Option<HandlerRun> {
    let exec = handler.get("exec").and_then(words_of);
    let http = handler.get("http").and_then(Json::as_str);
    match (exec, http) {
        (Some(_), Some(_)) => {
            found.push(of(node, "has both exec and http; it is the one or the other".to_owned()));
            None
        }
        (Some(program), None) => {
            misplaced(node, &OF_HTTP, "exec", found);
            check_program(node, &program, found);
            Some(HandlerRun::Exec(exec_of(program, handler)))
        }
        (None, Some(url)) => {
            misplaced(node, &OF_EXEC, "http", found);
            check_url(node, url, found);
            check_headers(node, found);
            let headers = texts_of(handler, "headers");
            Some(HandlerRun::Http(HttpConfig { url: url.to_owned(), headers }))
        }
        // What is wrong was told of already.
        (None, None) if node.says("exec") || node.says("http") => None,
        (None, None) => {
            let advice = "needs exec or http, such as `{exec: [convert, -]}` or \
                          `{http: 'http://host/jobs'}`";
            found.push(of(node, advice.to_owned()));
            None
        }
    }
}

fn exec_of(program: Vec<String>, handler: &Json) -> ExecConfig {
    let mut exec = ExecConfig::new(program);
    exec.dir = handler.get("dir").and_then(Json::as_str).map(Into::into);
    exec.env = texts_of(handler, "env");
    let codes = handler.get("dead_codes").and_then(Json::as_array).into_iter().flatten();
    exec.dead_codes = codes.filter_map(|code| u8::try_from(code.as_u64()?).ok()).collect();
    exec.snooze = handler.get("snooze").and_then(span_of).unwrap_or(exec.snooze);
    exec.grace = handler.get("grace").and_then(span_of).unwrap_or(exec.grace);
    exec
}

fn words_of(value: &Json) -> Option<Vec<String>> {
    let words = value.as_array()?.iter();
    Some(words.filter_map(Json::as_str).map(str::to_owned).collect())
}

fn texts_of(handler: &Json, name: &str) -> BTreeMap<String, String> {
    let map = handler.get(name).and_then(Json::as_object).into_iter().flatten();
    map.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn misplaced(node: &Node, fields: &[&str], beside: &str, found: &mut Found) {
    for inner in fields.iter().filter_map(|name| node.get(name)) {
        found.push(of(inner, format!("says nothing to {beside}; leave it out")));
    }
}

fn check_program(node: &Node, program: &[String], found: &mut Found) {
    if program.first().is_none_or(|name| name.trim().is_empty()) {
        let (at, _) = node.nearest("exec");
        let advice = "a program is needed, such as [convert, -]".to_owned();
        found.push(Finding::new(&at.at, &at.path, Some(at.shown()), advice));
    }
}

fn check_url(node: &Node, url: &str, found: &mut Found) {
    if let Some(advice) = url_fault(url) {
        let (at, _) = node.nearest("http");
        found.push(Finding::new(&at.at, &at.path, Some(at.shown()), advice.to_owned()));
    }
}

/// What is wrong with the address of a service, if anything is.
pub(crate) fn url_fault(url: &str) -> Option<&'static str> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let authority = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || !c.is_ascii();
    match authority {
        None | Some("") => Some("a URL is needed, such as http://host:8080/jobs"),
        Some(authority) if authority.contains('@') => {
            Some("it holds a user or password; put them into headers, as `Authorization`")
        }
        Some(_) if url.contains(is_odd) => Some("it holds a sign that must be written with %"),
        Some(_) => None,
    }
}

fn check_headers(node: &Node, found: &mut Found) {
    let headers = node.get("headers").into_iter().flat_map(Node::entries);
    for (key, inner) in headers {
        let name = key.name.to_lowercase();
        if OURS.contains(&name.as_str()) || name.starts_with("x-headcount-") {
            let advice = "is set by headcount itself; leave it out".to_owned();
            found.push(Finding::new(&key.at, &inner.path, None, advice));
        }
        let is_odd = |c: char| c.is_control() && c != '\t';
        if inner.text().is_some_and(|text| text.contains(is_odd) || !text.is_ascii()) {
            let advice = "holds a sign that no header may hold; use plain ASCII".to_owned();
            found.push(Finding::new(&inner.at, &inner.path, None, advice));
        }
    }
}

fn of(node: &Node, advice: String) -> Finding {
    Finding::new(&node.at, &node.path, None, advice)
}
