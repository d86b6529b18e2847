//! A Redis of its own, on a port that is free.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::place::until;

/// A Redis that ends when it is dropped.
pub(crate) struct Redis {
    child: Child,
    port: u16,
    _directory: TempDir,
}

impl Redis {
    /// Starts one, or says why there is none.
    pub(crate) fn start() -> Option<Self> {
        let directory = tempfile::tempdir().expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("a port").port();
        let started = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "yes", "--dir"])
            .arg(directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match started {
            Ok(child) => {
                until(|| TcpStream::connect(("127.0.0.1", port)).is_ok(), "Redis listens");
                Some(Self { child, port, _directory: directory })
            }
            Err(error) => {
                let sentence = format!("skipped, as there is no redis-server: {error}\n");
                io::stderr().write_all(sentence.as_bytes()).expect("somebody listens");
                None
            }
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It ends with the test, whichever way that ends.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}
