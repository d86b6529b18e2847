//! A Redis of our own: on a free port, in a folder of its own, gone with its handle.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::options::Durability;
use crate::programs::{answers, install};

const REDIS: &str = "redis-server";
/// How long it may take to come up.
const START_MAX: Duration = Duration::from_secs(10);
/// How long it may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// A running server.
#[derive(Debug)]
pub(super) struct Server {
    process: Child,
    port: u16,
}

/// What it has used and done so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Usage {
    pub(super) cpu_us: f64,
    pub(super) commands: f64,
}

impl Server {
    pub(super) fn start(folder: &Path, durability: Durability) -> Result<Self, String> {
        let is_there = answers(REDIS) || (install(REDIS) && answers(REDIS));
        if !is_there {
            return Err(format!("{REDIS} is not installed; it is a package of that name"));
        }
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr());
        let port = free.map_err(|error| format!("no free port: {error}"))?.port();
        let (append, sync) = match durability {
            Durability::Everysec => ("yes", "everysec"),
            Durability::Always => ("yes", "always"),
            Durability::None => ("no", "no"),
        };
        let mut command = Command::new(REDIS);
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", ""]);
        command.args(["--appendonly", append, "--appendfsync", sync]);
        // A rewrite in the middle of a round would be paid for by whoever has its turn.
        command.args(["--auto-aof-rewrite-percentage", "0"]);
        command.arg("--dir").arg(folder).stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.spawn().map_err(|error| format!("{REDIS}: {error}"))?;
        let server = Self { process, port };
        server.wait_for_answer()?;
        Ok(server)
    }

    fn wait_for_answer(&self) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < START_MAX {
            if self.call("PING").is_ok_and(|answer| answer == "PONG") {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Err(format!("{REDIS} did not answer within {START_MAX:?}"))
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    pub(super) fn flush(&self) -> Result<(), String> {
        self.call("FLUSHALL").map(|_| ())
    }

    pub(super) fn usage(&self) -> Result<Usage, String> {
        usage(&self.call("INFO everything")?)
    }

    fn call(&self, command: &str) -> Result<String, String> {
        let failed = |error: std::io::Error| format!("{REDIS} does not answer: {error}");
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).map_err(failed)?;
        stream.set_read_timeout(Some(ANSWER_MAX)).map_err(failed)?;
        write!(stream, "{command}\r\n").map_err(failed)?;
        answer(&mut BufReader::new(stream)).map_err(failed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It keeps nothing that anybody wants.
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// A line, or a text of so many bytes.
fn answer(stream: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let line = line.trim_end();
    match line.strip_prefix('$').and_then(|size| size.parse().ok()) {
        Some(size) => {
            let mut text = vec![0; size];
            stream.read_exact(&mut text)?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        }
        None => Ok(line.trim_start_matches('+').to_owned()),
    }
}

fn usage(info: &str) -> Result<Usage, String> {
    let field = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let value = line.and_then(|value| value.trim().parse::<f64>().ok());
        value.ok_or_else(|| format!("{REDIS} does not tell {name}"))
    };
    Ok(Usage {
        cpu_us: (field("used_cpu_user")? + field("used_cpu_sys")?) * 1e6,
        commands: field("total_commands_processed")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_and_a_text() {
        let said = |bytes: &str| answer(&mut bytes.as_bytes()).ok();
        assert_eq!(said("+PONG\r\n"), Some("PONG".to_owned()));
        assert_eq!(said("$5\r\na:1\r\n\r\n"), Some("a:1\r\n".to_owned()));
        assert_eq!(said("$5\r\na"), None);
    }

    #[test]
    fn finds_what_it_used() {
        let info = "total_commands_processed:7\r\nused_cpu_sys_children:9.0\r\n\
                    used_cpu_sys:0.5\r\nused_cpu_user:1.5\r\n";
        assert_eq!(usage(info), Ok(Usage { cpu_us: 2e6, commands: 7.0 }));
        let missing = "redis-server does not tell used_cpu_user";
        assert_eq!(usage("used_cpu_sys:0.5"), Err(missing.to_owned()));
    }
}
