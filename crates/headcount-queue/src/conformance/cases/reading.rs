//! Numbers and pages.

use headcount_core::jobs::port::{Command, Listing, NewJob};
use headcount_core::jobs::{JobId, Priority, QueueStats, Rules, Start, State};

use crate::conformance::stage::{Stage, dead, id, millis, numbers, plain, secs, special, within};

/// The numbers of a state's jobs, page by page.
async fn pages(on: &Stage<'_>, state: State, limit: usize) -> Vec<String> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = on.page(Listing::In { state, cursor, limit }).await;
        let ids: Vec<JobId> = page.jobs.iter().map(|job| job.id).collect();
        assert!(page.jobs.iter().all(|job| job.state == state));
        pages.push(numbers(ids));
        cursor = page.next;
        if cursor.is_none() {
            return pages;
        }
        assert!(pages.len() < 100, "paging comes to an end: {pages:?}");
    }
}

pub(in crate::conformance) async fn a_state_is_listed_page_by_page(on: &Stage<'_>) {
    let at = |number, delay| special(number, |spec| spec.start = Start::After(delay));
    on.add((1..=5).rev()).await;
    on.take(1, 9).await;
    on.enqueue(vec![at(11, secs(3)), at(12, secs(1)), at(13, secs(2)), at(14, secs(1))]).await;
    assert_eq!(pages(on, State::Running, 2).await, ["1 2", "3 4", "5"]);
    assert_eq!(pages(on, State::Running, 5).await, ["1 2 3 4 5"], "no next page without jobs");
    assert_eq!(pages(on, State::Scheduled, 3).await, ["12 14 13", "11"]);
    assert_eq!(pages(on, State::Dead, 3).await, [""]);
    assert_eq!(pages(on, State::Running, 0).await.len(), 5, "a page has at least one");
}

pub(in crate::conformance) async fn ready_jobs_are_listed_by_lane(on: &Stage<'_>) {
    let urgent = |number| special(number, |spec| spec.priority = Priority::new(0));
    let of = |number| special(number, |spec| spec.tenant = Some("a".parse().expect("a name")));
    on.enqueue(vec![of(5), plain(3), plain(2), urgent(9), of(1)]).await;
    assert_eq!(pages(on, State::Ready, 2).await, ["9 3", "2 5", "1"]);
}

pub(in crate::conformance) async fn those_set_aside_are_listed_by_key(on: &Stage<'_>) {
    let keyed =
        |number, key: &str| special(number, |spec| spec.key = Some(key.parse().expect("a key")));
    on.rule(|rules| rules.key_running_max = Some(1)).await;
    let first = [(1, "b:1"), (2, "a"), (3, "b:1"), (4, "a"), (5, "b:1"), (6, "a")];
    on.enqueue(first.map(|(number, key)| keyed(number, key)).to_vec()).await;
    assert_eq!(on.take(1, 9).await, "1 2");
    on.add([9]).await;
    for limit in 1..=5 {
        assert_eq!(pages(on, State::Ready, limit).await.join(" "), "9 4 6 3 5", "{limit} a page");
    }
}

pub(in crate::conformance) async fn a_page_has_its_limit(on: &Stage<'_>) {
    on.add(1..=1001).await;
    let page = on.page(Listing::first(State::Ready, 5000)).await;
    assert_eq!(page.jobs.len(), Listing::LIMIT_MAX);
    assert!(page.next.is_some());
}

pub(in crate::conformance) async fn jobs_are_found_by_their_ids(on: &Stage<'_>) {
    on.add(1..=3).await;
    let page = on.page(Listing::Ids([3, 77, 1].map(id).to_vec())).await;
    assert_eq!(numbers(page.jobs.iter().map(|job| job.id)), "3 1", "as far as they are known");
    assert_eq!(page.next, None);
    assert_eq!(page.jobs[0].spec.payload, b"3");
}

pub(in crate::conformance) async fn a_queue_is_told_in_numbers(on: &Stage<'_>) {
    let begin = on.stats().await.now;
    let urgent = |number| special(number, |spec| spec.priority = Priority::new(0));
    let of = |mut job: NewJob, tenant: &str| {
        job.spec.tenant = Some(tenant.parse().expect("a name"));
        job
    };
    on.add(1..=2).await;
    on.advance(secs(1));
    on.enqueue(vec![of(urgent(3), "b")]).await;
    on.advance(secs(1));
    on.enqueue(vec![of(urgent(4), "a"), special(5, |s| s.start = Start::After(millis(7)))]).await;
    let stats = on.stats().await;
    assert_eq!(stats.now, begin + secs(2));
    // The most urgent priority that has jobs, and of its lanes the head that waited longest.
    assert_eq!(stats.oldest_ready_at, Some(begin + secs(1)));
    assert_eq!(stats.next_due_at, Some(begin + secs(2) + millis(7)));
    assert_eq!((stats.jobs[State::Ready], stats.jobs[State::Scheduled]), (4, 1));
    assert_eq!((stats.paused, stats.holders, stats.totals.submitted), (false, 0, 5));
    on.take(1, 3).await;
    let stats = on.stats().await;
    assert_eq!((stats.oldest_ready_at, stats.holders), (Some(begin), 1));
    assert_eq!(stats.demand(), 4);
}

pub(in crate::conformance) async fn an_unknown_queue_is_empty(on: &Stage<'_>) {
    assert_eq!(on.stats().await, QueueStats { now: on.stats().await.now, ..Default::default() });
    assert_eq!(on.page(Listing::first(State::Ready, 9)).await.jobs, []);
    let rules = within(on.store().rules(&on.queue)).await.expect("it has rules");
    assert_eq!(rules, Rules::default());
    assert!(!on.extend(1).await.alive);
    on.sweep().await;
    assert_eq!(on.steer(Command::Purge).await, 0);
    let queues = within(on.store().queues()).await.expect("it knows its queues");
    assert_eq!(queues, [], "reading makes no queue");
}

pub(in crate::conformance) async fn queues_are_listed_and_apart(on: &Stage<'_>) {
    let other = "another".parse().expect("a name");
    on.add([1]).await;
    within(on.store().steer(&other, Command::Pause)).await.expect("it can be steered");
    let queues = within(on.store().queues()).await.expect("it knows its queues");
    assert_eq!(queues, [other.clone(), on.queue.clone()]);
    // The same id in another queue is another job, and a pause there is none here.
    within(on.store().enqueue(&other, vec![plain(1)])).await.expect("it takes jobs");
    assert_eq!(on.take(1, 9).await, "1");
    on.settle(1, dead()).await;
    let stats = within(on.store().stats(&other)).await.expect("it counts");
    assert_eq!((stats.jobs[State::Ready], stats.jobs[State::Dead]), (1, 0));
}
