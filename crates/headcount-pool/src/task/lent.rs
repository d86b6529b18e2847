//! The place of a task that awaits others of its own pool, lent to one of them at a time.
//!
//! A task that awaits does nothing, so one of those that it waits for may run in its stead; were it
//! more, a task that awaits a thousand would let a thousand run, whatever the ceiling says. When
//! one has ended the next one gets the place, whether or not it is polled again by then: whoever
//! awaits many at once may poll only those that have woken it.
//!
//! Whoever awaits may lose interest, and end before the one that has its place. The place goes to
//! nobody else then, and until it is back the one that has ended is not done with its own: its
//! worker takes no other task, and if it ran in a lent place itself, that is not passed on.
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
    /// Begins in this place. `Err`: it has begun elsewhere, and does not need it.
    fn begin_in(self: Arc<Self>, place: LentPlace) -> Result<(), LentPlace>;
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
    /// Who waits for it to be back.
    waits: Option<Heir>,
}

/// Who goes on when a place is back whose task has ended.
enum Heir {
    /// Whoever ran that task, by itself.
    Runner(Waker),
    /// Whoever is next in the place where that task ran.
    Place(LentPlace),
}

/// What becomes of a place.
enum Next {
    Guest(Weak<dyn Guest>),
    /// It is back.
    Back(Option<Heir>),
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
    fn next(&self) -> Next {
        let mut state = lock(&self.state);
        if let Some(guest) = state.wishes.pop_front() {
            state.known.remove(&address(guest.as_ptr()));
            return Next::Guest(guest);
        }
        state.is_out = false;
        Next::Back(state.waits.take())
    }

    /// It is not out any more, whoever would like to have it.
    fn back(&self) -> Option<Heir> {
        let mut state = lock(&self.state);
        state.is_out = false;
        state.waits.take()
    }

    /// Lets `heir` go on when the place is back, instead of who waited for it before. `Err`: it is
    /// back already.
    fn when_back(&self, heir: Heir) -> Result<Option<Heir>, Heir> {
        let mut state = lock(&self.state);
        match state.is_out {
            true => Ok(state.waits.replace(heir)),
            false => Err(heir),
        }
    }
}

fn address(guest: *const dyn Guest) -> usize {
    guest.cast::<()>().addr()
}

/// The place, while somebody has it. Dropped, it is back, and nobody else gets it.
///
/// `None`: it is back, or has been given to somebody else.
pub(crate) struct LentPlace(Option<Arc<Lent>>);

impl LentPlace {
    /// Gives it to the next who would like to have it and has not begun. Where there is nobody and
    /// the task that lent it has ended, the same with the place where that ran.
    pub(crate) fn pass_on(mut self) {
        // A loop, and no call of itself: as many may have lent it on as awaited each other.
        while let Some(next) = self.0.as_ref().map(|lent| lent.next()) {
            self = match next {
                Next::Guest(guest) => match guest.upgrade() {
                    Some(guest) => match guest.begin_in(self) {
                        Ok(()) => return,
                        Err(place) => place,
                    },
                    None => self,
                },
                Next::Back(heir) => {
                    self.0 = None;
                    match heir.and_then(Heir::place_or_call) {
                        Some(place) => place,
                        None => return,
                    }
                }
            };
        }
    }
}

impl Heir {
    fn place_or_call(self) -> Option<LentPlace> {
        match self {
            Self::Place(place) => Some(place),
            Self::Runner(waker) => {
                quietly(|| waker.wake());
                None
            }
        }
    }
}

impl Drop for LentPlace {
    fn drop(&mut self) {
        let mut lent = self.0.take();
        while let Some(place) = lent {
            let heir = place.back().and_then(Heir::place_or_call);
            lent = heir.and_then(|mut place| place.0.take());
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

impl Lends {
    /// The task has ended: what it lent goes to nobody else.
    pub(crate) fn close(&self) {
        let Some(lent) = &self.0 else { return };
        // Nobody is noted after that: only who is awaited is.
        let mut state = lock(&lent.state);
        state.wishes.clear();
        state.known.clear();
    }

    /// Ready when nobody has the place any more.
    pub(crate) fn poll_back(&self, context: &Context<'_>) -> Poll<()> {
        let Some(lent) = &self.0 else { return Poll::Ready(()) };
        // Cloned before and dropped after: what a waker does then is the user's.
        match lent.when_back(Heir::Runner(context.waker().clone())) {
            Ok(_before) => Poll::Pending,
            Err(_waker) => Poll::Ready(()),
        }
    }

    /// Passes `place` on, in which the task ran that lent this: when nobody has this any more.
    pub(crate) fn pass_on_after(self, place: LentPlace) {
        let free = match self.0 {
            Some(lent) => lent.when_back(Heir::Place(place)).err(),
            None => Some(Heir::Place(place)),
        };
        if let Some(place) = free.and_then(Heir::place_or_call) {
            place.pass_on();
        }
    }
}

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
    match guest.begin_in(LentPlace(Some(lent))) {
        Ok(()) => true,
        Err(place) => {
            // It ran elsewhere by then. Somebody may have been noted meanwhile.
            place.pass_on();
            false
        }
    }
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

    /// The place that it has, for the task that runs in it.
    pub(crate) fn take_place(&mut self) -> Option<LentPlace> {
        let asked = self.0.take()?;
        lock(&asked.state).place.take()
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
    fn begin_in(self: Arc<Self>, place: LentPlace) -> Result<(), LentPlace> {
        let waker = {
            let mut state = lock(&self.state);
            if state.place.is_some() {
                return Err(place);
            }
            state.place = Some(place);
            state.waker.take()
        };
        if let Some(waker) = waker {
            quietly(|| waker.wake());
        }
        Ok(())
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
