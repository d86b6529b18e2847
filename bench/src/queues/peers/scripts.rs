//! Peers in other languages: installed into a folder of this benchmark, and driven by a script
//! that speaks the lines of `orders.rs`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long an installation may take.
const INSTALL_MAX: Duration = Duration::from_secs(300);

/// What marks a folder as one that holds nothing of ours, by the convention for caches.
const CACHE_TAG: (&str, &str) = ("CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");

/// Its client of Redis is not among what it installs by itself.
const BULLMQ: [&str; 2] = ["bullmq@6.7.0", "ioredis@6.0.0"];
const DRAMATIQ: [&str; 1] = ["dramatiq[redis]==2.2.1"];

/// What is started as a producer or as a worker.
#[derive(Clone, Debug)]
pub(in crate::queues) struct Program {
    path: PathBuf,
    script: Option<PathBuf>,
}

impl Program {
    /// This program.
    pub(in crate::queues) fn this() -> Result<Self, String> {
        let path = std::env::current_exe().map_err(|error| error.to_string())?;
        Ok(Self { path, script: None })
    }

    pub(in crate::queues) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.script);
        command
    }
}

/// BullMQ, by npm.
pub(in crate::queues) fn bullmq() -> Result<Program, String> {
    let script = Script { name: "bullmq.mjs", text: include_str!("bullmq.mjs"), needs: &BULLMQ };
    let installed = script.installed(|folder| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent"]).args(BULLMQ);
        // Without it npm would install into a folder above that has one.
        fs::write(folder.join("package.json"), "{}").is_ok() && succeeds(&mut npm, folder)
    });
    installed.map(|script| Program { path: PathBuf::from("node"), script: Some(script) })
}

/// dramatiq, by pip, in an environment of its own.
pub(in crate::queues) fn dramatiq() -> Result<Program, String> {
    let (name, text) = ("dramatiq_peer.py", include_str!("dramatiq_peer.py"));
    let script = Script { name, text, needs: &DRAMATIQ }.installed(|folder| {
        let mut python = Command::new("python3");
        python.args(["-m", "venv", "."]);
        let mut pip = Command::new(folder.join("bin").join("pip"));
        pip.args(["install", "--quiet"]).args(DRAMATIQ);
        succeeds(&mut python, folder) && succeeds(&mut pip, folder)
    })?;
    Ok(Program { path: script.with_file_name("bin").join("python"), script: Some(script) })
}

/// A script, and the packages that it needs.
struct Script {
    name: &'static str,
    text: &'static str,
    needs: &'static [&'static str],
}

impl Script {
    /// Installs what it needs, if that is not there yet, and puts it beside that.
    fn installed(&self, install: impl FnOnce(&Path) -> bool) -> Result<PathBuf, String> {
        let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join("peers");
        let folder = peers.join(self.name.replace('.', "-"));
        let (mark, needs) = (folder.join("installed"), self.needs.join(" "));
        if !fs::read_to_string(&mark).is_ok_and(|there| there == needs) {
            eprintln!("installing {needs}");
            if !make_anew(&folder).is_ok_and(|()| install(&folder)) {
                return Err("not installed".to_owned());
            }
        }
        let path = folder.join(self.name);
        let written = fs::write(&path, self.text).and_then(|()| fs::write(mark, needs));
        written.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

/// What an installation left that did not come to its end is removed.
fn make_anew(folder: &Path) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join(CACHE_TAG.0), CACHE_TAG.1)
}

fn succeeds(command: &mut Command, folder: &Path) -> bool {
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let start = Instant::now();
    while start.elapsed() < INSTALL_MAX {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(100)),
            Err(_) => break,
        }
    }
    let _gone = child.kill();
    let _reaped = child.wait();
    false
}
