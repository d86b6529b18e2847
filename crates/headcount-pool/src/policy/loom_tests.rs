//! Models of a set that changes while tasks are submitted, in every order of their steps.

use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use loom::sync::Arc;
use loom::thread;

use super::{Policies, PoolPolicy, TaskView, Verdict};

/// Lends each task something, and counts what has not come back.
struct Lender(&'static str, StdArc<AtomicU32>);

struct Loan(StdArc<AtomicU32>);

impl Drop for Loan {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl PoolPolicy for Lender {
    fn name(&self) -> &str {
        self.0
    }

    fn on_enqueue(&self, _task: &TaskView<'_>) -> Verdict {
        self.1.fetch_add(1, SeqCst);
        Verdict::accept_with(Loan(self.1.clone()))
    }
}

/// Two threads with one set. In the end nothing is lent, nothing panicked, and nobody is asked.
fn check(first: fn(&Policies, Lender), second: fn(&Policies, Lender)) {
    loom::model(move || {
        let (policies, lent) = (Arc::new(Policies::new()), StdArc::new(AtomicU32::new(0)));
        let (here, there) = (Lender("here", lent.clone()), Lender("there", lent.clone()));
        let other = policies.clone();
        let thread = thread::spawn(move || second(&other, there));
        first(&policies, here);
        thread.join().expect("no panic");
        assert_eq!((lent.load(SeqCst), policies.hook_panics()), (0, 0));
        assert!(!policies.any_enabled(), "the flag is as new as the list");
        assert!(policies.enqueue(&TaskView::default()).expect("nobody is asked").is_none());
    });
}

fn come_and_go(policies: &Policies, lender: Lender) {
    let name = lender.0;
    policies.add(StdArc::new(lender)).expect("the only one of its name");
    assert!(policies.any_enabled());
    drop(policies.remove(name).expect("it is there"));
}

fn be_switched_off(policies: &Policies, lender: Lender) {
    let name = lender.0;
    policies.add(StdArc::new(lender)).expect("the only one of its name");
    policies.disable(name).expect("it is there");
}

fn submit(policies: &Policies, _: Lender) {
    let mut escort = policies.enqueue(&TaskView::default()).expect("no objection");
    let mut runs = 0;
    escort.around(&mut || runs += 1);
    assert_eq!(runs, 1);
}

#[test]
fn what_is_lent_comes_back_while_a_policy_leaves() {
    check(come_and_go, submit);
    check(be_switched_off, submit);
}

#[test]
fn two_changes_at_once_leave_the_flag_right() {
    check(come_and_go, be_switched_off);
    check(come_and_go, come_and_go);
}
