//! The place of a task that awaits others of its own pool, lent to one of them at a time.
//!
//! A task that awaits does nothing, so one of those that it waits for may run in its stead; were it
//! more, a task that awaits a thousand would let a thousand run, whatever the ceiling says. When
//! one has ended the next one gets the place, whether or not it is polled again by then: whoever
//! awaits many at once may poll only those that have woken it.
//!
//! A task that hands over another, and finds the line full, lends its place as well: to the one
//! that it hands over, which it polls by itself until that has ended.

use std::cell::Cell;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use crate::sync::{Mutex, lock};
use crate::unhurt::quietly;

/// A task that can run in the place of one that awaits it.
pub(crate) trait Guest: Send + Sync {
    /// Begins in this place, and says whether it did: it may have begun elsewhere.
    fn begin_in(self: Arc<Self>, place: LentPlace) -> bool;
}

/// What a task that awaits others lends.
#[derive(Default)]
struct Lent {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether somebody has the place.
    is_out: bool,
    /// Who would like to have it, in the order in which they were first awaited; no more than there
    /// are tasks awaited.
    wishes: VecDeque<Weak<dyn Guest>>,
    /// Where those lie. What a weak reference points to does not move, nor is its place used again.
    known: BTreeSet<usize>,
}

impl Lent {
    /// Takes the place for `guest`, unless it is out; then `guest` is noted.
    fn is_free_for(&self, guest: &Arc<dyn Guest>) -> bool {
        let mut state = lock(&self.state);
        let free = !std::mem::replace(&mut state.is_out, true);
        if !free && state.known.insert(address(Arc::as_ptr(guest))) {
            state.wishes.push_back(Arc::downgrade(guest));
        }
        free
    }

    /// The next who would like to have the place; if there is none, it is not out any more.
    fn next(&self) -> Option<Weak<dyn Guest>> {
        let mut state = lock(&self.state);
        let next = state.wishes.pop_front();
        match &next {
            Some(guest) => {
                state.known.remove(&address(guest.as_ptr()));
            }
            None => state.is_out = false,
        }
        next
    }
}

fn address(guest: *const dyn Guest) -> usize {
    guest.cast::<()>().addr()
}

/// The place, while somebody has it.
pub(crate) struct LentPlace(Arc<Lent>);

impl LentPlace {
    /// Gives it to the next who would like to have it and has not begun.
    pub(crate) fn pass_on(self) {
        while let Some(guest) = self.0.next() {
            let place = Self(Arc::clone(&self.0));
            if guest.upgrade().is_some_and(|guest| guest.begin_in(place)) {
                return;
            }
        }
    }
}

impl fmt::Debug for LentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentPlace").finish_non_exhaustive()
    }
}

/// What the task lends that is being polled. Made when it is first wanted.
#[derive(Default)]
pub(crate) struct Lends(Option<Arc<Lent>>);

thread_local! {
    static LENDS: Cell<Lends> = const { Cell::new(Lends(None)) };
}

/// From here on it is another task that is polled.
pub(crate) fn swap_lends(lends: Lends) -> Lends {
    LENDS.try_with(|cell| cell.replace(lends)).unwrap_or_default()
}

/// Lets `guest` run in the place of the task that is being polled, which awaits it: now, or when
/// the place is free. Says whether it has begun.
pub(crate) fn lend_to(guest: Arc<dyn Guest>) -> bool {
    let lends = swap_lends(Lends::default());
    let lent = lends.0.unwrap_or_default();
    swap_lends(Lends(Some(Arc::clone(&lent))));
    if !lent.is_free_for(&guest) {
        return false;
    }
    let place = LentPlace(Arc::clone(&lent));
    let began = guest.begin_in(place);
    if !began {
        // It ran elsewhere by then. Somebody may have been noted meanwhile.
        LentPlace(lent).pass_on();
    }
    began
}

/// The turn of a task that is to run inside of an await of the one that hands it over. Dropped, it
/// gives the place to the next.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Turn(Option<Arc<Asked>>);

impl Turn {
    /// Ready when the place of the task that is being polled is free, and from then on taken.
    pub(crate) fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        let asked = self.0.get_or_insert_default();
        // Before it asks: whoever gives it the place calls.
        if asked.has_place_or_is_called(context.waker()) || lend_to(Arc::clone(asked) as _) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

/// Somebody who waits for a place and, when it has it, uses it by itself.
#[derive(Debug, Default)]
struct Asked {
    state: Mutex<Waits>,
}

#[derive(Debug, Default)]
struct Waits {
    place: Option<LentPlace>,
    waker: Option<Waker>,
}

impl Asked {
    fn has_place_or_is_called(&self, waker: &Waker) -> bool {
        // Cloned before and dropped after: what a waker does then is the user's.
        let waker = waker.clone();
        let mut state = lock(&self.state);
        let before = state.waker.replace(waker);
        let has_place = state.place.is_some();
        drop(state);
        drop(before);
        has_place
    }
}

impl Guest for Asked {
    fn begin_in(self: Arc<Self>, place: LentPlace) -> bool {
        let waker = {
            let mut state = lock(&self.state);
            if state.place.is_some() {
                return false;
            }
            state.place = Some(place);
            state.waker.take()
        };
        if let Some(waker) = waker {
            quietly(|| waker.wake());
        }
        true
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let place = lock(&self.state).place.take();
        if let Some(place) = place {
            place.pass_on();
        }
    }
}
