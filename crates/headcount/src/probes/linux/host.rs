//! The sensor: reads everything once, and puts it together.

use std::path::PathBuf;

use headcount_core::Timestamp;

use super::super::sample::{HostSample, Load, Usage};
use super::super::sensor::{Sensor, SensorError};
use super::cpu::{Cores, Count, Watch};
use super::files::Files;
use super::groups::Groups;
use super::memory::Memory;
use super::pressure;
use super::process::{OpenFiles, Threads, limit, own_threads};

/// The machine that we run on, or the container, where its limits are tighter.
///
/// Shares of time are those since the sample before, so the first sample has none. Outside of Linux
/// there is less to be known: no I/O wait, no pressure, no containers, open files or threads.
///
/// ```
/// use headcount::Timestamp;
/// use headcount::probes::{Host, Sensor};
///
/// let mut host = Host::new();
/// let first = host.sample(Timestamp::from_secs(0))?;
/// assert!(first.memory.is_some() && first.cores.is_some());
/// assert_eq!(first.cpu, None);
/// # Ok::<(), headcount::probes::SensorError>(())
/// ```
#[derive(Debug)]
pub struct Host {
    files: Files,
    groups: Groups,
    watch: Watch,
    open_files: OpenFiles,
}

impl Host {
    /// The machine that we run on.
    #[must_use]
    pub fn new() -> Self {
        Self::below("/")
    }

    /// A machine whose `proc` and `sys` are below another root: one in a test, or the host of the
    /// container that we are in, where they are mounted.
    ///
    /// ```
    /// use headcount::Timestamp;
    /// use headcount::probes::{Host, Sensor};
    ///
    /// let error = Host::below("no/such/place").sample(Timestamp::ORIGIN).expect_err("no machine");
    /// let told = "nothing can be read in proc and sys below no/such/place; are they mounted?";
    /// assert_eq!(error.to_string(), told);
    /// ```
    #[must_use]
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self {
            files: Files::below(root.into()),
            groups: Groups::default(),
            watch: Watch::default(),
            open_files: OpenFiles::default(),
        }
    }

    fn measure(&mut self, at: Timestamp) -> HostSample {
        let files = &mut self.files;
        if self.groups.refresh(files) {
            // What other groups had counted is no beginning for what these count.
            self.watch = Watch::default();
        }
        let groups = &self.groups;
        let about = Process::read(files);

        let count = Count::read(files, groups, about.cores);
        let cores = about.cores.usable(&count.quotas);
        let shares = self.watch.take(at, count);
        let memory = Memory::read(files, groups);
        let (load, host_threads) = load(files);
        let threads = Threads { host: host_threads, ..about.threads };
        let open_files = self.open_files.count(files).zip(about.open_files_max);
        HostSample {
            cpu: shares.cpu,
            throttled: shares.throttled,
            io_wait: shares.io_wait,
            load,
            host_cores: about.cores.host,
            cores,
            memory: memory.tightest,
            memory_limit_bytes: memory.limit_bytes,
            pressure: pressure::read(files, groups),
            file_descriptors: open_files.map(|(used, limit)| Usage { used, limit }),
            threads: threads.fullest(files, groups),
            db_pool: None,
        }
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl Sensor for Host {
    fn sample(&mut self, at: Timestamp) -> Result<HostSample, SensorError> {
        let sample = self.measure(at);
        match sample == HostSample::default() {
            true => Err(SensorError::Unreadable(self.files.root().to_owned())),
            false => Ok(sample),
        }
    }
}

/// What the files about this process say.
struct Process {
    cores: Cores,
    threads: Threads,
    open_files_max: Option<u64>,
}

impl Process {
    fn read(files: &mut Files) -> Self {
        let place = files.place("proc/self/status");
        let status = files.text(&place).map(str::to_owned);
        let cores = Cores::read(files, status.as_deref());
        let place = files.place("proc/self/limits");
        let limits = files.text(&place);
        let soft = |what| limits.and_then(|limits| limit(limits, what));
        Self {
            cores,
            threads: Threads {
                own: status.as_deref().and_then(own_threads),
                own_limit: soft("Max processes"),
                host: None,
            },
            open_files_max: soft("Max open files"),
        }
    }
}

/// The load averages, and how many threads there are on the host: `0.52 0.58 0.59 3/602 8712`.
fn load(files: &mut Files) -> (Option<Load>, Option<u64>) {
    let place = files.place("proc/loadavg");
    files.text(&place).map(parse_load).unwrap_or_default()
}

fn parse_load(text: &str) -> (Option<Load>, Option<u64>) {
    let mut words = text.split_ascii_whitespace();
    let mut average = || {
        let average: f64 = words.next()?.parse().ok()?;
        (average.is_finite() && 0.0 <= average).then_some(average)
    };
    let (one, five, fifteen) = (average(), average(), average());
    let averages = one.zip(five).zip(fifteen);
    let load = averages.map(|((one, five), fifteen)| Load { one, five, fifteen });
    let threads = words.next().and_then(|threads| threads.split_once('/')?.1.parse().ok());
    (load, threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_read_or_not_known() {
        let load = |one, five, fifteen| Some(Load { one, five, fifteen });
        assert_eq!(parse_load("0.5 4.25 30 3/602 8712\n"), (load(0.5, 4.25, 30.0), Some(602)));
        assert_eq!(parse_load("0.5 4.25 30"), (load(0.5, 4.25, 30.0), None));
        assert_eq!(parse_load("0.5 x 30 3/602 8712"), (None, Some(602)));
        for text in ["", "nan nan nan", "-1 -1 -1", "0.5 4.25"] {
            assert_eq!(parse_load(text), (None, None), "{text:?}");
        }
    }
}
