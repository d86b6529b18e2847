//! Tasks that wait for tasks of their own pool.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use headcount_pool::policy::{Baggage, Ending, Outcome, PoolPolicy, TaskView};
use headcount_pool::{Overflow, Refusal, TaskOptions, report_failure};

use super::{Handle, builder, count_in};
use crate::support::{LIMIT, add_one, counter, read, within};

#[test]
fn a_worker_that_finds_its_own_line_full_runs_the_task_itself() {
    let pool = builder("inline").workers(1).queue_len_max(1).build().expect("no fault");
    let ran = counter();
    let (handle, inner) = (pool.handle(), Arc::clone(&ran));
    let outer = pool.submit(move || {
        (0..10).for_each(|_| handle.spawn(count_in(&inner)).expect("open"));
        read(&inner)
    });
    assert_eq!(within("no deadlock", move || outer.expect("open").join()), Ok(9));
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 10);
}

/// What is left in the line of a task that somebody else has run has not waited there.
#[test]
fn what_others_have_run_has_not_waited_for_a_worker() {
    let pool = builder("elsewhere").workers(1).build().expect("no fault");
    let handle = pool.handle();
    let outer = pool.submit(move || {
        let tasks = handle.submit_all((0..20).map(|n| move || n)).expect("open");
        let sum: i32 = tasks.into_iter().map(|task| task.join().expect("it ran")).sum();
        sum + handle.map(0..20, |n| n).into_iter().sum::<i32>()
    });
    assert_eq!(within("it runs them", move || outer.expect("open").join()), Ok(380));
    assert!(pool.idle().wait_timeout(LIMIT));
    let snapshot = pool.snapshot();
    let (wait, service) = (snapshot.wait.expect("one"), snapshot.service.expect("one"));
    assert_eq!((wait.count, service.count, snapshot.counters.completed), (1, 1, 41));
}

/// All that a worker has joined has left the line to others, though nobody has come to it there.
#[test]
fn what_a_worker_has_run_for_itself_leaves_its_place_to_others() {
    let pool = builder("joined").workers(1).queue_len_max(4).overflow(Overflow::Reject).build();
    let pool = pool.expect("no fault");
    let handle = pool.handle();
    let outer = pool.submit(move || {
        let tasks = handle.submit_all((0..4).map(|n| move || n)).expect("there is room");
        assert_eq!(tasks.into_iter().filter_map(|task| task.join().ok()).sum::<i32>(), 6);
        let queued = handle.snapshot().queued;
        let room = (0..5).take_while(|_| handle.try_spawn(|| ()).is_ok()).count();
        (queued, room, handle.snapshot().queued)
    });
    assert_eq!(within("it runs them", move || outer.expect("open").join()), Ok((0, 4, 4)));
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(pool.snapshot().counters.completed, 9);
}

/// Each hands over the next, and nobody else has room for it. Without a limit the stack ends first,
/// and with it the process.
#[test]
fn tasks_that_a_worker_runs_inside_of_one_another_are_nested_only_so_deep() {
    /// Hands over itself until it is refused, and says why and by how many it was run.
    fn descend(pool: &Handle, how: Overflow, depth: usize, told: &Sender<(usize, Refusal)>) {
        if depth == 1_000 {
            return;
        }
        let (deeper, tell) = (pool.clone(), told.clone());
        let task = move || descend(&deeper, how, depth + 1, &tell);
        if let Err(refused) = pool.spawn_with(TaskOptions::new().overflow(how), task) {
            told.send((depth, refused.reason)).expect("somebody waits");
            // Handed back: it is whole, and so is whoever runs it.
            drop(refused.task);
        }
    }
    for how in [Overflow::Wait, Overflow::WaitFor(LIMIT), Overflow::CallerRuns] {
        let pool = builder("nest").workers(1).queue_len_max(1).build().expect("no fault");
        let (handle, (tell, told)) = (pool.handle(), channel());
        let outer = pool.submit(move || {
            handle.spawn(|| ()).expect("there is room for one");
            // Twice: whoever has come back up may go down again.
            descend(&handle, how, 0, &tell);
            descend(&handle, how, 0, &tell);
        });
        within("no deadlock", move || outer.expect("open").join()).expect("no panic");
        let full = || Refusal::Full { queue_len_max: 1 };
        assert_eq!(told.iter().collect::<Vec<_>>(), [(16, full()), (16, full())]);
        assert!(pool.idle().wait_timeout(LIMIT));
        let counters = pool.snapshot().counters;
        assert_eq!((counters.completed, counters.rejected), (34, 2));
    }
}

#[test]
fn tasks_that_join_tasks_need_no_second_worker() {
    fn descend(pool: &Handle, depth: usize) -> usize {
        match depth {
            0 => 0,
            _ => {
                let deeper = pool.clone();
                let task = pool.submit(move || descend(&deeper, depth - 1)).expect("open");
                task.join().expect("no panic") + 1
            }
        }
    }
    let pool = builder("depth").workers(1).compensate_max(0).build().expect("no fault");
    let handle = pool.handle();
    let task = pool.submit(move || descend(&handle, 150)).expect("open");
    assert_eq!(within("no deadlock", move || task.join()), Ok(150));
    let counters = pool.snapshot().counters;
    assert!(pool.idle().wait_timeout(LIMIT));
    assert!(counters.submitted == 151 && pool.snapshot().counters.completed == 151);
}

/// rayon: a thread that waited stole other work, which wanted the lock that it held.
#[test]
fn whoever_waits_runs_no_other_task_than_the_one_it_waits_for() {
    let pool = builder("isolate").workers(1).compensate_max(0).build().expect("no fault");
    let (handle, lock) = (pool.handle(), Arc::new(Mutex::new(())));
    let ran = counter();
    let unrelated = (Arc::clone(&lock), add_one(&ran));
    let outer = pool.submit(move || {
        let _held = lock.lock().expect("no panic");
        let (lock, done) = unrelated;
        let other = handle.submit(move || {
            drop(lock.lock());
            done();
        });
        assert_eq!(handle.submit(|| 3).expect("open").join(), Ok(3));
        assert!(!other.expect("open").is_done());
    });
    assert_eq!(within("no deadlock", move || outer.expect("open").join()), Ok(()));
    assert!(pool.idle().wait_timeout(LIMIT));
    assert_eq!(read(&ran), 1);
}

/// Writes down how each class of task ended.
#[derive(Default)]
struct Endings(Mutex<Vec<(String, Outcome)>>);

impl PoolPolicy for Endings {
    fn name(&self) -> &'static str {
        "endings"
    }

    fn on_complete(&self, task: &TaskView<'_>, ending: Ending, _baggage: Option<Baggage>) {
        let class = task.class.unwrap_or("none").to_owned();
        self.0.lock().expect("no panic").push((class, ending.outcome));
    }
}

#[test]
fn a_failure_is_put_down_to_the_task_that_reported_it() {
    let pool = builder("blame").workers(1).build().expect("no fault");
    let endings = Arc::new(Endings::default());
    pool.policies().add(Arc::clone(&endings) as _).unwrap_or_else(|_| panic!("the only one"));
    let class = |name| TaskOptions::new().class(headcount_core::Name::new(name).expect("a name"));
    let (handle, inner) = (pool.handle(), class("inner"));
    let outer = pool.submit_with(class("outer"), move || {
        report_failure();
        // Run right here, by the one who waits for it.
        handle.submit_with(inner, || ()).expect("open").join().expect("it went well");
    });
    outer.expect("open").join().expect("it returned");
    assert!(pool.idle().wait_timeout(LIMIT));
    let told = endings.0.lock().expect("no panic").clone();
    let expected =
        [("inner".to_owned(), Outcome::Succeeded), ("outer".to_owned(), Outcome::Failed)];
    assert_eq!(told, expected);
    assert_eq!(pool.snapshot().counters.failed, 1);
}
