//! How much of the machine others used while a round lasted, so that a reader knows what to make
//! of its figures.

use std::fs;

use super::stage::Stage;

/// How long a tick of the system's books is.
const TICK_US: f64 = 10_000.0;

/// The books at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Books {
    /// Time of all processors, and what of it was used or taken away by the host.
    all_us: f64,
    used_us: f64,
    /// What this benchmark used, with its children that have ended and its Redis.
    ours_us: f64,
}

impl Books {
    /// As they are now.
    pub(super) fn read(stage: &Stage) -> Result<Self, String> {
        let read = |path| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        let redis_us = stage.redis()?.cpu_us;
        let books = Self::of(&read("/proc/stat")?, &read("/proc/self/stat")?, redis_us);
        books.ok_or_else(|| "the books of the system are in a strange form".to_owned())
    }

    fn of(machine: &str, process: &str, redis_us: f64) -> Option<Self> {
        let numbers = machine.lines().next()?.split_whitespace().skip(1);
        let machine: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal; what follows is part of these.
        let all: f64 = machine.get(..8)?.iter().sum();
        // Of the process: utime, stime, cutime and cstime, counted from behind its name.
        let fields: Vec<&str> = process.rsplit(')').next()?.split_whitespace().collect();
        let ours = fields.get(11..15)?.iter().filter_map(|field| field.parse::<f64>().ok());
        Some(Self {
            all_us: all * TICK_US,
            used_us: (all - machine[3] - machine[4]) * TICK_US,
            ours_us: ours.sum::<f64>() * TICK_US + redis_us,
        })
    }

    /// The share of the machine that others used since then, in percent.
    pub(super) fn others_since(&self, before: &Self) -> f64 {
        let others = (self.used_us - before.used_us) - (self.ours_us - before.ours_us);
        100.0 * (others / (self.all_us - before.all_us)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_used_is_what_is_left_of_what_was_used() {
        let process = |ours: u32| format!("7 (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 {ours} 0 0 0 20 0");
        let before = Books::of("cpu 0 0 0 0 0 0 0 0 0 0\n", &process(0), 0.0);
        // Of 100 ticks 60 were used and 10 taken away, 30 of them and 10 more of Redis by us.
        let after = Books::of("cpu 40 0 20 25 5 0 0 10 0 0\n", &process(30), 10.0 * TICK_US);
        let (before, after) = before.zip(after).expect("both are in form");
        assert!((after.others_since(&before) - 30.0).abs() < 1e-9, "{after:?}");
    }
}
