//! A disk that takes its time: many share what it costs, and whoever waits too long is told.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use headcount_core::Timestamp;
use headcount_queue::embedded::{Committed, Embedded, EmbeddedOptions};
use headcount_queue::jobs::port::{Backend, ExtendAsk, Settled, StoreError, Submitted};
use headcount_queue::model::HandClock;

use super::disk::{Cut, Tape, Trouble};
use super::{HOLDER, TTL, block_on, done, id, job, lease, options, queue, records};

const SLOW: Duration = Duration::from_millis(50);
/// Nearly as long as a lease.
const NEARLY: Duration = Duration::from_secs(59);

#[test]
fn a_slow_disk_is_paid_for_once_by_all_who_wait() {
    block_on(async {
        let tape = Arc::new(Tape::default());
        let store = Embedded::open_on(tape.clone(), EmbeddedOptions::default()).expect("it opens");
        let store = Arc::new(store);
        tape.trouble(Trouble::Slow(SLOW));
        let (begun, before) = (Instant::now(), tape.syncs());
        let submit = |number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.enqueue(&queue(), vec![job(number)]).await })
        };
        let submits: Vec<_> = (0..200).map(submit).collect();
        for submit in submits {
            submit.await.expect("nobody panics").expect("it takes jobs");
        }
        let (took, syncs) = (begun.elapsed(), tape.syncs() - before);
        assert!(syncs < 20, "200 submits were synced {syncs} times");
        assert!(took < 40 * SLOW, "200 submits took {took:?}");
        let left = Arc::new(tape.cut(tape.len(), Cut::Nothing));
        let again = Embedded::open_on(left, options()).expect("it opens");
        assert_eq!(records(&again, (0..200).map(id).collect()).await.len(), 200);
    });
}

#[test]
fn who_renewed_in_time_holds_on_however_long_the_disk_takes() {
    block_on(async {
        let tape = Arc::new(Tape::default());
        let clock = Arc::new(HandClock::at(Timestamp::from_secs(1_700_000_000)));
        let options = EmbeddedOptions { clock: clock.clone(), ..options() };
        let store = Embedded::open_on(tape.clone(), options).expect("it is empty");
        store.enqueue(&queue(), (0..30).map(job).collect()).await.expect("it takes jobs");
        tape.trouble(Trouble::Slow(SLOW));
        let name = queue();
        for round in 0..3 {
            let leased = lease(&store, 10).await;
            assert_eq!(leased.jobs.len(), 10);
            clock.advance(NEARLY);
            assert_eq!(store.sweep(&name, 100).await.expect("it sweeps").recovered, 0);
            // The disk is at work for longer than the lease has. The word of its holder waits for
            // it, and before the sweep.
            clock.advance(Duration::from_secs(2));
            let renewal = ExtendAsk { holder: HOLDER, ttl: TTL, notes: Vec::new() };
            let (submitted, renewed, swept) = tokio::join!(
                biased;
                store.enqueue(&name, vec![job(100 + round)]),
                store.extend(&name, renewal),
                store.sweep(&name, 100),
            );
            submitted.and(renewed.map(drop)).expect("it is slow, and works");
            assert_eq!(swept.expect("it sweeps").recovered, 0);
            // From then on it has all of its time.
            clock.advance(NEARLY);
            assert_eq!(store.sweep(&name, 100).await.expect("it sweeps").recovered, 0);
            let settled = store.settle(&queue(), HOLDER, done(&leased)).await;
            assert_eq!(settled.expect("they are held"), vec![Settled::Taken; 10]);
        }
    });
}

#[test]
fn a_submit_that_took_too_long_may_be_repeated() {
    block_on(async {
        let tape = Arc::new(Tape::default());
        let options = EmbeddedOptions { call_timeout: SLOW, ..EmbeddedOptions::default() };
        let store = Embedded::open_on(tape.clone(), options).expect("it is empty");
        tape.trouble(Trouble::Slow(10 * SLOW));
        let late = store.enqueue(&queue(), vec![job(1)]).await.expect_err("the disk is too slow");
        assert!(matches!(late, StoreError::Unreachable(_)), "{late:?}");
        assert!(late.to_string().contains("has not answered within 50ms"), "{late}");
        tape.trouble(Trouble::None);
        let deadline = Instant::now() + Duration::from_secs(20);
        let again = loop {
            match store.enqueue(&queue(), vec![job(1)]).await {
                Ok(again) => break again,
                Err(error) => assert!(Instant::now() < deadline, "it does not recover: {error}"),
            }
        };
        assert_eq!(again, [Submitted::Existing(id(1))], "it was taken, and is not taken twice");
        assert_eq!(lease(&store, 10).await.jobs.len(), 1);
    });
}

#[test]
fn what_commits_took_is_told() {
    block_on(async {
        let tape = Arc::new(Tape::default());
        let told = Arc::<Mutex<Vec<Duration>>>::default();
        let ear = Arc::clone(&told);
        let committed: Committed = Arc::new(move |took| ear.lock().expect("fine").push(took));
        let options = EmbeddedOptions { committed: Some(committed), ..options() };
        let store = Embedded::open_on(tape.clone(), options).expect("it is empty");
        tape.trouble(Trouble::Slow(SLOW));
        store.enqueue(&queue(), vec![job(1)]).await.expect("it takes jobs");
        // Nothing is written for whoever only looks.
        store.stats(&queue()).await.expect("it counts");
        let told = told.lock().expect("fine").clone();
        assert_eq!(told.len(), 1);
        assert!(SLOW <= told[0] && told[0] < 20 * SLOW, "{told:?}");
    });
}
