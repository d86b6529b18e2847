//! The set of policies, and the escorts of tasks: who is asked, who is told, and who panics.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use headcount_core::{Clock, Timestamp};

use super::{
    AddRefusal, Baggage, Ending, Escort, Outcome, POLICIES_MAX, Policies, PoolPolicy, TaskView,
    Verdict,
};

/// A clock that somebody winds.
#[derive(Default)]
pub(super) struct Watch(AtomicU64);

impl Watch {
    pub(super) fn advance(&self, span: Duration) {
        self.0.fetch_add(u64::try_from(span.as_nanos()).expect("a short span"), SeqCst);
    }
}

impl Clock for Watch {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(self.0.load(SeqCst))
    }
}

type Diary = Arc<Mutex<Vec<String>>>;

/// A policy that writes down every call, and misbehaves where it is told to.
struct Writer {
    name: &'static str,
    diary: Diary,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Rejects,
    PanicsWhenAsked,
    PanicsAtStart,
    PanicsBefore,
    PanicsBehind,
    Forgets,
    RunsTwice,
    PanicsAtTheEnd,
    BaggagePanics,
}

/// Says when it is dropped.
struct Parcel(String, Diary, Fault);

impl Drop for Parcel {
    fn drop(&mut self) {
        write(&self.1, format!("-{}", self.0));
        assert!(self.2 != Fault::BaggagePanics, "as told");
    }
}

fn write(diary: &Diary, line: impl Into<String>) {
    diary.lock().expect("no panic under the lock").push(line.into());
}

impl Writer {
    fn write(&self, hook: &str, baggage: Option<&(dyn Any + Send)>) {
        let parcel = baggage.and_then(|baggage| baggage.downcast_ref::<Parcel>());
        let parcel = parcel.map_or("", |parcel| parcel.0.as_str());
        write(&self.diary, format!("{}.{hook}({parcel})", self.name));
    }

    fn panics_if(&self, fault: Fault) {
        assert!(self.fault != fault, "as told");
    }
}

impl PoolPolicy for Writer {
    fn name(&self) -> &str {
        self.name
    }

    fn on_enqueue(&self, task: &TaskView<'_>) -> Verdict {
        self.write("ask", None);
        self.panics_if(Fault::PanicsWhenAsked);
        if self.fault == Fault::Rejects {
            return Verdict::reject_for("as told", Duration::from_secs(1));
        }
        let label = format!("{}{}", self.name, task.id);
        Verdict::accept_with(Parcel(label, self.diary.clone(), self.fault))
    }

    fn on_start(&self, _task: &TaskView<'_>, baggage: Option<&mut (dyn Any + Send)>) {
        self.write("start", baggage.as_deref());
        self.panics_if(Fault::PanicsAtStart);
    }

    fn around(&self, baggage: Option<&mut (dyn Any + Send)>, inside: &mut dyn FnMut()) {
        self.write("in", baggage.as_deref());
        self.panics_if(Fault::PanicsBefore);
        if self.fault != Fault::Forgets {
            inside();
        }
        if self.fault == Fault::RunsTwice {
            inside();
        }
        self.panics_if(Fault::PanicsBehind);
        self.write("out", baggage.as_deref());
    }

    fn on_complete(&self, _task: &TaskView<'_>, ending: Ending, baggage: Option<Baggage>) {
        self.write(ending.outcome.as_str(), baggage.as_deref());
        self.panics_if(Fault::PanicsAtTheEnd);
    }
}

/// Policies `a`, `b` and so on, with these faults, and what they write.
fn policies(faults: &[Fault]) -> (Policies, Diary) {
    let (policies, diary) = (Policies::new(), Diary::default());
    for (name, fault) in ["a", "b", "c"].into_iter().zip(faults) {
        let writer = Writer { name, diary: diary.clone(), fault: *fault };
        policies.add(Arc::new(writer)).expect("names that differ");
    }
    (policies, diary)
}

fn task(id: u64) -> TaskView<'static> {
    TaskView { id, ..TaskView::default() }
}

fn told(diary: &Diary) -> String {
    std::mem::take(&mut *diary.lock().expect("no panic under the lock")).join(" ")
}

const DONE: Ending = Ending { outcome: Outcome::Succeeded, ran: Duration::ZERO };

fn run(mut escort: Escort, diary: &Diary) {
    escort.started(&task(1));
    escort.around(&mut || write(diary, "RUN"));
    escort.ended(&task(1), DONE);
}

/// A task of a pool whose policies have these faults: what happens, and how many panics count.
fn check(faults: &[Fault], expected: &str, panics: u64) {
    let (policies, diary) = policies(faults);
    match policies.enqueue(&task(1)) {
        Ok(escort) => run(escort, &diary),
        Err(rejection) => write(&diary, format!("REJECTED by {}", rejection.policy)),
    }
    assert_eq!(told(&diary), expected);
    assert_eq!(policies.hook_panics(), panics, "{expected}");
}

#[test]
fn policies_are_asked_in_order_and_left_in_reverse() {
    check(
        &[Fault::None, Fault::None],
        "a.ask() b.ask() a.start(a1) b.start(b1) a.in(a1) b.in(b1) RUN b.out(b1) a.out(a1) \
         b.succeeded(b1) -b1 a.succeeded(a1) -a1",
        0,
    );
    check(&[], "RUN", 0);
}

#[test]
fn after_a_rejection_nobody_is_asked_and_baggage_comes_back() {
    let faults = [Fault::None, Fault::None, Fault::Rejects];
    check(&faults, "a.ask() b.ask() c.ask() -b1 -a1 REJECTED by c", 0);
    check(&[Fault::Rejects, Fault::None], "a.ask() REJECTED by a", 0);
}

#[test]
fn a_policy_that_panics_when_asked_has_no_objection() {
    check(
        &[Fault::PanicsWhenAsked, Fault::None],
        "a.ask() b.ask() a.start() b.start(b1) a.in() b.in(b1) RUN b.out(b1) a.out() \
         b.succeeded(b1) -b1 a.succeeded()",
        1,
    );
}

#[test]
fn a_hook_that_panics_hurts_nobody() {
    check(
        &[Fault::PanicsAtStart, Fault::PanicsAtTheEnd],
        "a.ask() b.ask() a.start(a1) b.start(b1) a.in(a1) b.in(b1) RUN b.out(b1) a.out(a1) \
         b.succeeded(b1) -b1 a.succeeded(a1) -a1",
        2,
    );
}

#[test]
fn a_task_runs_once_whatever_is_around_it() {
    let around = |fault, story: &str, panics| {
        let expected = format!(
            "a.ask() b.ask() a.start(a1) b.start(b1) {story} b.succeeded(b1) -b1 \
             a.succeeded(a1) -a1"
        );
        check(&[fault, Fault::None], &expected, panics);
    };
    around(Fault::PanicsBefore, "a.in(a1) b.in(b1) RUN b.out(b1)", 1);
    around(Fault::PanicsBehind, "a.in(a1) b.in(b1) RUN b.out(b1)", 1);
    around(Fault::Forgets, "a.in(a1) a.out(a1) b.in(b1) RUN b.out(b1)", 0);
    around(Fault::RunsTwice, "a.in(a1) b.in(b1) RUN b.out(b1) a.out(a1)", 0);
}

#[test]
fn baggage_that_panics_as_it_is_dropped_hurts_nobody() {
    let faults = [Fault::None, Fault::BaggagePanics];
    let (policies, diary) = policies(&faults);
    drop(policies.enqueue(&task(1)));
    assert_eq!(told(&diary), "a.ask() b.ask() -b1 -a1");
    assert_eq!(policies.hook_panics(), 1);
}

#[test]
fn a_panic_of_the_task_leaves_as_it_was_and_is_no_hooks() {
    let (policies, diary) = policies(&[Fault::PanicsBehind, Fault::None]);
    let mut escort = policies.enqueue(&task(1)).expect("no objection");
    let thrown = catch_unwind(AssertUnwindSafe(|| escort.around(&mut || panic_any(42_u8))));
    assert_eq!(thrown.expect_err("it panicked").downcast_ref::<u8>(), Some(&42));
    assert_eq!(policies.hook_panics(), 1, "the one behind the task, and not the task's own");
    escort.ended(&task(1), Ending { outcome: Outcome::Panicked, ran: Duration::ZERO });
    let expected = "a.ask() b.ask() a.in(a1) b.in(b1) b.out(b1) b.panicked(b1) -b1 \
                    a.panicked(a1) -a1";
    assert_eq!(told(&diary), expected);
    let mut nobody = Escort::none();
    let thrown = catch_unwind(AssertUnwindSafe(|| nobody.around(&mut || panic_any(42_u8))));
    assert!(thrown.is_err());
}

#[test]
fn each_poll_is_run_amid_the_policies() {
    let (policies, diary) = policies(&[Fault::None]);
    let mut escort = policies.enqueue(&task(1)).expect("no objection");
    for _ in 0..2 {
        escort.around(&mut || write(&diary, "POLL"));
    }
    drop(escort);
    assert_eq!(told(&diary), "a.ask() a.in(a1) POLL a.out(a1) a.in(a1) POLL a.out(a1) -a1");
}

#[test]
fn a_policy_that_left_still_sees_its_tasks_out() {
    let (policies, diary) = policies(&[Fault::None, Fault::None]);
    let escort = policies.enqueue(&task(1)).expect("no objection");
    drop(policies.remove("a").expect("it is there"));
    policies.disable("b").expect("it is there");
    assert!(policies.enqueue(&task(2)).expect("nobody is asked").is_none());
    told(&diary);
    run(escort, &diary);
    let expected = "a.start(a1) b.start(b1) a.in(a1) b.in(b1) RUN b.out(b1) a.out(a1) \
                    b.succeeded(b1) -b1 a.succeeded(a1) -a1";
    assert_eq!(told(&diary), expected);
}

#[test]
fn a_policy_is_switched_off_and_on_in_its_place() {
    let (policies, diary) = policies(&[Fault::None, Fault::None, Fault::None]);
    let asked = |expected: &str| {
        drop(policies.enqueue(&task(1)));
        assert_eq!(told(&diary), expected);
    };
    policies.disable("b").expect("it is there");
    assert_eq!((policies.is_enabled("b"), policies.is_enabled("x")), (Some(false), None));
    asked("a.ask() c.ask() -c1 -a1");
    policies.enable("b").expect("it is there");
    asked("a.ask() b.ask() c.ask() -c1 -b1 -a1");
    for name in ["a", "b", "c"] {
        assert!(policies.any_enabled());
        policies.disable(name).expect("it is there");
    }
    assert!(!policies.any_enabled());
    asked("");
    let names: Vec<String> = policies.names().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["a", "b", "c"], "they are still there");
}

#[test]
fn a_policy_is_found_by_name_and_kind() {
    let (policies, _) = policies(&[Fault::None]);
    assert_eq!(policies.find("a").map(|found| found.name().to_owned()), Some("a".into()));
    assert!(policies.find_as::<Writer>("a").is_some());
    assert!(policies.find_as::<super::CircuitBreaker>("a").is_none(), "it is another kind");
    assert!(policies.find("b").is_none() && policies.remove("b").is_err());
}

/// A policy with nothing but a name.
struct Plain(String);

impl PoolPolicy for Plain {
    fn name(&self) -> &str {
        &self.0
    }
}

#[test]
fn what_is_not_added_is_handed_back() {
    let policies = Policies::new();
    let add = |name: &str| policies.add(Arc::new(Plain(name.to_owned())));
    for index in 0..POLICIES_MAX {
        add(&format!("p{index}")).expect("there is room");
    }
    let error = add("more").expect_err("there are sixteen");
    assert_eq!((error.policy.name(), &error.reason), ("more", &AddRefusal::Full));
    let expected = "there are 16 policies, the most allowed; remove one first";
    assert_eq!(error.to_string(), expected);
    let error = add("p3").expect_err("there is one");
    assert_eq!((error.policy.name(), error.reason.to_string().contains("p3")), ("p3", true));
    let error = add("No Name").expect_err("that is none");
    assert_eq!((error.policy.name(), policies.names().len()), ("No Name", POLICIES_MAX));
    drop(policies.remove("p3").expect("it is there"));
    add("p3").expect("there is room again");
}

/// Gives each task a count to take along.
struct Lender(Arc<AtomicU64>);

struct Loan(Arc<AtomicU64>);

impl Drop for Loan {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl PoolPolicy for Lender {
    fn name(&self) -> &'static str {
        "lender"
    }

    fn on_enqueue(&self, _task: &TaskView<'_>) -> Verdict {
        self.0.fetch_add(1, SeqCst);
        Verdict::accept_with(Loan(self.0.clone()))
    }
}

/// While one thread adds, switches and removes, others submit. Whatever was lent comes back, and
/// nobody is asked once the last change is done.
#[test]
fn nothing_is_lost_while_policies_come_and_go() {
    const TASKS: u64 = 5_000;
    let (policies, lent) = (Policies::new(), Arc::new(AtomicU64::new(0)));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for id in 0..TASKS {
                    let mut escort = policies.enqueue(&task(id)).expect("no objection");
                    let mut runs = 0;
                    escort.around(&mut || runs += 1);
                    assert_eq!(runs, 1);
                    match id % 2 {
                        0 => escort.ended(&task(id), DONE),
                        _ => drop(escort),
                    }
                }
            });
        }
        for _ in 0..TASKS / 10 {
            policies.add(Arc::new(Lender(lent.clone()))).expect("the only one");
            policies.disable("lender").expect("it is there");
            policies.enable("lender").expect("it is there");
            drop(policies.remove("lender").expect("it is there"));
        }
    });
    assert_eq!((lent.load(SeqCst), policies.any_enabled()), (0, false));
    assert!(policies.enqueue(&task(0)).expect("nobody is asked").is_none());
    assert_eq!(size_of::<Escort>(), size_of::<usize>(), "it stands beside every task");
}
