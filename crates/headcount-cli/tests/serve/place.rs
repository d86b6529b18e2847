//! A folder of its own for each test, in which servers run and commands are called.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub(crate) use crate::folder::Folder as Place;

/// How long anything may take before a test fails.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Jobs that write down their payload and go on until somebody writes the file `gone`, but not for
/// ever: a test may fail before it does.
pub(crate) const MARKING: &str = r#"
queues:
  default:
    pool: {workers: {min: 4, max: 4}}
    handlers:
      mark:
        exec:
          - sh
          - -c
          - |
            echo "$(cat)" >> ran
            for _ in $(seq 200); do test -e gone && exit 0; sleep 0.1; done
"#;

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    /// Calls a command, to its end.
    pub(crate) fn call(&self, words: &[&str]) -> Outcome {
        self.call_with(words, "")
    }

    pub(crate) fn call_with(&self, words: &[&str], input: &str) -> Outcome {
        let outcome = self.execute(words, input.as_bytes());
        Outcome { code: outcome.code, out: outcome.text(), err: outcome.err }
    }

    /// Calls a command that must succeed, and gives what it prints.
    #[track_caller]
    pub(crate) fn told(&self, words: &[&str]) -> String {
        let outcome = self.call(words);
        assert_eq!(outcome.code, Some(0), "{words:?}: {} {}", outcome.out, outcome.err);
        outcome.out.trim_end().to_owned()
    }

    /// The same, as JSON.
    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let text = self.told(words);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Calls a command, and compares its exit code and part of what it says.
    #[track_caller]
    pub(crate) fn check(&self, words: &[&str], code: i32, sentence: &str) {
        let outcome = self.call(words);
        let said = outcome.out + &outcome.err;
        assert_eq!(outcome.code, Some(code), "{words:?}: {said}");
        assert!(said.contains(sentence), "{words:?} does not say {sentence:?}: {said}");
    }

    /// Starts a server in `data`, on a port of its own, and waits until it is there.
    pub(crate) fn serve(&self, words: &[&str]) -> Running {
        let words = [&["serve", "--listen", "127.0.0.1:0", "--store", "data"], words].concat();
        self.start(&words, "try ")
    }

    /// Starts a process that goes on, and waits until it says a line that begins like this.
    pub(crate) fn start(&self, words: &[&str], ready: &str) -> Running {
        Self::started(self.command(words), ready)
    }

    /// The same, as `nohup` starts it.
    pub(crate) fn start_ignoring_hangups(&self, words: &[&str], ready: &str) -> Running {
        let mut command = Command::new("nohup");
        command.arg(env!("CARGO_BIN_EXE_headcount")).args(words).current_dir(self.path(""));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::started(command, ready)
    }

    fn started(mut command: Command, ready: &str) -> Running {
        let mut child = command.spawn().expect("headcount starts");
        let out = BufReader::new(child.stdout.take().expect("it has an output"));
        let mut running = Running { child, out, said: String::new() };
        running.until(ready);
        running
    }

    /// Waits until the file has so many lines.
    #[track_caller]
    pub(crate) fn until_lines(&self, name: &str, count: usize) {
        until(|| count <= self.read(name).lines().count(), &format!("{count} lines in {name}"));
    }

    /// How many jobs of the queue `default` are in this state.
    #[track_caller]
    pub(crate) fn count(&self, state: &str, store: &str) -> u64 {
        let words = ["queues", "show", "default", "--json", "--store", store];
        self.json(&words)["jobs"][state].as_u64().expect("every state is counted")
    }
}

/// A process that goes on, and is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    said: String,
}

impl Running {
    fn until(&mut self, ready: &str) {
        loop {
            let mut line = String::new();
            let len = self.out.read_line(&mut line).expect("it speaks text");
            self.said += &line;
            if len == 0 {
                let mut err = String::new();
                let pipe = self.child.stderr.as_mut().expect("it has an error output");
                pipe.read_to_string(&mut err).expect("it speaks text");
                panic!("it ended without {ready:?}: {} {err}", self.said);
            }
            if line.starts_with(ready) {
                return;
            }
        }
    }

    /// What it said until it was ready.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a pid");
        kill_process(pid, signal).expect("it runs");
    }

    /// Waits until it has ended.
    pub(crate) fn wait(mut self) -> Outcome {
        let mut out = std::mem::take(&mut self.said);
        self.out.read_to_string(&mut out).expect("it speaks text");
        let mut err = String::new();
        let pipe = self.child.stderr.as_mut().expect("it has an error output");
        pipe.read_to_string(&mut err).expect("it speaks text");
        let code = self.child.wait().expect("it ends").code();
        Outcome { code, out, err }
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn end(self) -> Outcome {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(mut is_so: impl FnMut() -> bool, what: &str) {
    let deadline = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        // A look at another process costs a process; this bounds how many.
        thread::park_timeout(Duration::from_millis(20));
    }
}
