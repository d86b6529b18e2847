//! Something that all tasks call, and that slows all of them down when too many do.
//!
//! A clock of work goes at full speed while there are no more calls than the knee, and slower
//! beyond; a call of size `s` that begins when it shows `v` is over when it shows `v + s`. This is
//! how the simulator has it, here in real time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use headcount_sim::world::Downstream;

pub(crate) struct Gate {
    downstream: Downstream,
    clock: Mutex<Clock>,
    /// Everybody's speed has changed.
    changed: Condvar,
}

struct Clock {
    shows: f64,
    read_at: Instant,
    slowness: f64,
    calls: u32,
}

impl Clock {
    fn advance(&mut self) {
        let now = Instant::now();
        self.shows += now.duration_since(self.read_at).as_secs_f64() / self.slowness;
        self.read_at = now;
    }
}

impl Gate {
    pub(crate) fn new(downstream: Downstream) -> Self {
        let clock = Clock { shows: 0.0, read_at: Instant::now(), slowness: 1.0, calls: 0 };
        Self { downstream, clock: Mutex::new(clock), changed: Condvar::new() }
    }

    /// Calls it with so much work, and comes back when that is done.
    pub(crate) fn call(&self, size: Duration) {
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        clock.advance();
        clock.calls += 1;
        let ends = clock.shows + size.as_secs_f64();
        self.refresh(&mut clock);
        while clock.shows < ends {
            let left = Duration::from_secs_f64((ends - clock.shows) * clock.slowness);
            let waited = self.changed.wait_timeout(clock, left.max(Duration::from_micros(1)));
            clock = waited.unwrap_or_else(PoisonError::into_inner).0;
            clock.advance();
        }
        clock.calls -= 1;
        self.refresh(&mut clock);
    }

    /// To be called at a clock that was just read.
    fn refresh(&self, clock: &mut MutexGuard<'_, Clock>) {
        let slowness = self.downstream.slowness(f64::from(clock.calls), self.downstream.knee);
        if 1e-9 < (slowness - clock.slowness).abs() {
            clock.slowness = slowness;
            self.changed.notify_all();
        }
    }
}
