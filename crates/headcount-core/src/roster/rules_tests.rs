//! What a roster does, told as stories.

use std::collections::VecDeque;
use std::time::Duration;

use super::*;
use crate::roster::BACKOFF_MIN;

/// A pool that does what its roster says, told in words. Times are milliseconds; workers are
/// called `a`, `b`, `c` in the order of their hire.
struct Story {
    roster: Roster,
    queue: VecDeque<Timestamp>,
    workers: Vec<WorkerId>,
}

fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(ms)
}

/// A pool between `floor` and `ceiling` whose tasks wait for 85 ms and workers idle for 1 s.
fn patient(floor: u32, ceiling: u32) -> Story {
    story(RosterConfig {
        wait_budget: Duration::from_millis(100),
        ..RosterConfig::new(Staffing::between(floor, ceiling))
    })
}

/// The same, where tasks do not wait while there is room.
fn eager(floor: u32, ceiling: u32) -> Story {
    story(RosterConfig::new(Staffing::between(floor, ceiling)))
}

fn story(config: RosterConfig) -> Story {
    Story { roster: Roster::new(config), queue: VecDeque::new(), workers: Vec::new() }
}

fn when(until: Option<Timestamp>) -> String {
    until.map_or("for ever".to_owned(), |at| format!("until {}", at.as_nanos() / 1_000_000))
}

impl Story {
    fn submit(&mut self, ms: u64) -> String {
        match self.roster.submitted(at(ms), self.queue.len() as u64) {
            Placement::Wake(worker) => format!("wake {}", self.name(worker)),
            Placement::Hire(worker) => {
                self.queue.push_back(at(ms));
                format!("hire {}", self.name(worker))
            }
            Placement::Wait { hire_at } => {
                self.queue.push_back(at(ms));
                format!("wait {}", when(hire_at))
            }
        }
    }

    fn start(&mut self, name: char, ms: u64) -> String {
        let next = self.roster.started(self.worker(name), at(ms), self.queue.len() as u64);
        self.follow(next)
    }

    fn finish(&mut self, name: char, ms: u64) -> String {
        let next = self.roster.finished(self.worker(name), at(ms), self.queue.len() as u64);
        self.follow(next)
    }

    fn expire(&mut self, name: char, ms: u64) -> String {
        match self.roster.expired(self.worker(name), at(ms)) {
            Expiry::Leave => "leave".to_owned(),
            Expiry::Stay { until } => format!("stay {}", when(until)),
        }
    }

    fn leave(&mut self, name: char) {
        self.roster.left(self.worker(name));
    }

    /// All orders, then when to look again.
    fn look(&mut self, ms: u64) -> String {
        let mut said = Vec::new();
        while let Some(order) = self.roster.next_order(at(ms), &self.queue) {
            said.push(match order {
                Order::Hire(worker) => format!("hire {}", self.name(worker)),
                Order::Dismiss(worker) => format!("dismiss {}", self.name(worker)),
            });
        }
        said.push(when(self.roster.next_look(&self.queue)));
        said.join(", ")
    }

    fn resize(&mut self, floor: u32, ceiling: u32, ms: u64) -> String {
        self.roster.resize(Staffing::between(floor, ceiling));
        self.look(ms)
    }

    /// `live: starting+busy+parked+leaving`, and who else there is.
    fn counts(&self) -> String {
        let Counts { live, starting, busy, parked, leaving, retiring, written_off } =
            self.roster.counts();
        let mut said = vec![format!("{live}: {starting}+{busy}+{parked}+{leaving}")];
        if 0 < retiring {
            said.push(format!("{retiring} retiring"));
        }
        if 0 < written_off {
            said.push(format!("{written_off} written off"));
        }
        said.join(", ")
    }

    fn follow(&mut self, next: Next) -> String {
        match next {
            Next::Take => {
                self.queue.pop_front().expect("the roster saw a task");
                "take".to_owned()
            }
            Next::Park { until } => format!("park {}", when(until)),
            Next::Leave => "leave".to_owned(),
        }
    }

    fn worker(&self, name: char) -> WorkerId {
        self.workers[name as usize - 'a' as usize]
    }

    fn name(&mut self, worker: WorkerId) -> char {
        let known = self.workers.iter().position(|known| *known == worker);
        let index = known.unwrap_or_else(|| {
            self.workers.push(worker);
            self.workers.len() - 1
        });
        ('a'..='z').nth(index).expect("stories have few workers")
    }

    /// Hires, starts and parks the floor at time 0.
    fn opened(mut self) -> Self {
        let _ = self.look(0);
        for index in 0..self.workers.len() {
            let _ = self.roster.started(self.workers[index], at(0), 0);
        }
        self
    }
}

#[test]
fn without_a_wait_budget_a_task_hires_until_the_ceiling() {
    let mut pool = eager(0, 2);
    assert_eq!(pool.submit(0), "hire a");
    assert_eq!(pool.submit(0), "hire b");
    assert_eq!(pool.submit(0), "wait for ever");
    assert_eq!(pool.counts(), "2: 2+0+0+0");
    assert_eq!(pool.start('b', 1), "take");
    assert_eq!(pool.start('a', 1), "take");
    assert_eq!(pool.finish('b', 2), "take");
    assert_eq!(pool.finish('a', 3), "park until 1003");
}

#[test]
fn a_task_waits_for_its_deadline_before_somebody_is_hired() {
    let mut pool = patient(1, 2).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(10), "wait until 95");
    assert_eq!(pool.look(94), "until 95");
    assert_eq!(pool.look(95), "hire b, for ever");
}

#[test]
fn a_worker_that_frees_up_in_time_saves_the_hire() {
    let mut pool = patient(1, 2).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(10), "wait until 95");
    assert_eq!(pool.finish('a', 90), "take");
    assert_eq!(pool.look(95), "for ever");
}

#[test]
fn the_spawn_delay_brings_the_hire_forward() {
    let mut pool = patient(1, 2).opened();
    let delay = Duration::from_millis(60);
    pool.roster.reconfigure(RosterConfig { spawn_delay: delay, ..pool.roster.config() });
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(10), "wait until 35");
}

#[test]
fn a_pool_without_workers_does_not_let_its_first_task_wait() {
    let mut pool = patient(0, 2);
    assert_eq!(pool.submit(0), "hire a");
    assert_eq!(pool.submit(1), "wait until 86");
}

/// The same as a patient one, but so many may wait, and others are turned away.
fn narrow(queue_len_max: u64) -> Story {
    let config = patient(1, 8).roster.config();
    story(RosterConfig { queue_len_max: Some(queue_len_max), ..config })
}

#[test]
fn nobody_waits_for_a_deadline_where_the_next_would_be_turned_away() {
    let mut pool = narrow(4).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(1), "wait until 86");
    assert_eq!(pool.look(1), "until 86");
    assert_eq!(pool.submit(2), "hire b", "half of the line is taken");
    assert_eq!(pool.look(2), "hire c, for ever", "for the one that came before, too");
    assert_eq!(pool.submit(3), "hire d");
    assert_eq!(pool.start('b', 4), "take");
    assert_eq!(pool.start('c', 4), "take");
    assert_eq!(pool.start('d', 4), "take");
    assert_eq!(pool.submit(5), "wait until 90", "there is room again");
}

#[test]
fn a_line_for_one_hires_for_it_at_once() {
    let mut pool = narrow(1).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(1), "hire b");
}

#[test]
fn a_line_longer_than_what_comes_in_time_is_never_crowded() {
    let mut pool = narrow(u64::MAX).opened();
    assert_eq!(pool.submit(0), "wake a");
    for ms in 1..=7 {
        assert_eq!(pool.submit(ms), format!("wait until {}", ms + 85));
    }
    assert_eq!(pool.look(7), "until 86");
}

#[test]
fn nobody_waits_for_a_deadline_where_more_wait_than_may_be_hired() {
    let mut pool = patient(1, 3).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(1), "wait until 86");
    assert_eq!(pool.submit(2), "wait until 87", "two may still be hired");
    assert_eq!(pool.submit(3), "hire b");
    assert_eq!(pool.look(3), "hire c, for ever");
    assert_eq!(pool.counts(), "3: 2+1+0+0");
}

#[test]
fn who_is_on_the_way_counts_for_those_who_wait() {
    let mut pool = patient(1, 4).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(1), "wait until 86");
    assert_eq!(pool.look(86), "hire b, for ever");
    assert_eq!(pool.submit(87), "wait until 172", "one is on the way, and two may be hired");
    assert_eq!(pool.submit(88), "wait until 173");
    assert_eq!(pool.submit(89), "hire c");
}

#[test]
fn a_ceiling_that_comes_down_to_those_who_wait_lets_nobody_wait() {
    let mut pool = patient(1, 9).opened();
    assert_eq!(pool.submit(0), "wake a");
    for ms in 1..=3 {
        let _ = pool.submit(ms);
    }
    assert_eq!(pool.look(3), "until 86");
    assert_eq!(pool.resize(1, 3, 4), "hire b, hire c, for ever");
}

#[test]
fn nobody_is_hired_twice_for_one_task() {
    let mut pool = patient(1, 9).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(0), "wait until 85");
    assert_eq!(pool.submit(5), "wait until 90");
    assert_eq!(pool.look(85), "hire b, until 90");
    assert_eq!(pool.look(85), "until 90");
    assert_eq!(pool.look(90), "hire c, for ever");
}

#[test]
fn a_starting_worker_covers_the_next_task_when_its_own_was_taken() {
    let mut pool = patient(1, 9).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(0), "wait until 85");
    assert_eq!(pool.look(85), "hire b, for ever");
    assert_eq!(pool.finish('a', 86), "take");
    assert_eq!(pool.submit(87), "wait for ever");
    assert_eq!(pool.submit(88), "wait until 173");
    assert_eq!(pool.start('b', 89), "take");
    assert_eq!(pool.look(172), "until 173");
}

#[test]
fn a_floor_that_is_warming_up_serves_those_who_wait() {
    let mut pool = eager(0, 8);
    assert_eq!(pool.resize(2, 8, 0), "hire a, hire b, for ever");
    assert_eq!(pool.submit(0), "wait for ever");
    assert_eq!(pool.submit(0), "wait for ever");
    assert_eq!(pool.submit(0), "hire c");
}

#[test]
fn the_last_parked_is_woken_first_and_the_longest_parked_goes_first() {
    let mut pool = eager(0, 3);
    for _ in 0..3 {
        let _ = pool.submit(0);
    }
    for name in ['a', 'b', 'c'] {
        assert_eq!(pool.start(name, 0), "take");
    }
    assert_eq!(pool.finish('b', 1), "park until 1001");
    assert_eq!(pool.finish('c', 2), "park until 1002");
    assert_eq!(pool.finish('a', 3), "park until 1003");
    assert_eq!(pool.submit(4), "wake a");
    assert_eq!(pool.look(1001), "dismiss b, until 1002");
    assert_eq!(pool.submit(1002), "wake c");
}

#[test]
fn woken_at_the_moment_it_expired_it_stays() {
    let mut pool = eager(0, 1);
    assert_eq!(pool.submit(0), "hire a");
    assert_eq!(pool.start('a', 0), "take");
    assert_eq!(pool.finish('a', 0), "park until 1000");
    assert_eq!(pool.submit(1000), "wake a");
    assert_eq!(pool.expire('a', 1000), "stay for ever");
    assert_eq!(pool.counts(), "1: 0+1+0+0");
}

#[test]
fn expired_at_the_moment_a_task_came_it_is_replaced() {
    let mut pool = patient(0, 1);
    assert_eq!(pool.submit(0), "hire a");
    assert_eq!(pool.start('a', 0), "take");
    assert_eq!(pool.finish('a', 0), "park until 1000");
    assert_eq!(pool.expire('a', 1000), "leave");
    // The leaver holds the only place until it is gone; then its task has waited enough.
    assert_eq!(pool.submit(1000), "wait for ever");
    assert_eq!(pool.look(1000), "for ever");
    pool.leave('a');
    assert_eq!(pool.look(1001), "hire b, for ever");
}

#[test]
fn the_idle_time_starts_anew_with_every_park() {
    let mut pool = eager(0, 1);
    assert_eq!(pool.submit(0), "hire a");
    assert_eq!(pool.start('a', 0), "take");
    assert_eq!(pool.finish('a', 0), "park until 1000");
    assert_eq!(pool.submit(600), "wake a");
    assert_eq!(pool.finish('a', 700), "park until 1700");
    assert_eq!(pool.expire('a', 1000), "stay until 1700");
    assert_eq!(pool.expire('a', 1699), "stay until 1700");
    assert_eq!(pool.expire('a', 1700), "leave");
}

#[test]
fn the_floor_does_not_expire() {
    let mut pool = eager(1, 4).opened();
    assert_eq!(pool.expire('a', 1_000_000), "stay for ever");
    assert_eq!(pool.look(1_000_000), "for ever");
    assert_eq!(pool.resize(0, 4, 1_000_000), "dismiss a, for ever");
}

#[test]
fn a_lowered_floor_lets_workers_go_when_they_have_idled() {
    let mut pool = eager(2, 4).opened();
    assert_eq!(pool.resize(1, 4, 400), "until 1000");
    assert_eq!(pool.look(1000), "dismiss a, for ever");
    assert_eq!(pool.counts(), "2: 0+0+1+1");
}

#[test]
fn a_shrink_sends_the_parked_home_and_lets_the_busy_finish() {
    let mut pool = eager(4, 4).opened();
    assert_eq!(pool.submit(1), "wake d");
    assert_eq!(pool.submit(1), "wake c");
    assert_eq!(pool.resize(1, 1, 2), "dismiss a, dismiss b, for ever");
    assert_eq!(pool.counts(), "4: 0+2+0+2, 1 retiring");
    assert_eq!(pool.finish('c', 3), "leave", "whoever is first");
    assert_eq!(pool.finish('d', 4), "park for ever");
    for name in ['a', 'b', 'c'] {
        pool.leave(name);
    }
    assert_eq!(pool.counts(), "1: 0+0+1+0");
}

#[test]
fn a_ceiling_that_rises_again_keeps_the_retiring() {
    let mut pool = eager(2, 2).opened();
    assert_eq!(pool.submit(0), "wake b");
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.resize(1, 1, 0), "for ever");
    assert_eq!(pool.counts(), "2: 0+2+0+0, 1 retiring");
    assert_eq!(pool.resize(2, 2, 1), "for ever");
    assert_eq!(pool.finish('a', 2), "park for ever");
    assert_eq!(pool.finish('b', 2), "park for ever");
}

#[test]
fn those_who_leave_hold_their_place_until_they_are_gone() {
    let mut pool = eager(2, 2).opened();
    assert_eq!(pool.resize(0, 0, 0), "dismiss a, dismiss b, for ever");
    assert_eq!(pool.resize(2, 2, 0), "for ever");
    assert_eq!(pool.submit(0), "wait for ever");
    pool.leave('b');
    assert_eq!(pool.look(1), "hire c, for ever");
    pool.leave('a');
    assert_eq!(pool.look(1), "hire d, for ever");
    assert_eq!(pool.counts(), "2: 2+0+0+0");
}

#[test]
fn a_worker_that_starts_above_the_ceiling_leaves_at_once() {
    let mut pool = eager(0, 2);
    assert_eq!(pool.submit(0), "hire a");
    assert_eq!(pool.submit(0), "hire b");
    assert_eq!(pool.resize(0, 1, 0), "for ever");
    assert_eq!(pool.counts(), "2: 2+0+0+0, 1 retiring");
    assert_eq!(pool.start('a', 1), "leave");
    assert_eq!(pool.start('b', 1), "take");
    assert_eq!(pool.finish('b', 2), "take");
}

#[test]
fn a_raised_ceiling_hires_for_all_that_are_overdue() {
    let mut pool = patient(1, 1).opened();
    assert_eq!(pool.submit(0), "wake a");
    for ms in [0, 1, 50] {
        assert_eq!(pool.submit(ms), "wait for ever");
    }
    assert_eq!(pool.look(200), "for ever");
    assert_eq!(pool.resize(1, 9, 100), "hire b, hire c, until 135");
}

#[test]
fn a_failed_start_is_tried_again_alone_after_a_while() {
    let mut pool = eager(1, 9).opened();
    assert_eq!(pool.submit(0), "wake a");
    assert_eq!(pool.submit(0), "hire b");
    assert_eq!(pool.submit(0), "hire c");
    let setback = Setback::Short { retry_at: at(10) };
    assert_eq!(pool.roster.spawn_failed(pool.worker('b'), at(0)), setback);
    assert_eq!(pool.roster.spawn_failed(pool.worker('c'), at(0)), setback);
    assert_eq!(pool.roster.unreachable_until(), Some(at(10)));
    assert_eq!(pool.look(0), "until 10");
    assert_eq!(pool.submit(1), "wait until 10");
    assert_eq!(pool.look(10), "hire d, for ever");
    assert_eq!(pool.submit(10), "wait for ever");
    assert_eq!(pool.start('d', 11), "take");
    assert_eq!(pool.roster.unreachable_until(), None);
    assert_eq!(pool.look(11), "hire e, hire f, hire g, for ever");
}

#[test]
fn without_anybody_the_tasks_are_stranded() {
    let mut pool = eager(0, 9);
    assert_eq!(pool.submit(0), "hire a");
    let retry_at = at(0) + BACKOFF_MIN;
    assert_eq!(pool.roster.spawn_failed(pool.worker('a'), at(0)), Setback::Stranded { retry_at });
    assert_eq!(pool.counts(), "0: 0+0+0+0");
}

#[test]
fn workers_that_die_young_are_not_hired_in_a_hot_loop() {
    let mut pool = eager(1, 1);
    assert_eq!(pool.look(0), "hire a, for ever");
    assert!(pool.roster.died(pool.worker('a'), at(0)).is_some());
    assert_eq!(pool.look(0), "until 10");
    assert_eq!(pool.look(10), "hire b, for ever");
    assert!(pool.roster.died(pool.worker('b'), at(10)).is_some());
    assert_eq!(pool.look(10), "until 30");
}

#[test]
fn a_dead_worker_is_replaced_below_the_floor_or_for_overdue_tasks() {
    let mut pool = patient(1, 1).opened();
    assert_eq!(pool.roster.died(pool.worker('a'), at(5)), None);
    assert_eq!(pool.look(5), "hire b, for ever");

    let mut pool = patient(0, 2);
    assert_eq!(pool.submit(0), "hire a");
    assert_eq!(pool.start('a', 0), "take");
    assert_eq!(pool.roster.died(pool.worker('a'), at(5)), None);
    assert_eq!(pool.look(5), "for ever", "nobody is needed");
    assert_eq!(pool.submit(6), "hire b");
}

#[test]
fn a_stuck_worker_is_replaced_and_comes_back_where_there_is_room() {
    let mut pool = eager(1, 1).opened();
    let config = RosterConfig { written_off_max: 1, ..pool.roster.config() };
    pool.roster.reconfigure(config);
    assert_eq!(pool.submit(0), "wake a");
    assert!(pool.roster.written_off(pool.worker('a')));
    assert_eq!(pool.look(1), "hire b, for ever");
    assert_eq!(pool.start('b', 1), "park for ever");
    assert_eq!(pool.submit(2), "wake b");
    assert!(!pool.roster.written_off(pool.worker('b')), "one at a time");
    assert_eq!(pool.counts(), "1: 0+1+0+0, 1 written off");

    assert_eq!(pool.resize(1, 2, 3), "for ever");
    assert_eq!(pool.finish('a', 4), "park until 1004");
    assert_eq!(pool.counts(), "2: 0+1+1+0");
}

#[test]
fn a_stuck_worker_leaves_where_its_place_was_taken() {
    let mut pool = eager(1, 1).opened();
    let config = RosterConfig { written_off_max: 1, ..pool.roster.config() };
    pool.roster.reconfigure(config);
    assert_eq!(pool.submit(0), "wake a");
    assert!(pool.roster.written_off(pool.worker('a')));
    assert_eq!(pool.look(1), "hire b, for ever");
    assert_eq!(pool.submit(1), "wait for ever");
    assert_eq!(pool.finish('a', 2), "leave", "though a task waits");
    pool.leave('a');
    assert_eq!(pool.counts(), "1: 1+0+0+0");
}

#[test]
fn a_worker_without_a_task_is_not_written_off() {
    let mut pool = eager(1, 1).opened();
    let config = RosterConfig { written_off_max: 9, ..pool.roster.config() };
    pool.roster.reconfigure(config);
    assert!(!pool.roster.written_off(pool.worker('a')));
}

#[test]
fn spans_without_end_mean_never() {
    let mut pool = story(RosterConfig {
        wait_budget: Duration::MAX,
        idle_time: Duration::MAX,
        ..RosterConfig::new(Staffing::between(0, 4))
    });
    assert_eq!(pool.submit(0), "hire a");
    assert_eq!(pool.start('a', 0), "take");
    assert_eq!(pool.submit(0), "wait for ever");
    assert_eq!(pool.finish('a', 1), "take");
    assert_eq!(pool.finish('a', 2), "park for ever");
}

#[test]
fn the_snapshot_tells_what_the_roster_knows() {
    let mut pool = patient(2, 2).opened();
    assert_eq!(pool.submit(0), "wake b");
    let snapshot = pool.roster.snapshot(at(50), &pool.queue);
    assert_eq!((snapshot.floor, snapshot.ceiling), (2, 2));
    assert_eq!((snapshot.live, snapshot.busy, snapshot.parked), (2, 1, 1));
    assert_eq!(snapshot.longest_idle, Some(Duration::from_millis(50)));
    assert_eq!((snapshot.queued, snapshot.oldest_wait), (0, None));
    assert_eq!(pool.submit(10), "wake a");
    assert_eq!(pool.submit(10), "wait for ever");
    let snapshot = pool.roster.snapshot(at(50), &pool.queue);
    assert_eq!((snapshot.queued, snapshot.longest_idle), (1, None));
    assert_eq!(snapshot.oldest_wait, Some(Duration::from_millis(40)));
}
