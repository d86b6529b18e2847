//! A decision in plain English.

use std::fmt;

use super::decision::Decision;
use super::direction::Direction;
use super::guard::Ruling;
use super::mode::Mode;

/// Says in one line what happens, what was wanted, and who changed it on the way.
///
/// `hold 16: wants 41 (wait p99 0.9 s > 0.5 s) -> step 24 -> health warning 16 -> bounds 16`
///
/// ```
/// use headcount_core::{Observation, Policy, PoolSnapshot, Preset, Staffing};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let pool = PoolSnapshot::at_work(Staffing::exactly(2), 2);
/// let observation = Observation { pool, allowance: Some(2), ..Observation::default() };
/// let decision = policy.build().tick(&observation);
/// let line = "hold 2: wants 3 (all busy) -> allowance 2 -> bounds 2";
/// assert_eq!(decision.explain().to_string(), line);
/// ```
#[derive(Debug)]
pub struct Explained<'a>(pub(super) &'a Decision);

/// Tells the whole story of a decision, with every reading, estimate and ruling.
///
/// ```
/// use headcount_core::{Observation, Policy, PoolSnapshot, Preset, Staffing};
///
/// let policy = Policy::check(&Preset::gopipe().config(), 8).expect("no fault");
/// let pool = PoolSnapshot::at_work(Staffing::exactly(2), 2);
/// let observation = Observation { pool, allowance: Some(2), ..Observation::default() };
/// let text = policy.build().tick(&observation).explain_fully().to_string();
/// assert!(text.starts_with("hold 2, at 0.000 s, mode automatic\n  wants 3 (all busy)"));
/// assert!(text.contains("\n  cooldown: 3 allowed\n"), "who agreed is named too");
/// assert!(text.contains("\n  allowance: held at 2, the budget grants 2\n"));
/// ```
#[derive(Debug)]
pub struct ExplainedFully<'a>(pub(super) &'a Decision);

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decision = self.0;
        write_outcome(decision, f)?;
        write!(f, ": ")?;
        write_wish(decision, f)?;
        let mut current = decision.proposal.wanted.unwrap_or(decision.from);
        let last = decision.rulings.len().saturating_sub(1);
        for (index, review) in decision.rulings.iter().enumerate() {
            let before = current;
            current = review.ruling.applied_to(decision.from, current);
            // The last guard is always named: it has the last word, even if it is "yes".
            if current != before || review.ruling != Ruling::Allow || index == last {
                write!(f, " -> {}", review.guard.spoken())?;
                review
                    .ruling
                    .because()
                    .map_or(Ok(()), |because| write!(f, "{}", because.brief()))?;
                write!(f, " {current}")?;
            }
        }
        Ok(())
    }
}

/// `grow 4 to 6`, `hold 16`, `would shrink 9 to 8`.
fn write_outcome(decision: &Decision, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let direction = decision.direction();
    if decision.mode == Mode::Advise && direction != Direction::Hold {
        write!(f, "would ")?;
    }
    match direction {
        Direction::Hold => write!(f, "hold {}", decision.to),
        _ => write!(f, "{direction} {} to {}", decision.from, decision.to),
    }
}

/// `wants 41 (wait p99 0.9 s > 0.5 s)`, or why nothing is wanted.
fn write_wish(decision: &Decision, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let proposal = &decision.proposal;
    match (decision.mode, proposal.wanted) {
        (Mode::Off, _) => return write!(f, "the autoscaler is off"),
        (Mode::Manual, None) => return write!(f, "no manual target is set"),
        (_, None) => return write!(f, "no wish ({})", proposal.reason),
        (_, Some(wanted)) => write!(f, "wants {wanted}")?,
    }
    match &proposal.evidence {
        Some(evidence) => write!(f, " ({evidence})"),
        None => write!(f, " ({})", proposal.reason),
    }
}

impl fmt::Display for ExplainedFully<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decision = self.0;
        write_outcome(decision, f)?;
        writeln!(f, ", at {}, mode {}", decision.at, decision.mode)?;
        for reading in &decision.readings {
            match reading.value {
                Some(value) => {
                    let shown = reading.unit.show(value);
                    writeln!(f, "  reads {} {shown}", reading.name.spoken())?;
                }
                None => writeln!(f, "  reads {}: no data", reading.name.spoken())?,
            }
        }
        for estimate in &decision.proposal.estimates {
            writeln!(f, "  believes {estimate}")?;
        }
        write!(f, "  ")?;
        write_wish(decision, f)?;
        writeln!(f, ", reason {}", decision.proposal.reason)?;
        let mut current = decision.proposal.wanted.unwrap_or(decision.from);
        for review in &decision.rulings {
            current = review.ruling.applied_to(decision.from, current);
            write!(f, "  {}: ", review.guard.spoken())?;
            match review.ruling {
                Ruling::Allow => writeln!(f, "{current} allowed")?,
                Ruling::Amend(to, because) => writeln!(f, "amended to {to}, {because}")?,
                Ruling::Hold(because) => writeln!(f, "held at {current}, {because}")?,
            }
        }
        Ok(())
    }
}
