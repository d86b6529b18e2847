//! How fast the Redis store is, and how much of Redis it uses.
//!
//! `cargo run --release -p headcount-queue --features redis --example redis_speed -- URL`, with a
//! Redis that nobody else uses and whose data may be thrown away. Figures are lines of
//! `name  jobs/s  microseconds of Redis per job`; the first lines are what Redis itself can do.

#![allow(clippy::print_stdout, reason = "it prints figures")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headcount_queue::jobs::port::{Backend, Ending, LeaseAsk, NewJob, Settlement};
use headcount_queue::jobs::{Holder, JobId, JobSpec, Label};
use headcount_queue::redis::{RedisOptions, RedisStore};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let url = std::env::args().nth(1).unwrap_or_else(|| "redis://127.0.0.1:6379".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(&url))
}

async fn measure(url: &str) -> Outcome {
    let client = redis::Client::open(url)?;
    let mut server = client.get_multiplexed_async_connection().await?;
    let () = redis::cmd("FLUSHALL").query_async(&mut server).await?;
    let store = Arc::new(RedisStore::connect(url, RedisOptions::default()).await?);
    let queue: Label = "speed".parse()?;
    let next = &mut 0_u128;

    let gauge = Gauge::begin(&mut server).await?;
    for number in 0..20_000_u32 {
        let () = redis::cmd("LPUSH").arg("floor").arg(number).query_async(&mut server).await?;
    }
    gauge.end("floor: LPUSH, one after the other", 20_000, &mut server).await?;

    let gauge = Gauge::begin(&mut server).await?;
    for _ in 0..20_000 {
        store.enqueue(&queue, fresh(next, 1)?).await?;
    }
    gauge.end("enqueue, one after the other", 20_000, &mut server).await?;

    let gauge = Gauge::begin(&mut server).await?;
    together(&store, &queue, next, (100, 2000)).await?;
    gauge.end("enqueue, 100 callers", 200_000, &mut server).await?;

    let gauge = Gauge::begin(&mut server).await?;
    for _ in 0..3000 {
        store.enqueue(&queue, fresh(next, 100)?).await?;
    }
    gauge.end("enqueue, 100 at a time", 300_000, &mut server).await?;

    for at_once in [100, 10, 1] {
        let gauge = Gauge::begin(&mut server).await?;
        let drained = drain(&store, &queue, at_once, 150_000 / (101 - at_once)).await?;
        gauge.end(&format!("lease and settle, {at_once} at a time"), drained, &mut server).await?;
    }
    Ok(())
}

fn fresh(next: &mut u128, count: u128) -> Result<Vec<NewJob>, Box<dyn Error>> {
    let kind: Label = "no-op".parse()?;
    let numbers = *next..*next + count;
    *next += count;
    let job = |number| NewJob {
        id: JobId::from_u128(number),
        spec: JobSpec::new(kind.clone(), b"{\"number\":1}".to_vec()),
    };
    Ok(numbers.map(job).collect())
}

async fn together(
    store: &Arc<RedisStore>,
    queue: &Label,
    next: &mut u128,
    (callers, each): (usize, usize),
) -> Outcome {
    let mut tasks = Vec::new();
    for _ in 0..callers {
        let (store, queue) = (Arc::clone(store), queue.clone());
        let jobs = fresh(next, each as u128)?;
        tasks.push(tokio::spawn(async move {
            for job in jobs {
                store.enqueue(&queue, vec![job]).await?;
            }
            Ok::<(), headcount_queue::port::StoreError>(())
        }));
    }
    for task in tasks {
        task.await??;
    }
    Ok(())
}

/// Leases and settles so many at a time, until that many rounds are over.
async fn drain(
    store: &RedisStore,
    queue: &Label,
    at_once: usize,
    rounds: usize,
) -> Result<usize, Box<dyn Error>> {
    let holder = Holder::new(7);
    let mut drained = 0;
    for _ in 0..rounds.min(3000) {
        let ask = LeaseAsk { holder, ttl: Duration::from_secs(60), jobs_max: at_once };
        let leased = store.lease(queue, ask).await?;
        if leased.jobs.is_empty() {
            break;
        }
        drained += leased.jobs.len();
        let settlements = leased.jobs.iter().map(|job| Settlement {
            id: job.id,
            epoch: leased.epoch,
            ending: Ending::Done { result: None },
        });
        store.settle(queue, holder, settlements.collect()).await?;
    }
    Ok(drained)
}

/// The time since it began, by the clock and by Redis's own use of a processor.
struct Gauge {
    begin: Instant,
    used: f64,
}

impl Gauge {
    async fn begin(server: &mut redis::aio::MultiplexedConnection) -> redis::RedisResult<Self> {
        let used = used(server).await?;
        Ok(Self { begin: Instant::now(), used })
    }

    async fn end(
        self,
        name: &str,
        jobs: usize,
        server: &mut redis::aio::MultiplexedConnection,
    ) -> redis::RedisResult<()> {
        let elapsed = self.begin.elapsed().as_secs_f64();
        let used = used(server).await? - self.used;
        let (rate, each) = (jobs as f64 / elapsed, used * 1e6 / jobs as f64);
        println!("{name:<40} {rate:>10.0} jobs/s {each:>8.2} us");
        Ok(())
    }
}

/// Seconds of a processor that the server has used.
async fn used(server: &mut redis::aio::MultiplexedConnection) -> redis::RedisResult<f64> {
    let info: String = redis::cmd("INFO").arg("cpu").query_async(server).await?;
    let of = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<f64>().ok()).unwrap_or(0.0)
    };
    Ok(of("used_cpu_sys:") + of("used_cpu_user:"))
}
