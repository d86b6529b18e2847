//! How quick the store in a folder is on this machine.
//!
//! ```sh
//! cargo run --release -p headcount-queue --example embedded_speed [FOLDER] [JOBS IN MILLIONS]
//! ```
//!
//! Every submit and every end is on disk before it counts. The folder should lie on the disk that
//! is meant: the usual one for temporary files may be memory.

#![allow(clippy::print_stdout, reason = "it is what it is for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use headcount_queue::embedded::{Durability, Embedded, EmbeddedOptions};
use headcount_queue::jobs::port::{Backend, Ending, LeaseAsk, NewJob, Settlement, StoreError};
use headcount_queue::jobs::{Holder, JobId, JobSpec, Label};

const SPAN: Duration = Duration::from_secs(3);

struct Bench {
    store: Embedded,
    queue: Label,
    kind: Label,
    next: AtomicU64,
}

impl Bench {
    fn open(dir: &Path, durability: Durability) -> Result<Arc<Self>, Box<dyn Error>> {
        let options = EmbeddedOptions { durability, ..EmbeddedOptions::default() };
        let store = Embedded::open(dir, options)?;
        let (queue, kind) = ("default".parse()?, "kind".parse()?);
        Ok(Arc::new(Self { store, queue, kind, next: AtomicU64::new(1) }))
    }

    fn jobs(&self, count: u64) -> Vec<NewJob> {
        let first = self.next.fetch_add(count, Ordering::Relaxed);
        let spec = |number: u64| JobSpec::new(self.kind.clone(), format!("{number:0>100}").into());
        (first..first + count)
            .map(|number| NewJob { id: JobId::new(number, 0), spec: spec(number) })
            .collect()
    }

    /// Submits batches one after the other for a while. Answers how many jobs, and each wait.
    async fn submit(&self, batch: u64, until: Instant) -> Result<(u64, Vec<u64>), StoreError> {
        let (mut jobs, mut waits) = (0, Vec::new());
        while Instant::now() < until {
            let lot = self.jobs(batch);
            let begun = Instant::now();
            self.store.enqueue(&self.queue, lot).await?;
            waits.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
            jobs += batch;
        }
        Ok((jobs, waits))
    }

    async fn drain(&self, batch: usize) -> Result<u64, StoreError> {
        let holder = Holder::new(7);
        let mut drained = 0;
        loop {
            let ask = LeaseAsk { holder, ttl: Duration::from_secs(60), jobs_max: batch };
            let leased = self.store.lease(&self.queue, ask).await?;
            if leased.jobs.is_empty() {
                return Ok(drained);
            }
            drained += leased.jobs.len() as u64;
            let settle = |id| {
                let ending = Ending::Done { result: None };
                Settlement { id, epoch: leased.epoch, ending }
            };
            let settlements = leased.jobs.iter().map(|job| settle(job.id)).collect();
            self.store.settle(&self.queue, holder, settlements).await?;
        }
    }
}

async fn submits(bench: &Arc<Bench>, producers: usize, batch: u64) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let until = begun + SPAN;
    let tasks: Vec<_> = (0..producers)
        .map(|_| {
            let bench = Arc::clone(bench);
            tokio::spawn(async move { bench.submit(batch, until).await })
        })
        .collect();
    let (mut jobs, mut waits) = (0, Vec::new());
    for task in tasks {
        let (more, of_one) = task.await??;
        jobs += more;
        waits.extend(of_one);
    }
    waits.sort_unstable();
    let rate = jobs as f64 / begun.elapsed().as_secs_f64();
    let (median, late) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    println!(
        "{producers:>4} producers, {batch:>4} a call: {rate:>9.0} jobs/s, p50 {median} us, p99 \
         {late} us",
    );
    Ok(())
}

async fn drains(bench: &Bench, batch: usize) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let drained = bench.drain(batch).await?;
    let rate = drained as f64 / begun.elapsed().as_secs_f64();
    println!("lease {batch}, settle {batch}: {rate:.0} jobs/s ({drained} jobs)");
    Ok(())
}

/// What the kernel says of this process's memory, where it does.
fn memory(name: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.map_or_else(|| "unknown".to_owned(), |line| line.trim().to_owned())
}

async fn reopening(dir: &Path, millions: f64) -> Result<(), Box<dyn Error>> {
    let bench = Bench::open(dir, Durability::Synced)?;
    let begun = Instant::now();
    let goal = Duration::from_secs_f64(millions).as_micros();
    while u128::from(bench.next.load(Ordering::Relaxed)) < goal {
        let jobs = bench.jobs(1000);
        bench.store.enqueue(&bench.queue, jobs).await?;
    }
    println!("{goal} jobs submitted, 1000 a call: {:.2?}", begun.elapsed());
    drop(bench);
    let begun = Instant::now();
    let bench = Bench::open(dir, Durability::Synced)?;
    let stats = bench.store.stats(&bench.queue).await?;
    println!("opened with {} jobs: {:.2?}", stats.demand(), begun.elapsed());
    println!("memory in use {}, at most {}", memory("VmRSS"), memory("VmHWM"));
    drains(&bench, 100).await?;
    let len = std::fs::metadata(dir.join("jobs.redb"))?.len();
    let begun = Instant::now();
    let compact = bench.store.compact().await?;
    println!("compacted from {len} to {compact} bytes: {:.2?}", begun.elapsed());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let millions: f64 = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    for (name, durability) in [
        ("synced", Durability::Synced),
        ("interval 10 ms", Durability::Interval(Duration::from_millis(10))),
    ] {
        println!("{name}:");
        for (producers, batch) in [(1, 1), (100, 1), (1, 100), (10, 100)] {
            let folder = tempfile::tempdir_in(&dir)?;
            let bench = Bench::open(folder.path(), durability)?;
            submits(&bench, producers, batch).await?;
            if (producers, batch) == (1, 100) {
                drains(&bench, 100).await?;
            }
        }
    }
    reopening(tempfile::tempdir_in(&dir)?.path(), millions).await
}
