//! The demo itself: a real store, real workers, and a wave of jobs that do nothing but take time.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use headcount::Preset;
use headcount::jobs::embedded::{Embedded, EmbeddedOptions};
use headcount::jobs::{Context, JobError, Queue, Worker};
use headcount_core::jobs::State;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::picture::{Moment, Picture};
use super::tally::Tally;
use super::wave::{Wave, fails_first, takes};
use crate::Stop;
use crate::command::crew::Signals;

/// How many workers there may be.
const WORKERS_MAX: u32 = 24;
/// How long a job may wait, as far as the workers allow.
const SLO: Duration = Duration::from_millis(250);
/// How often jobs come in.
const STEP: Duration = Duration::from_millis(50);
/// How soon a job that failed is tried again.
const AGAIN: Duration = Duration::from_millis(500);
/// How long after the last job everything must have ended.
const END_MAX: Duration = Duration::from_secs(25);

pub(super) fn run(seconds: u16, out: &mut impl Write) -> Result<(), Stop> {
    let directory = tempfile::Builder::new().prefix("headcount-demo-").tempdir()?;
    let wave = Wave::new(Duration::from_secs(seconds.into()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let summary = runtime.block_on(play(directory.path(), wave, out))?;
    drop(runtime);
    directory.close()?;
    summary.write(out)
}

async fn play(directory: &Path, wave: Wave, out: &mut impl Write) -> Result<Summary, Stop> {
    let mut signals = Signals::listen()?;
    let stage = Stage::set(directory, wave)?;
    writeln!(out, "A store in {}, a rush of jobs, workers that follow.", directory.display())?;
    writeln!(out, "Every twentieth job fails at its first try. Ctrl-C ends it.\n")?;
    let mut picture = Picture::new();
    let (mut submitted, mut live, mut shown) = (0, 0, None::<Instant>);
    let mut steps = interval(STEP);
    steps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let interrupted = loop {
        tokio::select! {
            _ = steps.tick() => {}
            () = signals.heard() => break true,
        }
        let now = stage.began.elapsed();
        submitted = stage.submit(submitted..wave.come_by(now)).await?;
        let is_due = shown.is_none_or(|shown| picture.every() <= shown.elapsed());
        if is_due {
            shown = Some(Instant::now());
            let moment = stage.moment(submitted, live).await?;
            live = moment.live;
            picture.show(&moment, out)?;
        }
        let is_done = wave.is_over(now) && stage.left().await? == 0;
        if is_done || wave.span() + END_MAX <= now {
            break false;
        }
    };
    if !interrupted {
        picture.show(&stage.moment(submitted, live).await?, out)?;
    }
    let left = stage.left().await?;
    let (done, retried) = stage.tally.counts();
    let stats = stage.worker.scaler().stats();
    stage.worker.drain(Duration::ZERO).await;
    Ok(Summary {
        submitted,
        done,
        retried,
        left,
        workers: (stats.live_least.unwrap_or(0), stats.live_peak.unwrap_or(0)),
    })
}

/// All that takes part.
struct Stage {
    queue: Queue,
    worker: Worker,
    tally: Arc<Tally>,
    wave: Wave,
    began: Instant,
}

impl Stage {
    fn set(directory: &Path, wave: Wave) -> Result<Self, Stop> {
        let failed = |why: &dyn ToString| Stop::Failed(why.to_string());
        let store = Embedded::open(directory, EmbeddedOptions::default());
        let store = store.map_err(|error| failed(&error))?;
        let queue = Queue::new(Arc::new(store), "demo").map_err(|error| failed(&error))?;
        let tally = Arc::new(Tally::default());
        let counted = Arc::clone(&tally);
        let work = move |number: u64, ctx: Context| one(number, ctx, Arc::clone(&counted));
        queue.handle("work", work).map_err(|error| failed(&error))?;
        let worker = Worker::builder(&queue).workers(1..=WORKERS_MAX).autoscale(Preset::slo(SLO));
        let worker = worker.start().map_err(|error| failed(&error))?;
        Ok(Self { queue, worker, tally, wave, began: Instant::now() })
    }

    /// Submits the jobs of these numbers; answers which is next.
    async fn submit(&self, numbers: std::ops::Range<u64>) -> Result<u64, Stop> {
        let next = numbers.end.max(numbers.start);
        let jobs = numbers.map(|number| self.queue.submit("work", &number));
        match self.queue.submit_many(jobs).await {
            Ok(_) => Ok(next),
            Err(error) => Err(Stop::Failed(error.to_string())),
        }
    }

    /// The demo now, beside how many workers there were when it was last looked at.
    async fn moment(&self, submitted: u64, live_before: u32) -> Result<Moment, Stop> {
        let stats = self.stats().await?;
        let (done, retried) = self.tally.counts();
        let pool = self.worker.scaler().snapshot();
        Ok(Moment {
            at: self.began.elapsed(),
            span: self.wave.span(),
            submitted,
            waiting: stats.jobs[State::Ready] + stats.jobs[State::Retrying],
            done,
            retried,
            live: pool.live,
            busy: pool.busy,
            max: WORKERS_MAX,
            why: why(live_before, pool.live).unwrap_or_else(|| self.worker.scaler().why()),
        })
    }

    /// How many jobs have not ended.
    async fn left(&self) -> Result<u64, Stop> {
        let stats = self.stats().await?;
        Ok(stats.jobs.iter().filter(|(state, _)| !state.is_final()).map(|(_, count)| count).sum())
    }

    async fn stats(&self) -> Result<headcount_core::jobs::QueueStats, Stop> {
        self.queue.stats().await.map_err(|error| Stop::Failed(error.to_string()))
    }
}

/// Why there are more or fewer workers than before: the pool hires and lets go by itself, within
/// what its scaler allows.
fn why(before: u32, live: u32) -> Option<String> {
    let budget = SLO.as_millis();
    match (live.checked_sub(before), before.checked_sub(live)) {
        (Some(0), _) => None,
        (Some(more), _) => Some(format!("{more} hired, since no job is to wait {budget} ms")),
        (None, fewer) => {
            fewer.map(|fewer| format!("{fewer} left, since they had nothing to do for a while"))
        }
    }
}

/// Does one job.
async fn one(number: u64, ctx: Context, tally: Arc<Tally>) -> Result<(), JobError> {
    tokio::time::sleep(takes(number)).await;
    if fails_first(number) && ctx.attempt() == 1 {
        tally.retried();
        return Err(JobError::retry_after(AGAIN).because("it fails at its first try"));
    }
    tally.done(number);
    Ok(())
}

/// How it went.
#[derive(Debug, Default, PartialEq, Eq)]
struct Summary {
    submitted: u64,
    done: u64,
    retried: u64,
    /// Jobs that were still in the store when it was stopped.
    left: u64,
    workers: (u32, u32),
}

impl Summary {
    /// Those that were taken in, were not done, and are not there any more.
    fn lost(&self) -> u64 {
        self.submitted.saturating_sub(self.done + self.left)
    }

    fn write(&self, out: &mut impl Write) -> Result<(), Stop> {
        let Self { submitted, done, retried, left, workers: (least, peak) } = self;
        let lost = self.lost();
        writeln!(out)?;
        writeln!(
            out,
            "{submitted} jobs submitted, {done} done, {retried} tried again, {lost} lost"
        )?;
        if 0 < *left {
            writeln!(out, "{left} had not ended when it was stopped; they went with the store")?;
        }
        writeln!(out, "{least} to {peak} workers; `headcount serve` does this with your jobs")?;
        if 0 < lost { Err(Stop::Told) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_and_fewer_workers_have_their_reasons() {
        assert_eq!(why(3, 3), None);
        let hired = why(1, 4).expect("there is a reason");
        assert!(hired.starts_with("3 hired, since no job is to wait 250 ms"), "{hired}");
        assert!(why(4, 3).is_some_and(|left| left.starts_with("1 left")));
    }

    #[test]
    fn what_is_neither_done_nor_there_is_lost() {
        let summary = Summary { submitted: 10, done: 6, left: 3, ..Summary::default() };
        assert_eq!(summary.lost(), 1);
        let mut out = Vec::new();
        assert!(summary.write(&mut out).is_err());
        let text = String::from_utf8(out).expect("it is text");
        assert!(text.contains("10 jobs submitted, 6 done, 0 tried again, 1 lost"), "{text}");
    }
}
