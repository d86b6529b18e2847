//! A redis-server of the test's own: on a free port, in a directory that goes with it.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{Connection, Value};
use tempfile::TempDir;

/// Longer than any start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that ends with this value, or with the test's process.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    dir: TempDir,
    words: Vec<String>,
}

impl Server {
    /// A server with these words on its command line, such as `--appendonly yes`.
    pub(crate) fn start(words: &str) -> Self {
        let words = words.split_whitespace().map(str::to_owned).collect();
        Self::start_words(words)
    }

    /// A server with this file of settings, and words that go before others.
    pub(crate) fn start_with(settings: &Path, words: &str) -> Self {
        let settings = settings.display().to_string();
        let words = words.split_whitespace().map(str::to_owned);
        Self::start_words(std::iter::once(settings).chain(words).collect())
    }

    fn start_words(words: Vec<String>) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let port = free_port();
        let child = spawn(port, dir.path(), &words);
        Self { child, port, dir, words }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A plain connection, for looking behind the store's back.
    pub(crate) fn connection(&self) -> Connection {
        let client = redis::Client::open(self.url()).expect("the address is right");
        client.get_connection().expect("the server is up")
    }

    /// What the server answers to these words.
    pub(crate) fn ask(&self, words: &str) -> Value {
        try_ask(&mut self.connection(), words).expect("the server does as it is told")
    }

    /// Ends the server as a power cut would, by signal 9.
    pub(crate) fn kill(&mut self) {
        let pid = std::fs::read_to_string(self.path("pid")).expect("it wrote its number");
        let killed = Command::new("kill").args(["-9", pid.trim()]).status();
        assert!(killed.expect("kill can be run").success());
        self.end();
    }

    /// Starts it again, with the same port and files.
    pub(crate) fn restart(&mut self) {
        self.end();
        self.child = spawn(self.port, self.dir.path(), &self.words);
    }

    /// The guard ends the server when nothing more can come from here.
    fn end(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().expect("the guard ends");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

/// Runs the command in words on the connection.
pub(crate) fn try_ask(connection: &mut Connection, words: &str) -> redis::RedisResult<Value> {
    let mut words = words.split_whitespace();
    let mut command = redis::cmd(words.next().expect("a command has a name"));
    for word in words {
        command.arg(word);
    }
    command.query(connection)
}

/// Looks until there is something to see, at most for a while.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begin.elapsed() < PATIENCE, "not within {} s: {what}", PATIENCE.as_secs());
        std::thread::yield_now();
    }
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

/// The server under a guard that waits for its own input to end, which happens however this
/// process ends.
fn spawn(port: u16, dir: &Path, words: &[String]) -> Child {
    const GUARD: &str = "redis-server \"$@\" & echo $! >pid; read end; kill $! 2>/dev/null; \
                         wait $!; exit 0";
    let mut command = Command::new("sh");
    // A file of settings comes first, if there is one.
    let (file, words) =
        words.split_at(usize::from(words.first().is_some_and(|w| w.starts_with('/'))));
    command.args(["-c", GUARD, "guard"]).args(file).args(["--port", &port.to_string()]);
    command.args(["--bind", "127.0.0.1", "--daemonize", "no"]);
    if file.is_empty() {
        command.args(["--save", ""]);
    }
    command.args(words).current_dir(dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a shell can be run");
    let output = child.stdout.take().expect("its output is ours");
    let (ready, is_ready) = std::sync::mpsc::channel();
    // What it says is read to its end, so that it never waits for a reader.
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if line.contains("Ready to accept connections") || line.contains("Sentinel ID is") {
                ready.send(()).ok();
            }
        }
    });
    is_ready.recv_timeout(PATIENCE).expect("the server starts in time");
    child
}
