//! Models of a lent place: it is passed on, waited for and given back, in every order.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::thread;

use super::lent::{Guest, Lends, LentPlace, Turn, lend_to, swap_lends};
use crate::park::Parker;
use crate::sync::{Mutex, lock};

/// Somebody who runs in a lent place until it is told to end, beside nobody else.
struct Visitor {
    inside: Arc<AtomicU32>,
    has_begun: AtomicBool,
    place: Mutex<Option<LentPlace>>,
}

impl Visitor {
    fn new(inside: &Arc<AtomicU32>) -> Arc<Self> {
        let (has_begun, place) = (AtomicBool::new(false), Mutex::new(None));
        Arc::new(Self { inside: Arc::clone(inside), has_begun, place })
    }

    /// Ends, if it runs, and passes its place on.
    fn end(&self) {
        let place = lock(&self.place).take();
        if let Some(place) = place {
            self.inside.fetch_sub(1, Ordering::AcqRel);
            place.pass_on();
        }
    }
}

impl Guest for Visitor {
    fn begin_in(self: Arc<Self>, place: LentPlace) -> Result<(), LentPlace> {
        if self.has_begun.swap(true, Ordering::AcqRel) {
            return Err(place);
        }
        assert_eq!(self.inside.fetch_add(1, Ordering::AcqRel), 0, "two run in one place");
        *lock(&self.place) = Some(place);
        Ok(())
    }
}

fn model(story: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(story);
}

/// Looks whenever it is called, until something is ready.
fn wait(mut poll: impl FnMut(&Context<'_>) -> Poll<()>) {
    let parker = Arc::new(Parker::default());
    let waker = Waker::from(Arc::clone(&parker));
    while poll(&Context::from_waker(&waker)).is_pending() {
        parker.park();
    }
}

/// A task that lends its place to the first of two, whom the second waits for.
fn lent_to_the_first_of_two(inside: &Arc<AtomicU32>) -> (Arc<Visitor>, Arc<Visitor>, Lends) {
    let (first, second) = (Visitor::new(inside), Visitor::new(inside));
    swap_lends(Lends::default());
    assert!(lend_to(Arc::clone(&first) as _), "nobody else has it");
    assert!(!lend_to(Arc::clone(&second) as _), "the first has it");
    (first, second, swap_lends(Lends::default()))
}

#[test]
fn who_ends_while_its_place_goes_from_one_to_another_hears_when_it_is_back() {
    model(|| {
        let inside = Arc::new(AtomicU32::new(0));
        let (first, second, lends) = lent_to_the_first_of_two(&inside);
        let guests = thread::spawn(move || {
            first.end();
            second.end();
        });
        lends.close();
        wait(|context| lends.poll_back(context));
        assert_eq!(inside.load(Ordering::Acquire), 0, "somebody still runs in it");
        guests.join().expect("no panic");
    });
}

/// A task that ran in a lent place has lent its own, and ends first. Who waits for the outer place
/// must not get it while somebody runs in the inner one.
#[test]
fn a_place_is_passed_on_when_the_one_inside_of_it_is_back() {
    model(|| {
        let inside = Arc::new(AtomicU32::new(0));
        let middle = Visitor::new(&Arc::new(AtomicU32::new(0)));
        let (guest, heir) = (Visitor::new(&inside), Visitor::new(&inside));
        swap_lends(Lends::default());
        assert!(lend_to(Arc::clone(&middle) as _), "nobody else has it");
        assert!(!lend_to(Arc::clone(&heir) as _), "the one in the middle has it");
        let outer = swap_lends(Lends::default());
        assert!(lend_to(Arc::clone(&guest) as _), "nobody else has the inner one");
        let inner = swap_lends(Lends::default());
        let ends = thread::spawn(move || guest.end());
        // The one in the middle ends, whether or not its guest has.
        inner.close();
        let place = lock(&middle.place).take().expect("it runs in it");
        inner.pass_on_after(place);
        ends.join().expect("no panic");
        assert!(heir.has_begun.load(Ordering::Acquire), "the place was not passed on");
        heir.end();
        wait(|context| outer.poll_back(context));
    });
}

#[test]
fn who_waits_for_its_turn_gets_the_place_or_leaves_it_to_the_next() {
    for gives_up in [false, true] {
        model(move || {
            let inside = Arc::new(AtomicU32::new(0));
            let first = Visitor::new(&inside);
            swap_lends(Lends::default());
            assert!(lend_to(Arc::clone(&first) as _), "nobody else has it");
            let mut turn = Turn::default();
            assert!(turn.poll(&Context::from_waker(Waker::noop())).is_pending());
            let ends = thread::spawn(move || first.end());
            match gives_up {
                // Looks first, as otherwise the other would never be seen to come before.
                true => assert!(inside.load(Ordering::Acquire) <= 1),
                false => {
                    wait(|context| turn.poll(context));
                    assert_eq!(inside.load(Ordering::Acquire), 0, "the first still runs in it");
                    assert!(turn.take_place().is_some(), "it is its turn");
                }
            }
            drop(turn);
            ends.join().expect("no panic");
            assert!(lend_to(Visitor::new(&inside) as _), "it is back");
            swap_lends(Lends::default());
        });
    }
}
