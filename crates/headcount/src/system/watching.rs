//! A system that follows its file.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Weak};

use super::at_work::{System, SystemBuilder, Works};
use super::error::SystemError;
use super::reload::Reload;
use crate::config::{Change, Reader, Registry, Watcher};
use crate::probes::Sensor;
use crate::sync::lock;

/// What keeps a system up to date.
pub(super) struct Watching {
    pub(super) make_sensor: Arc<dyn Fn() -> Box<dyn Sensor> + Send + Sync>,
    watcher: Option<Watcher>,
}

impl Watching {
    /// Follows nothing from now on.
    pub(super) fn end(&mut self) {
        if let Some(watcher) = self.watcher.take() {
            watcher.dismiss();
        }
    }

    pub(super) fn new(make_sensor: Arc<dyn Fn() -> Box<dyn Sensor> + Send + Sync>) -> Self {
        Self { make_sensor, watcher: None }
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watching")
    }
}

impl System {
    /// Does what the file at `path` says, with the environment laid over it, and follows it: when
    /// the file changes or the process is sent SIGHUP, it is read anew. `told` hears what came of
    /// it; a file with faults changes nothing. What could not be made is tried again with the next
    /// SIGHUP, and every half minute.
    ///
    /// ```
    /// use headcount::System;
    /// use headcount::config::Registry;
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    ///
    /// let name = format!("headcount-follow-{}", std::process::id());
    /// let directory = std::env::temp_dir().join(name);
    /// std::fs::create_dir_all(&directory)?;
    /// let path = directory.join("headcount.yaml");
    /// std::fs::write(&path, "pools: {a: {workers: {max: 4}}}")?;
    /// let (sender, reloads) = channel();
    /// let system = System::follow(&path, &Registry::new(), move |told| drop(sender.send(told)))?;
    ///
    /// // A file is best replaced whole: nobody sees it half written then.
    /// let replace = |text: &str| {
    ///     std::fs::write(directory.join("new"), text)?;
    ///     std::fs::rename(directory.join("new"), &path)
    /// };
    /// replace("pools: {a: {workers: {max: none}}}")?;
    /// let error = reloads.recv_timeout(Duration::from_secs(60))?.expect_err("none is no number");
    /// assert!(error.to_string().contains("pools.a.workers.max"), "{error}");
    /// replace("pools: {a: {workers: {max: 8}}}")?;
    /// reloads.recv_timeout(Duration::from_secs(60))??;
    /// assert_eq!(system.config().pools[0].policy.workers_max, Some(8));
    /// # std::fs::remove_dir_all(&directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the file has faults, cannot be watched, or one of its pools cannot be made.
    pub fn follow(
        path: impl AsRef<Path>,
        registry: &Registry,
        told: impl FnMut(Result<Reload, SystemError>) + Send + 'static,
    ) -> Result<Self, SystemError> {
        Self::follow_with(path, registry, told, |builder| builder)
    }

    /// The same, with more to say.
    ///
    /// # Errors
    ///
    /// When the file has faults, cannot be watched, or one of its pools cannot be made.
    pub fn follow_with(
        path: impl AsRef<Path>,
        registry: &Registry,
        mut told: impl FnMut(Result<Reload, SystemError>) + Send + 'static,
        settings: impl FnOnce(SystemBuilder) -> SystemBuilder,
    ) -> Result<Self, SystemError> {
        let follower = Arc::new(std::sync::Mutex::new(Weak::<Works>::new()));
        let followed = Arc::clone(&follower);
        let reader = Reader::new(registry).environment();
        let (watcher, reading) = Watcher::start_heeded(path, reader, move |change| {
            // Not made yet, and then told again; or nobody holds the system any more.
            let Some(works) = lock(&followed).upgrade() else { return false };
            (System { works }).heed(change, &mut told)
        })?;
        let system = settings(Self::of(reading.config).registry(registry)).start()?;
        *lock(&follower) = Arc::downgrade(&system.works);
        // What changed before there was anybody to heed it.
        watcher.look();
        lock(&system.works.watching).watcher = Some(watcher);
        Ok(system)
    }

    /// Goes by a change, tells what came of it, and says whether there is nothing more to be done.
    fn heed(&self, change: Change, told: &mut impl FnMut(Result<Reload, SystemError>)) -> bool {
        let outcome = match change {
            Change::New(reading) => self.reload(reading.config),
            Change::Refused(report) => Err(SystemError::Faults(report)),
            // It says again what is in force.
            _ => Ok(Reload::default()),
        };
        let is_settled = matches!(&outcome, Ok(_) | Err(SystemError::Faults(_)));
        // One that was drained follows nothing any more, and nobody wants to know.
        if !matches!(outcome, Err(SystemError::Drained)) {
            told(outcome);
        }
        is_settled
    }
}
