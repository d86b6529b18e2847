//! A client that speaks plain text, so that it can also say what no library would.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What a server said.
#[derive(Clone, Debug)]
pub struct Answered {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answered {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The sentence that says why not.
    pub fn error(&self) -> String {
        let said = self.json();
        said["error"].as_str().unwrap_or_else(|| panic!("no error in {said}")).to_owned()
    }

    pub fn header(&self, name: &str) -> Option<String> {
        let is_it = |line: &&str| line.to_ascii_lowercase().starts_with(&format!("{name}:"));
        let line = self.head.lines().find(is_it)?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }
}

/// Asks, and waits for the answer. `Host` is the server's address unless a header says otherwise.
pub async fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &str,
) -> Answered {
    let own = format!("host: {address}");
    let names_host = headers.iter().any(|header| header.starts_with("host:"));
    let mut lines = vec![format!("{method} {path} HTTP/1.1"), "connection: close".to_owned()];
    lines.extend((!names_host).then_some(own));
    lines.extend(headers.iter().map(ToString::to_string));
    lines.push(format!("content-length: {}\r\n\r\n{body}", body.len()));
    let text = lines.join("\r\n");
    exchange(address, text.as_bytes()).await
}

/// Sends these bytes and reads until the server closes the connection.
pub async fn exchange(address: SocketAddr, bytes: &[u8]) -> Answered {
    let mut stream = TcpStream::connect(address).await.expect("a server");
    // A server that refuses early may close before all was sent; what it said counts.
    drop(stream.write_all(bytes).await);
    let mut said = Vec::new();
    let read = timeout(Duration::from_secs(20), stream.read_to_end(&mut said)).await;
    drop(read.expect("the server closes the connection in the end"));
    let said = String::from_utf8(said).expect("text");
    let (head, body) = said.split_once("\r\n\r\n").unwrap_or((&said, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answered { status, head: head.to_owned(), body: body.to_owned() }
}
