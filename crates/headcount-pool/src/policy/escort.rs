//! What travels with a task: the policies that accepted it, and their baggage.

use std::fmt;
use std::mem::replace;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::hook::{Baggage, Ending, Rejection, TaskView, Verdict};
use super::set::Asked;
use crate::sync::Arc;

/// Goes with a task from its submission to its end, for the policies that accepted it.
///
/// To drop it is to say that the task will not run: its baggage is dropped, which gives back what
/// the policies lent.
///
/// The policy that was added first is the outermost: it is the first that a task meets, and the
/// last that it leaves.
///
/// ```
/// use headcount_pool::policy::{CircuitBreaker, Ending, Outcome, Policies, TaskView};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let (policies, breaker) = (Policies::new(), CircuitBreaker::default());
/// policies.add(Arc::new(breaker.clone())).expect("the only one of its name");
///
/// let task = TaskView { id: 1, ..TaskView::default() };
/// let mut escort = policies.enqueue(&task).expect("the breaker is closed");
/// // The task waits, and begins.
/// let task = TaskView { waited: Some(Duration::ZERO), ..task };
/// escort.started(&task);
/// let mut answer = None;
/// escort.around(&mut || answer = Some(6 * 7));
/// escort.ended(&task, Ending { outcome: Outcome::Succeeded, ran: Duration::from_millis(3) });
/// assert_eq!((answer, breaker.counts().succeeded), (Some(42), 1));
/// ```
#[must_use = "to drop an escort is to say that its task will not run"]
#[derive(Default)]
pub struct Escort {
    /// A word where nobody was asked, for there is one beside every task.
    party: Option<Box<Party>>,
}

struct Party {
    asked: Arc<Asked>,
    /// That of each policy that was asked, in their order.
    baggage: Vec<Option<Baggage>>,
}

impl Escort {
    /// An escort of nobody, for a task that no policy is asked about.
    pub const fn none() -> Self {
        Self { party: None }
    }

    /// Whether nobody travels along, so that the other calls do nothing.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.party.is_none()
    }

    /// Asks everybody on the list until one rejects.
    pub(super) fn ask(asked: &Arc<Asked>, task: &TaskView<'_>) -> Result<Self, Rejection> {
        let baggage = Vec::with_capacity(asked.members.len());
        let mut party = Box::new(Party { asked: asked.clone(), baggage });
        for (name, policy) in &asked.members {
            // A policy that cannot answer has no objection.
            let verdict = asked.call((*name, "on_enqueue"), || policy.on_enqueue(task));
            let verdict = verdict.unwrap_or(Verdict::accept());
            match verdict {
                Verdict::Accept(baggage) => party.baggage.push(baggage),
                Verdict::Reject { reason, retry_after } => {
                    return Err(Rejection { policy: *name, reason, retry_after });
                }
            }
        }
        Ok(Self { party: Some(party) })
    }

    /// The task begins.
    pub fn started(&mut self, task: &TaskView<'_>) {
        let Some(party) = &mut self.party else { return };
        let Party { asked, baggage } = &mut **party;
        for ((name, policy), baggage) in asked.members.iter().zip(baggage) {
            let started = || policy.on_start(task, baggage.as_deref_mut());
            let _ = asked.call((*name, "on_start"), started);
        }
    }

    /// Runs `inside`, the task or one poll of it, exactly once, amid all that travels along.
    ///
    /// A panic of `inside` leaves here as it was.
    pub fn around(&mut self, inside: &mut dyn FnMut()) {
        let Some(party) = &mut self.party else { return inside() };
        let Party { asked, baggage } = &mut **party;
        let mut thrown = None;
        nest(asked, 0, baggage, &mut || {
            thrown = catch_unwind(AssertUnwindSafe(&mut *inside)).err();
        });
        if let Some(payload) = thrown {
            resume_unwind(payload);
        }
    }

    /// The task has ended, and the policies take their baggage back.
    pub fn ended(mut self, task: &TaskView<'_>, ending: Ending) {
        let Some(mut party) = self.party.take() else { return };
        let asked = party.asked.clone();
        for (name, policy) in asked.members.iter().rev() {
            let baggage = party.baggage.pop().flatten();
            let completed = || policy.on_complete(task, ending, baggage);
            let _ = asked.call((*name, "on_complete"), completed);
        }
    }
}

/// Runs `inside`, which does not panic, amid all policies from the one at `index` on.
fn nest(asked: &Asked, index: usize, baggage: &mut [Option<Baggage>], inside: &mut dyn FnMut()) {
    let (Some((name, policy)), Some((own, rest))) =
        (asked.members.get(index), baggage.split_first_mut())
    else {
        return inside();
    };
    let mut is_due = true;
    let mut run_once = || {
        if replace(&mut is_due, false) {
            nest(asked, index + 1, rest, inside);
        }
    };
    let _ = asked.call((*name, "around"), || policy.around(own.as_deref_mut(), &mut run_once));
    // The policy may have panicked before, or forgotten. The task runs whatever a policy does.
    run_once();
}

impl Drop for Party {
    /// Last in, first out. Each by itself, for to drop it is to run code of its policy.
    fn drop(&mut self) {
        while let Some(baggage) = self.baggage.pop() {
            let (name, _) = self.asked.members[self.baggage.len()];
            let _ = self.asked.call((name, "drop"), || drop(baggage));
        }
    }
}

impl Drop for Asked {
    /// The last escort may outlive the set, and take with it a policy that was removed.
    fn drop(&mut self) {
        while let Some((name, policy)) = self.members.pop() {
            let _ = self.call((name, "drop"), || drop(policy));
        }
    }
}

impl fmt::Debug for Escort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.party.iter().flat_map(|party| party.asked.members.iter());
        f.write_str("Escort ")?;
        f.debug_list().entries(names.map(|(name, _)| name)).finish()
    }
}
