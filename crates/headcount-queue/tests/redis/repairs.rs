//! Keys that somebody deleted or changed behind the store's back: any sweep puts them right, counts
//! it, and every job still ends once.

use std::collections::BTreeSet;
use std::time::Duration;

use headcount_core::jobs::port::{Backend, Command, Ending, ExtendAsk, Which};
use headcount_core::jobs::{Holder, JobSpec, Key, Priority, Rules, State, Unique, UniqueSpan};
use headcount_queue::conformance::Subject;
use redis::Value;

use crate::scene::{SECOND, Scene, full, id, label, no_tenant, three_tenants};
use crate::server::{Server, try_ask};
use crate::subject::{block_on, jobs, queue};

/// After the damage one sweep repairs, the next one finds nothing more, and every job ends once.
#[track_caller]
fn check(words: &str, tenant: fn(u128) -> Option<&'static str>) {
    block_on(async {
        let mut scene = Scene::furnished(tenant).await;
        assert_eq!(scene.sweep().await.repaired, 0, "{words}: it was whole");
        let before = scene.jobs_in_all().await;
        scene.damage(words);
        let repaired = scene.sweep().await.repaired;
        assert!(0 < repaired, "{words}: nothing was repaired");
        assert_eq!(scene.stats().await.totals.repaired, repaired, "{words}: it was not counted");
        assert_eq!(scene.jobs_in_all().await, before, "{words}: some are in no place");
        scene.play_to_the_end().await;
        scene.assert_all_ended_once(words).await;
        assert_eq!(scene.stats().await.jobs[State::Dead], 1, "{words}: the dead are kept");
        assert_eq!(scene.stats().await.totals.repaired, repaired, "{words}: not for good");
    });
}

#[test]
fn a_lost_place_of_jobs_loses_none() {
    for key in ["lane:5:", "lane:3:", "later", "held:@1", "in:blocked"] {
        check(&format!("DEL ~{key}"), no_tenant);
    }
    check("LREM ~lane:3: 1 #20 and ZREMRANGEBYRANK ~later 0 0", no_tenant);
}

#[test]
fn what_waits_for_its_time_still_does() {
    block_on(async {
        let scene = Scene::furnished(no_tenant).await;
        scene.damage("DEL ~later");
        scene.sweep().await;
        let jobs = scene.stats().await.jobs;
        assert_eq!((jobs[State::Scheduled], jobs[State::Retrying]), (2, 1));
    });
}

#[test]
fn what_comes_back_keeps_its_counters() {
    block_on(async {
        let scene = Scene::furnished(no_tenant).await;
        scene.on.advance(6 * SECOND);
        scene.sweep().await;
        scene.damage("DEL ~lane:5:");
        scene.sweep().await;
        let leased = scene.lease(2, 100).await;
        let retried = leased.jobs.iter().find(|job| job.id == id(1)).expect("it came back");
        assert_eq!(retried.attempts, 1);
    });
}

#[test]
fn lost_tenants_lose_no_turn_for_good() {
    for key in ["lane:5:a", "lane:5:", "lane:3:a", "lens", "ring:5", "later", "held:@1"] {
        check(&format!("DEL ~{key}"), three_tenants);
    }
    check("DEL ~lens and DEL ~ring:5 and DEL ~ring:3", three_tenants);
    check("DEL ~lens and DEL ~ring:5 and DEL ~conf", three_tenants);
    check("HDEL ~lens 5:a", three_tenants);
    check("HINCRBY ~lens 5:a 7", three_tenants);
    check("RPUSH ~ring:5 nobody a", three_tenants);
}

#[test]
fn lost_records_of_jobs_lose_no_job() {
    for key in ["leases", "holders", "counts", "marks", "conf", "in:dead", "until:dead"] {
        check(&format!("DEL ~{key}"), no_tenant);
        check(&format!("DEL ~{key}"), three_tenants);
    }
    check("DEL ~leases and DEL ~counts and DEL ~later and DEL ~lane:5:", no_tenant);
    check("HINCRBY ~counts running 7", no_tenant);
    check("HINCRBY ~counts ready 7 and HINCRBY ~counts scheduled 7", no_tenant);
}

#[test]
fn a_job_that_waits_for_others_is_not_forgotten_by_them() {
    check("DEL ~needs:#40", no_tenant);
    check("DEL ~after:#30", no_tenant);
}

#[test]
fn entries_that_nobody_made_are_thrown_out() {
    check("RPUSH ~lane:5: #77", no_tenant);
    check("RPUSH ~lane:5:a #77", three_tenants);
    check("ZADD ~later 1700000001000 #78", no_tenant);
    check("ZADD ~in:blocked 0 #79", no_tenant);
    // In two places at once, it would be run twice.
    check("RPUSH ~lane:3: #10", no_tenant);
    check("RPUSH ~lane:5: #3", no_tenant);
}

/// A job whose body is gone cannot be run, and is in nobody's way.
#[track_caller]
fn check_without_body(number: u128) {
    block_on(async {
        let mut scene = Scene::furnished(no_tenant).await;
        scene.damage(&format!("HDEL ~jobs #{number}"));
        scene.play_to_the_end().await;
        // A holder that has it in its hands may still end it.
        let ends = scene.ended.remove(&id(number)).expect("it was submitted");
        assert!(ends <= 1, "job {number} ended {ends} times");
        scene.assert_all_ended_once(&format!("without {number}")).await;
        assert!(0 < scene.stats().await.totals.repaired || ends == 1, "{number} was not counted");
        assert_eq!(scene.sweep().await.repaired, 0, "{number} is not put right for good");
    });
}

#[test]
fn a_job_without_body_is_dropped_and_counted() {
    for number in [3, 10, 20, 30, 40] {
        check_without_body(number);
    }
}

#[test]
fn a_lane_full_of_jobs_without_bodies_stops_nobody() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1, 2, 3], |_, _| ()).await;
        scene.damage("HDEL ~jobs #1 and HDEL ~jobs #2");
        // No sweep: whoever leases meets them first.
        let leased = scene.lease(1, 2).await;
        assert_eq!((leased.jobs.len(), leased.again_in), (0, Some(Duration::ZERO)));
        assert_eq!(scene.lease(1, 2).await.jobs.len(), 1);
        assert_eq!(scene.stats().await.totals.repaired, 2);
    });
}

#[test]
fn a_worker_that_is_lost_with_a_job_without_body_is_swept_up() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1, 2], |_, _| ()).await;
        scene.lease(1, 2).await;
        scene.damage("HDEL ~jobs #1");
        scene.on.advance(61 * SECOND);
        let swept = scene.sweep().await;
        assert_eq!((swept.expired, swept.recovered, swept.repaired), (1, 1, 1));
        assert_eq!(scene.stats().await.jobs[State::Ready], 1);
    });
}

#[test]
fn a_lost_lease_does_not_disturb_a_holder_that_lives() {
    for sweeps in [0, 1] {
        block_on(async {
            let mut scene = Scene::furnished(no_tenant).await;
            scene.damage("DEL ~leases");
            for _ in 0..sweeps {
                scene.sweep().await;
            }
            let renew = ExtendAsk { holder: Holder::new(1), ttl: 60 * SECOND, notes: Vec::new() };
            let extended = scene.on.store.extend(&queue(), renew).await.expect("it answers");
            assert!(extended.alive);
            scene.on.advance(30 * SECOND);
            scene.sweep().await;
            assert_eq!(scene.stats().await.totals.crashed, 0);
            scene.play_to_the_end().await;
            scene.assert_all_ended_once("a lost lease").await;
        });
    }
}

#[test]
fn a_holder_that_died_without_a_lease_is_found() {
    block_on(async {
        let mut scene = Scene::furnished(no_tenant).await;
        scene.damage("DEL ~leases");
        assert_eq!(scene.sweep().await.repaired, 1);
        scene.on.advance(8 * SECOND);
        let swept = scene.sweep().await;
        assert_eq!((swept.expired, swept.recovered), (1, 2));
        scene.first.jobs.clear();
        scene.play_to_the_end().await;
        scene.assert_all_ended_once("a dead holder").await;
        let gone = try_ask(&mut scene.server.connection(), &full("SISMEMBER ~holders @1"));
        assert_eq!(gone.expect("it answers"), Value::Int(0), "who is gone is no holder");
    });
}

#[test]
fn who_leaves_is_no_holder() {
    block_on(async {
        let scene = Scene::furnished(no_tenant).await;
        let leave = ExtendAsk { holder: Holder::new(1), ttl: Duration::ZERO, notes: Vec::new() };
        scene.on.store.extend(&queue(), leave.clone()).await.expect("it answers");
        assert!(!scene.on.store.extend(&queue(), leave).await.expect("it answers").alive);
        assert_eq!(scene.sweep().await.repaired, 0);
    });
}

#[test]
fn an_epoch_is_never_handed_out_twice() {
    block_on(async {
        let scene = Scene::furnished(no_tenant).await;
        let last = scene.lease(2, 1).await.epoch;
        scene.damage("DEL ~counts");
        scene.sweep().await;
        let next = scene.lease(2, 1).await.epoch;
        assert!(last < next, "{next} after {last}");
    });
}

#[test]
fn a_server_that_forgot_its_last_moments_hands_out_no_epoch_twice() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1, 2], |_, _| ()).await;
        let forgotten = scene.lease(1, 1).await;
        // As after a crash: the lease is gone with its epoch, and so are all connections.
        for (count, by) in [("epoch", -1), ("running", -1), ("ready", 1)] {
            scene.server.ask(&full(&format!("HINCRBY ~counts {count} {by}")));
        }
        scene.damage("DEL ~held:@1 and LPUSH ~lane:5: #1");
        scene.server.ask("CLIENT KILL TYPE normal SKIPME yes");
        while scene.on.store.stats(&queue()).await.is_err() {
            tokio::task::yield_now().await;
        }
        let again = scene.lease(1, 1).await;
        assert_eq!(again.jobs[0].id, forgotten.jobs[0].id);
        assert!(forgotten.epoch < again.epoch, "{} after {}", again.epoch, forgotten.epoch);
        scene.end(1, &forgotten, 0, Ending::Done { result: None }).await;
        assert_eq!(scene.ended[&id(1)], 0, "its first run is not taken for the second");
    });
}

#[test]
fn a_lost_wake_up_is_given_again() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1], |_, _| ()).await;
        scene.damage("DEL ~wake");
        assert_eq!(scene.sweep().await.repaired, 0, "waiters take it all the time");
        scene.damage("ZCARD ~wake");
    });
}

#[test]
fn a_unique_key_whose_owner_is_gone_is_free() {
    block_on(async {
        let mut scene = Scene::new().await;
        let unique = |_, spec: &mut JobSpec| {
            let key = "report".parse().expect("a key");
            spec.unique = Some(Unique { key, span: UniqueSpan::UntilEnded });
        };
        scene.submit([1], unique).await;
        scene.submit([2], unique).await;
        assert_eq!(scene.stats().await.totals.existing, 1, "the key is taken");
        scene.damage("HDEL ~jobs #1");
        scene.submit([3], unique).await;
        let leased = scene.lease(1, 9).await;
        assert_eq!(leased.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [id(3)]);
    });
}

#[test]
fn a_chain_of_jobs_is_mended_link_by_link() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1], |_, _| ()).await;
        for number in 2..50 {
            scene.submit([number], |_, spec| spec.after = vec![id(number - 1)]).await;
        }
        scene.first = scene.lease(1, 1).await;
        scene.damage("DEL ~in:blocked and DEL ~after:#1 and DEL ~needs:#9 and DEL ~after:#30");
        assert!(0 < scene.sweep().await.repaired);
        assert_eq!(scene.sweep().await.repaired, 0);
        for _ in 0..3 {
            scene.play_to_the_end().await;
            scene.first.jobs.clear();
        }
        scene.assert_all_ended_once("a chain").await;
    });
}

/// One job of a key runs, two more stand in its line; then the damage.
async fn one_at_a_time() -> Scene {
    let mut scene = Scene::new().await;
    let rules = Rules { key_running_max: Some(1), ..Rules::default() };
    let rules = Command::Rules(Box::new(rules));
    scene.on.store.steer(&queue(), rules).await.expect("they are fine rules");
    let keyed = |_, spec: &mut JobSpec| spec.key = Some("door".parse::<Key>().expect("a key"));
    scene.submit([1, 2, 3], keyed).await;
    scene.first = scene.lease(1, 3).await;
    assert_eq!(scene.first.jobs.len(), 1);
    scene
}

#[track_caller]
fn check_line(words: &str) {
    block_on(async {
        let mut scene = one_at_a_time().await;
        assert_eq!(scene.sweep().await.repaired, 0, "{words}: it was whole");
        scene.damage(words);
        assert!(0 < scene.sweep().await.repaired, "{words}: nothing was repaired");
        assert_eq!(scene.sweep().await.repaired, 0, "{words}: not put right for good");
        scene.play_to_the_end().await;
        scene.assert_all_ended_once(words).await;
    });
}

#[test]
fn who_stands_in_line_for_a_key_is_not_left_there() {
    check_line("DEL ~line:door");
    check_line("DEL ~lines");
    check_line("DEL ~aside");
    check_line("DEL ~lines and DEL ~aside");
    // What ran is nowhere, and its key must not be taken for ever.
    check_line("DEL ~held:@1");
    check_line("SADD ~aside #99");
}

#[test]
fn a_key_is_not_taken_for_ever_by_a_job_that_is_gone() {
    block_on(async {
        let mut scene = one_at_a_time().await;
        scene.damage("DEL ~held:@1 and HDEL ~jobs #1");
        scene.ended.remove(&id(1));
        scene.first.jobs.clear();
        assert!(0 < scene.sweep().await.repaired);
        scene.play_to_the_end().await;
        scene.assert_all_ended_once("a key").await;
    });
}

/// A cancelled job of which the lane still has an entry stays cancelled.
#[track_caller]
fn check_cancelled(words: &str) {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1, 2, 3], |_, spec| spec.priority = Priority::new(4)).await;
        let cancel = Command::Cancel(Which::Ids(vec![id(2)]));
        scene.on.store.steer(&queue(), cancel).await.expect("it is cancelled");
        scene.ended.remove(&id(2));
        scene.damage(words);
        assert!(0 < scene.sweep().await.repaired, "{words}: nothing was repaired");
        assert_eq!(scene.sweep().await.repaired, 0, "{words}: not put right for good");
        scene.play_to_the_end().await;
        scene.assert_all_ended_once(words).await;
        assert!(!scene.ended.contains_key(&id(2)), "{words}: it was run");
    });
}

#[test]
fn a_lost_tombstone_does_not_bring_a_cancelled_job_to_life() {
    check_cancelled("DEL ~tombs");
    check_cancelled("DEL ~conf");
}

#[test]
fn a_job_behind_its_own_tombstone_is_missed() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1, 2], |_, _| ()).await;
        let delete = Command::Delete(Which::Ids(vec![id(2)]));
        scene.on.store.steer(&queue(), delete).await.expect("it is deleted");
        scene.submit([2], |_, _| ()).await;
        scene.damage("LREM ~lane:5: -1 #2");
        assert!(0 < scene.sweep().await.repaired);
        scene.play_to_the_end().await;
        scene.assert_all_ended_once("behind its tombstone").await;
    });
}

#[test]
fn a_job_behind_its_own_tombstone_is_there_when_tenants_come() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1], |_, _| ()).await;
        let delete = Command::Delete(Which::Ids(vec![id(1)]));
        scene.on.store.steer(&queue(), delete).await.expect("it is deleted");
        scene.submit([1], |_, _| ()).await;
        scene.submit([2], |_, spec| spec.tenant = Some(label("a"))).await;
        assert_eq!(scene.lease(1, 9).await.jobs.len(), 2);
        assert_eq!(scene.sweep().await.repaired, 0, "it was counted rightly");
    });
}

#[test]
fn a_tombstone_whose_lane_is_gone_swallows_nobody() {
    block_on(async {
        let mut scene = Scene::new().await;
        scene.submit([1, 2, 3], |_, _| ()).await;
        let delete = Command::Delete(Which::Ids(vec![id(2)]));
        scene.on.store.steer(&queue(), delete).await.expect("it is deleted");
        scene.damage("DEL ~lane:5:");
        assert!(0 < scene.sweep().await.repaired);
        assert_eq!(scene.sweep().await.repaired, 0);
        scene.submit([2], |_, _| ()).await;
        scene.play_to_the_end().await;
        scene.assert_all_ended_once("a tombstone").await;
    });
}

/// Seventy thousand jobs, more than are looked through at once.
async fn crowded() -> Scene {
    let scene = Scene::new().await;
    for part in 1..8 {
        let parcels = jobs(part * 10_000..(part + 1) * 10_000);
        scene.on.store.enqueue(&queue(), parcels).await.expect("it takes jobs");
    }
    scene.on.advance(SECOND);
    scene
}

#[test]
fn a_huge_lane_comes_back_in_parts_and_no_job_twice() {
    block_on(async {
        let scene = crowded().await;
        scene.damage("DEL ~lane:5:");
        for _ in 0..8 {
            let repaired = scene.sweep().await.repaired;
            assert!(repaired <= 12_000, "{repaired} in one part");
            assert_eq!(scene.sweep().await.repaired, 0, "others get a turn first");
            scene.on.advance(SECOND);
        }
        let mut seen = BTreeSet::new();
        for _ in 0..70 {
            let leased = scene.lease(1, 1000).await;
            seen.extend(leased.jobs.iter().map(|job| job.id));
        }
        let stats = scene.stats().await;
        assert_eq!((seen.len(), stats.jobs[State::Running]), (70_000, 70_000));
        assert_eq!(stats.totals.repaired, 70_001, "the count, and each job once");
    });
}

#[test]
fn a_lane_too_long_to_look_through_keeps_no_other_from_being_mended() {
    block_on(async {
        let mut scene = crowded().await;
        // One that came back is marked, and must not be thought lost.
        let leased = scene.lease(1, 1).await;
        scene.end(1, &leased, 0, Ending::Release { checkpoint: None }).await;
        scene.submit([1], |_, spec| spec.priority = Priority::new(3)).await;
        scene.damage("DEL ~lane:3:");
        for _ in 0..8 {
            scene.on.advance(SECOND);
            scene.sweep().await;
        }
        assert_eq!(scene.lease(1, 1).await.jobs[0].id, id(1));
        assert_eq!(scene.stats().await.jobs[State::Ready], 70_000);
    });
}

/// How many commands the server has run, those of scripts included, since it was last asked to
/// forget.
fn commands_run(server: &Server) -> u64 {
    let stats = server.ask("INFO commandstats");
    let Value::BulkString(stats) = stats else { panic!("{stats:?}") };
    let stats = String::from_utf8_lossy(&stats).into_owned();
    let calls = |line: &str| line.split(['=', ',']).nth(1)?.parse::<u64>().ok();
    stats.lines().filter_map(calls).sum()
}

#[test]
fn a_sweep_of_a_whole_store_asks_as_little_of_many_jobs_as_of_few() {
    block_on(async {
        let scene = Scene::furnished(no_tenant).await;
        let mut costs = Vec::new();
        for part in 1..=2 {
            scene.sweep().await;
            scene.server.ask("CONFIG RESETSTAT");
            scene.sweep().await;
            costs.push(commands_run(&scene.server));
            let parcels = jobs(part * 10_000..(part + 1) * 10_000);
            scene.on.store.enqueue(&queue(), parcels).await.expect("it takes jobs");
        }
        assert_eq!(costs[0], costs[1], "it must not depend on how many jobs there are");
        assert!(costs[0] < 80, "{} commands", costs[0]);
    });
}
