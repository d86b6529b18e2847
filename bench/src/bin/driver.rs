//! What the live loop costs: at rest with a hundred pools, and for one turn.
//!
//! There is nobody to compare with: what else keeps so many pools at their size does not exist. The
//! first row is the share of one core that the whole process takes, so keepers and parked workers
//! count too; the same process without scalers stands beside it as a peer.

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bench::{Row, measure_and_report, median_and_spread, nanoseconds_each};
use headcount::{Autoscale, Driver, ManualClock, Preset, Scaler, ThreadPool};
use rustix::time::{ClockId, clock_gettime};

const POOLS: u32 = 100;
const ROUNDS: usize = 3;
const REST: Duration = Duration::from_secs(5);
const TURNS: u32 = 20_000;

fn main() -> ExitCode {
    measure_and_report(|| vec![at_rest(), turn()])
}

/// Processor time that this process has used.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// The share of one core that is used while nothing happens, in percent.
fn share_at_rest() -> f64 {
    let (before, since) = (used(), Instant::now());
    thread::sleep(REST);
    100.0 * (used() - before).as_secs_f64() / since.elapsed().as_secs_f64()
}

fn at_rest() -> Row {
    let slo = || Preset::slo(Duration::from_millis(100));
    let (mut ours, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let plain: Vec<_> = (0..POOLS)
            .map(|_| ThreadPool::builder().workers(1..=8).build().expect("no fault"))
            .collect();
        thread::sleep(REST);
        without.push(share_at_rest());
        drop(plain);
        let pools: Vec<_> = (0..POOLS)
            .map(|_| ThreadPool::builder().workers(1..=8).autoscale(slo()).expect("no fault"))
            .collect();
        // Until they have come to rest.
        thread::sleep(REST);
        ours.push(share_at_rest());
        drop(pools);
    }
    let row = format!("at rest: {POOLS} pools under slo, share of one core");
    let peers = vec![("the same pools without scalers".to_owned(), median_and_spread(&without).0)];
    Row { peers, ..Row::alone(&row, "%", &ours) }
}

fn turn() -> Row {
    let clock = ManualClock::default();
    let driver = Driver::by_hand(Arc::new(clock.clone()));
    let pool = ThreadPool::builder().workers(1..=8).build().expect("no fault");
    let slo = Preset::slo(Duration::from_millis(100));
    let scaler = Scaler::of(pool.handle()).policy(slo).driver(&driver).start().expect("no fault");
    let rounds: Vec<f64> = (0..ROUNDS * 3)
        .map(|_| {
            nanoseconds_each(TURNS, || {
                clock.advance(Duration::from_secs(2));
                driver.run_due();
            })
        })
        .collect();
    assert_eq!(scaler.panics(), 0);
    Row::alone("one turn: gather, tick, apply, record; slo, a pool at rest", "ns", &rounds)
}
