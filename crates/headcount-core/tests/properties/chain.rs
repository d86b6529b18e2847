//! A decision's own account of itself, read back.

use headcount_core::{Decision, Reason, Staffing};

/// The guards that may move a pool whatever the ones before them said.
const HARD: [&str; 4] = ["health", "memory", "allowance", "bounds"];

/// What the decider wanted, or the staffing in force where it wanted nothing.
pub(crate) fn wanted(decision: &Decision) -> Staffing {
    decision.proposal.wanted.unwrap_or(decision.from)
}

/// What is left of the wish behind all guards.
pub(crate) fn folded(decision: &Decision) -> Staffing {
    fold(decision, |_| true)
}

/// What the guards that smooth left of the wish, before the hard ones were asked.
pub(crate) fn smoothed(decision: &Decision) -> Staffing {
    fold(decision, |guard| !HARD.contains(&guard))
}

/// Whether a hard guard said anything but yes.
pub(crate) fn is_forced(decision: &Decision) -> bool {
    let said = |guard: &str| HARD.contains(&guard);
    decision.rulings.iter().any(|review| said(review.guard.as_str()) && is_no(review.ruling))
}

/// Whether the guard called `name` said anything but yes.
pub(crate) fn is_forced_by(decision: &Decision, name: &str) -> bool {
    decision.rulings.iter().any(|review| review.guard.as_str() == name && is_no(review.ruling))
}

/// Whether the guards that smooth were asked: a manual target goes past them.
pub(crate) fn is_smoothed(decision: &Decision) -> bool {
    !matches!(decision.reason(), Reason::Manual | Reason::Off)
}

fn is_no(ruling: headcount_core::guard::Ruling) -> bool {
    ruling.because().is_some()
}

fn fold(decision: &Decision, counts: impl Fn(&str) -> bool) -> Staffing {
    let asked = decision.rulings.iter().take_while(|review| counts(review.guard.as_str()));
    asked.fold(wanted(decision), |left, review| review.ruling.applied_to(decision.from, left))
}
