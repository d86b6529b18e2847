//! The thread that watches.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::settle::Settling;
use crate::config::reader::{Reader, Reading};
use crate::config::report::Report;

/// How long it must be quiet before the file is looked at.
const QUIET: Duration = Duration::from_millis(50);
/// How long after the first event the file is looked at, however busy it is.
const LATEST: Duration = Duration::from_millis(500);
/// How often the file is looked at although nothing was heard: some file systems tell of nothing.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// What has become of a watched file.
///
/// ```
/// use headcount::config::{Change, Config, Registry};
///
/// fn told(change: &Change) -> String {
///     match change {
///         Change::New(reading) => format!("{} pools from now on", reading.config.pools.len()),
///         Change::Refused(report) => format!("nothing changes:\n{report}"),
///         Change::Restored => "the file says again what is in force".to_owned(),
///         _ => "something else".to_owned(),
///     }
/// }
/// let report = Config::parse("a.yaml", "", &Registry::new()).expect_err("there is no pool");
/// assert!(told(&Change::Refused(report)).starts_with("nothing changes:\na.yaml:1:1: "));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// It says something else, and nothing is wrong with that.
    New(Box<Reading>),
    /// It cannot be used; what was in force stays so.
    Refused(Report),
    /// After it could not be used it says again what is in force.
    Restored,
}

/// Why a file cannot be watched.
///
/// ```
/// use headcount::config::{Reader, Registry, WatchError, Watcher};
///
/// let reader = Reader::new(&Registry::new());
/// let error = Watcher::start("no/such/file.yaml", reader, |_| ()).expect_err("it is not there");
/// assert!(matches!(error, WatchError::Unwatchable(_)));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WatchError {
    /// Its directory cannot be watched, or no thread can be started; the sentence says why.
    Unwatchable(String),
    /// It cannot be used as it is.
    Refused(Report),
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unwatchable(why) => f.write_str(why),
            Self::Refused(report) => report.fmt(f),
        }
    }
}

impl std::error::Error for WatchError {}

/// Watches a file until it is dropped.
///
/// A hangup signal (SIGHUP) makes it look at once. From the first watcher on, that signal does not
/// end the process any more.
///
/// ```
/// use headcount::config::{Change, Reader, Registry, Watcher};
/// use std::sync::mpsc::channel;
/// use std::time::Duration;
///
/// let directory = std::env::temp_dir().join(format!("headcount-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&directory)?;
/// let path = directory.join("headcount.yaml");
/// std::fs::write(&path, "pools: {a: {workers: {max: 4}}}")?;
///
/// let (sender, changes) = channel();
/// let reader = Reader::new(&Registry::new());
/// let tell = move |change| drop(sender.send(change));
/// let (watcher, reading) = Watcher::start(&path, reader, tell)?;
/// assert_eq!(reading.config.pools[0].policy.workers_max, Some(4));
///
/// let fresh = directory.join("fresh");
/// std::fs::write(&fresh, "pools: {a: {workers: {max: 8}}}")?;
/// std::fs::rename(&fresh, &path)?;
/// let Change::New(reading) = changes.recv_timeout(Duration::from_secs(60))? else {
///     panic!("nothing is wrong with it");
/// };
/// assert_eq!(reading.config.pools[0].policy.workers_max, Some(8));
/// drop(watcher);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "it watches until it is dropped"]
pub struct Watcher {
    bell: Bell,
    thread: Option<JoinHandle<()>>,
    #[cfg(unix)]
    hangup: Option<Hangup>,
}

impl Watcher {
    /// Reads a file, and tells `on_change` of every change from then on, on a thread of its own.
    ///
    /// # Errors
    ///
    /// When the file cannot be used as it is, or its directory cannot be watched.
    pub fn start(
        path: impl AsRef<Path>,
        reader: Reader,
        mut on_change: impl FnMut(Change) + Send + 'static,
    ) -> Result<(Self, Reading), WatchError> {
        let heed = move |change| {
            on_change(change);
            true
        };
        Self::start_heeded(path, reader, heed)
    }

    /// The same for somebody who says whether the change was taken. One that was not is told of
    /// again when somebody asks for a look, and at the next look that nobody asked for.
    pub(crate) fn start_heeded(
        path: impl AsRef<Path>,
        reader: Reader,
        heed: impl FnMut(Change) -> bool + Send + 'static,
    ) -> Result<(Self, Reading), WatchError> {
        let path = path.as_ref().to_owned();
        let (bell, wakes) = Bell::new();
        let mut ears = Ears::new(&bell)?;
        // Watched before it is read, so that no change falls between the two.
        ears.listen_to(&path)?;
        let mut look = Look { path, reader, in_force: None, declined: None, refused: None };
        let reading = match look.again(Why::Wanted) {
            Some(Change::New(reading)) => {
                look.taken(reading.clone());
                *reading
            }
            Some(Change::Refused(report)) => return Err(WatchError::Refused(report)),
            Some(Change::Restored) | None => return Err(unwatchable(&"it cannot be read")),
        };
        #[cfg(unix)]
        let hangup = Hangup::start(&bell)?;
        let watch = Watch { bell: bell.clone(), wakes, ears, look, heed };
        let thread = thread::Builder::new().name("headcount-config".to_owned());
        let thread = thread.spawn(move || watch.run()).map_err(|error| unwatchable(&error))?;
        let watcher = Self {
            bell,
            thread: Some(thread),
            #[cfg(unix)]
            hangup: Some(hangup),
        };
        Ok((watcher, reading))
    }

    /// Looks at the file now, as a hangup signal does.
    pub fn look(&self) {
        self.bell.ring_now();
    }

    /// Ends it without waiting for a listener that is being told of a change.
    pub(crate) fn dismiss(mut self) {
        drop(self.thread.take());
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        #[cfg(unix)]
        drop(self.hangup.take());
        self.bell.stop();
        let is_own = |thread: &JoinHandle<()>| thread.thread().id() == thread::current().id();
        // Dropped by its own listener it must not wait for itself.
        if let Some(thread) = self.thread.take().filter(|thread| !is_own(thread)) {
            // A listener's panic was caught; nothing else there can panic.
            let _ended = thread.join();
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

fn unwatchable(why: &dyn fmt::Display) -> WatchError {
    WatchError::Unwatchable(format!("the file cannot be watched: {why}"))
}

/// Wakes the thread that watches. One wake waits at most; what it is for stands beside it.
#[derive(Clone)]
struct Bell {
    wakes: SyncSender<()>,
    now: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
}

impl Bell {
    fn new() -> (Self, Receiver<()>) {
        let (wakes, receiver) = sync_channel(1);
        let bell = Self { wakes, now: Arc::default(), stopped: Arc::default() };
        (bell, receiver)
    }

    fn ring(&self) {
        // Where one wake waits already it serves for this one too.
        let _waiting = self.wakes.try_send(());
    }

    fn ring_now(&self) {
        self.now.store(true, Ordering::SeqCst);
        self.ring();
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.ring();
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// Hears of what happens in directories.
struct Ears {
    watcher: RecommendedWatcher,
    directories: Vec<PathBuf>,
}

impl Ears {
    fn new(bell: &Bell) -> Result<Self, WatchError> {
        let bell = bell.clone();
        let heard = move |event: notify::Result<notify::Event>| {
            if event.map_or(true, |event| matters(event.kind)) {
                bell.ring();
            }
        };
        let watcher = notify::recommended_watcher(heard).map_err(|error| unwatchable(&error))?;
        Ok(Self { watcher, directories: Vec::new() })
    }

    /// Listens to the directory of the file, and to the one that it is a link into.
    fn listen_to(&mut self, path: &Path) -> Result<(), WatchError> {
        let own = directory_of(path);
        if !self.directories.contains(&own) {
            let watched = self.watcher.watch(&own, RecursiveMode::NonRecursive);
            watched.map_err(|error| unwatchable(&error))?;
            self.directories.push(own.clone());
        }
        let linked = path.canonicalize().ok().map(|target| directory_of(&target));
        for gone in self.directories.extract_if(1.., |known| Some(&*known) != linked.as_ref()) {
            // It may be gone altogether.
            let _gone = self.watcher.unwatch(&gone);
        }
        if let Some(linked) = linked
            && own.canonicalize().ok().as_ref() != Some(&linked)
            && !self.directories.contains(&linked)
            && self.watcher.watch(&linked, RecursiveMode::NonRecursive).is_ok()
        {
            self.directories.push(linked);
        }
        Ok(())
    }
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether something may have been written: to read a file is an event too, and we read it.
fn matters(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// The file as it was when it was last looked at.
struct Look {
    path: PathBuf,
    reader: Reader,
    in_force: Option<Box<Reading>>,
    /// What the listener was told and did not take.
    declined: Option<Box<Reading>>,
    refused: Option<Report>,
}

impl Look {
    /// What has changed, if anything.
    fn again(&mut self, why: Why) -> Option<Change> {
        match self.reader.read(&self.path) {
            Ok(reading) => {
                let was_refused = self.refused.take().is_some();
                let says = |known: &Option<Box<Reading>>| {
                    known.as_ref().is_some_and(|known| known.config == reading.config)
                };
                if says(&self.in_force) {
                    let was_declined = self.declined.take().is_some();
                    return (was_refused || was_declined).then_some(Change::Restored);
                }
                // What was not taken may be by now; it is not tried with every stir beside it.
                if why == Why::Heard && says(&self.declined) {
                    return None;
                }
                Some(Change::New(Box::new(reading)))
            }
            Err(report) if self.refused.as_ref() == Some(&report) => None,
            Err(report) => {
                self.refused = Some(report.clone());
                Some(Change::Refused(report))
            }
        }
    }

    /// The listener goes by it.
    fn taken(&mut self, reading: Box<Reading>) {
        (self.in_force, self.declined) = (Some(reading), None);
    }

    /// The listener does not go by it: what was in force stays so.
    fn declined(&mut self, change: Change) {
        match change {
            Change::New(reading) => self.declined = Some(reading),
            // Nobody has heard of it.
            Change::Refused(_) => self.refused = None,
            Change::Restored => {}
        }
    }
}

struct Watch<F> {
    bell: Bell,
    wakes: Receiver<()>,
    ears: Ears,
    look: Look,
    heed: F,
}

/// Why the file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Something was heard, which need not have to do with the file.
    Heard,
    /// Somebody asked, or it is time.
    Wanted,
}

impl<F: FnMut(Change) -> bool> Watch<F> {
    fn run(mut self) {
        while !self.bell.is_stopped() {
            let why = match self.wakes.recv_timeout(LOOK_EVERY) {
                Ok(()) => self.settle(),
                Err(RecvTimeoutError::Timeout) => Why::Wanted,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if self.bell.is_stopped() {
                return;
            }
            // A link may lead elsewhere now; the file's own directory is heard of already.
            let _heard = self.ears.listen_to(&self.look.path);
            if let Some(change) = self.look.again(why) {
                self.tell(change);
            }
        }
    }

    fn tell(&mut self, change: Change) {
        let (heed, told) = (&mut self.heed, change.clone());
        // A listener that panics has told of it by its panic; the next change may do.
        let is_taken = catch_unwind(AssertUnwindSafe(|| heed(told))).unwrap_or(true);
        match change {
            change if !is_taken => self.look.declined(change),
            Change::New(reading) => self.look.taken(reading),
            Change::Refused(_) | Change::Restored => {}
        }
    }

    /// Waits until it is quiet, unless somebody wants to know now.
    fn settle(&mut self) -> Why {
        let origin = Instant::now();
        let mut settling = Settling::begun(QUIET, LATEST, origin.elapsed());
        while !self.bell.now.swap(false, Ordering::SeqCst) && !self.bell.is_stopped() {
            let Some(left) = settling.left(origin.elapsed()) else {
                return Why::Heard;
            };
            if self.wakes.recv_timeout(left).is_ok() {
                settling.again(origin.elapsed());
            }
        }
        Why::Wanted
    }
}

/// Hears the hangup signal.
#[cfg(unix)]
struct Hangup {
    handle: signal_hook::iterator::Handle,
    thread: Option<JoinHandle<()>>,
}

#[cfg(unix)]
impl Hangup {
    fn start(bell: &Bell) -> Result<Self, WatchError> {
        let signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGHUP]);
        let mut signals = signals.map_err(|error| unwatchable(&error))?;
        let (handle, bell) = (signals.handle(), bell.clone());
        let thread = thread::Builder::new().name("headcount-hangup".to_owned());
        let thread = thread.spawn(move || signals.forever().for_each(|_| bell.ring_now()));
        Ok(Self { handle, thread: Some(thread.map_err(|error| unwatchable(&error))?) })
    }
}

#[cfg(unix)]
impl Drop for Hangup {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // It only rings a bell, which cannot panic.
            let _ended = thread.join();
        }
    }
}
