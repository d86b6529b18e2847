//! A slow downstream, in real time: more workers do not make it faster.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use headcount::{Autoscale, Limiter, Preset, ThreadPool};

/// Lets four in at once, each for 4 ms.
fn serve(gate: &Limiter, forever: &mpsc::Receiver<()>) {
    let permit = gate.acquire().expect("it stays open");
    let served = forever.recv_timeout(Duration::from_millis(4));
    assert_eq!(served, Err(RecvTimeoutError::Timeout));
    drop(permit);
}

#[test]
fn a_downstream_with_a_knee_does_not_drive_the_pool_to_its_maximum() {
    let slo = Preset::slo(Duration::from_millis(20));
    let pool = ThreadPool::builder().name("knee").workers(1..=64).queue_len_max(256);
    let pool = pool.autoscale(slo).expect("no fault");
    let (gate, over) = (Limiter::new(4), Arc::new(AtomicBool::new(false)));
    let submitter = thread::spawn({
        let (pool, over) = (pool.handle(), Arc::clone(&over));
        move || {
            while !over.load(Ordering::Relaxed) {
                let gate = gate.clone();
                let task = move || {
                    let (_open, forever) = mpsc::channel();
                    serve(&gate, &forever);
                };
                pool.spawn(task).expect("it waits for room");
            }
        }
    });
    let since = Instant::now();
    let deadline = Duration::from_secs(60);
    let mut lowest = u32::MAX;
    while 24 < lowest {
        assert!(since.elapsed() < deadline, "still {lowest}: {}", pool.scaler().why());
        lowest = lowest.min(pool.snapshot().ceiling);
        thread::yield_now();
    }
    over.store(true, Ordering::Relaxed);
    submitter.join().expect("no panic");
}
