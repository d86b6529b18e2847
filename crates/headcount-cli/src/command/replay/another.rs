//! Another policy beside the recorded one: what it would have done, at what price, how late.

use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use headcount_core::{
    Decision, ExtraParts, Observation, Policy, PolicyConfig, Staffing, Timestamp,
};
use headcount_sim::load::LoadError;
use headcount_sim::replay::{Another, Rehearsal, Simulated, Totals};
use headcount_sim::run::Score;
use serde_json::{Value, json};

use super::other::{Other, promise};
use super::tale::{Place, Tale, tell_fully, tell_nothing, tell_unknown};
use crate::Stop;
use crate::command::printable;

/// A moment from which on the sizes are not the same.
#[derive(Debug)]
struct Difference {
    place: Place,
    /// Since the first look.
    after: Duration,
    sizes: [Staffing; 2],
    recorded: Box<Decision>,
    other: Box<Decision>,
}

/// The two policies of a pool, once the trace has told of the recorded one.
#[derive(Debug)]
struct Pair {
    recorded: Policy,
    other: Policy,
    another: Another,
}

/// A pool under another policy.
#[derive(Debug)]
pub(super) struct AnotherTale {
    pool: String,
    other: Rc<Other>,
    slo: Option<Duration>,
    explain: bool,
    limit: usize,
    pair: Option<Pair>,
    rehearsal: Rehearsal,
    began: Option<Timestamp>,
    unknown: u64,
    differing: u64,
    differences: Vec<Difference>,
}

impl AnotherTale {
    pub(super) fn new(
        pool: &str,
        other: Rc<Other>,
        slo: Option<Duration>,
        explain: bool,
        limit: usize,
    ) -> Self {
        Self {
            pool: pool.to_owned(),
            other,
            slo,
            explain,
            limit,
            pair: None,
            rehearsal: Rehearsal::default(),
            began: None,
            unknown: 0,
            differing: 0,
            differences: Vec::new(),
        }
    }

    fn begin(
        &self,
        written: &PolicyConfig,
        extras: &ExtraParts,
        notes: &[u64],
    ) -> Result<Pair, Stop> {
        let recorded = Policy::check(written, 1).map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            Stop::Misused(format!("the recorded policy is refused: {}", faults.join("; ")))
        })?;
        let other = self.other.policy(&self.pool, recorded.bounds())?;
        let another = Another::new(&other, written, extras, notes);
        let another = another.map_err(|error| Stop::Misused(error.to_string()))?;
        Ok(Pair { recorded, other, another })
    }

    /// Both policies on the recorded load, and what was promised to its tasks. `None`: no task
    /// ended.
    fn simulated(&self) -> Option<Result<Both, LoadError>> {
        let Pair { recorded, other, .. } = self.pair.as_ref()?;
        let promise = promise(self.slo, other, recorded);
        let run = |policy| self.rehearsal.simulate(policy, promise).transpose();
        let both = run(recorded)?.and_then(|recorded| {
            let other = run(other).unwrap_or_else(|| Ok(Simulated::default()))?;
            Ok(Both { recorded, other, promise })
        });
        Some(both)
    }
}

/// Two policies on one load.
struct Both {
    recorded: Simulated,
    other: Simulated,
    promise: Duration,
}

impl Tale for AnotherTale {
    fn policy(
        &mut self,
        written: &PolicyConfig,
        extras: &ExtraParts,
        notes: &[u64],
    ) -> Result<(), Stop> {
        self.rehearsal.policy(written);
        match &mut self.pair {
            Some(pair) => pair
                .another
                .policy(written, extras, notes)
                .map_err(|error| Stop::Misused(error.to_string())),
            None => {
                self.pair = Some(self.begin(written, extras, notes)?);
                Ok(())
            }
        }
    }

    fn tick(&mut self, observation: &Observation, decision: &Decision, place: &dyn Fn() -> Place) {
        let Some(pair) = &mut self.pair else {
            self.unknown += 1;
            return;
        };
        self.rehearsal.tick(observation, decision);
        let beside = pair.another.tick(observation, decision);
        let after = observation.at.since(*self.began.get_or_insert(observation.at));
        if !beside.differs() || !beside.is_news {
            return;
        }
        self.differing += 1;
        if self.differences.len() < self.limit {
            self.differences.push(Difference {
                place: place(),
                after,
                sizes: beside.sizes,
                recorded: Box::new(*decision),
                other: Box::new(beside.other),
            });
        }
    }

    fn decisions(&self) -> u64 {
        self.unknown + self.replayed()
    }

    fn replayed(&self) -> u64 {
        self.pair.as_ref().map_or(0, |pair| pair.another.looks())
    }

    fn is_as_expected(&self) -> bool {
        true
    }

    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        let pair = self.pair.as_ref().filter(|pair| 0 < pair.another.looks());
        let Some(Pair { other, another, .. }) = pair else {
            return tell_nothing(out, &printable::word(&self.pool), self.unknown);
        };
        let (bounds, (seconds, apart)) = (other.bounds(), another.seconds());
        let (looks, name) = (another.looks(), printable::word(&self.other.name()));
        let pool = printable::word(&self.pool);
        writeln!(out, "pool {pool}: {looks} looks in {seconds:.1} s")?;
        writeln!(out, "  beside it: {name}, {} to {} workers", bounds.min, bounds.max)?;
        tell_unknown(out, self.unknown)?;
        self.tell_differences(out)?;
        let percent = if seconds <= 0.0 { 0.0 } else { 100.0 * apart / seconds };
        writeln!(out, "  the sizes are not the same for {apart:.1} s ({percent:.0} %)")?;
        tell_totals(out, another.totals())?;
        self.tell_simulated(out)
    }

    fn as_json(&self) -> Value {
        let Some(Pair { other, another, .. }) = &self.pair else {
            return json!({ "pool": self.pool, "looks": 0, "before_policy": self.unknown });
        };
        let differences: Vec<_> = self.differences.iter().map(Difference::as_json).collect();
        let [recorded, beside] = another.totals().map(totals_as_json);
        let (seconds, seconds_apart) = another.seconds();
        json!({
            "pool": self.pool,
            "other": self.other.name(),
            "bounds": other.bounds(),
            "looks": another.looks(),
            "before_policy": self.unknown,
            "seconds": seconds,
            "seconds_apart": seconds_apart,
            "open_loop": { "recorded": recorded, "other": beside },
            "differing": self.differing,
            "differences": differences,
            "closed_loop": self.simulated_as_json(),
        })
    }
}

impl AnotherTale {
    fn tell_differences(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.differences.is_empty() {
            writeln!(out, "\n  {:>11} {:>10} {:>10}  why", "after", "recorded", "other")?;
        }
        for difference in &self.differences {
            difference.tell(out, self.explain)?;
        }
        let more = self.differing - self.differences.len() as u64;
        match more {
            0 => writeln!(out),
            _ => writeln!(out, "  and {more} more; --limit lists more\n"),
        }
    }

    fn tell_simulated(&self, out: &mut dyn Write) -> io::Result<()> {
        let Both { recorded, other, promise } = match self.simulated() {
            None => {
                return writeln!(out, "\n  no simulation: no task ended, so sizes are not known");
            }
            Some(Err(error)) => return writeln!(out, "\n  no simulation: {error}"),
            Some(Ok(both)) => both,
        };
        let tasks = self.rehearsal.tasks();
        writeln!(
            out,
            "\n  closed loop: both simulated on the recorded load, {tasks} tasks, late after a \
             wait of {promise:?}"
        )?;
        tell_simulated(out, [&recorded, &other])?;
        let agreement = self.rehearsal.agreement(&recorded);
        let ((live, again), (busy, busy_again)) = (agreement.live, agreement.busy);
        writeln!(
            out,
            "  How far to trust it: the recorded policy has {again:.2} workers in the simulation \
             and had {live:.2},\n  of them {busy_again:.2} busy where {busy:.2} were. That is \
             {agreement}."
        )?;
        for caveat in self.rehearsal.caveats() {
            writeln!(out, "  But {caveat}.")?;
        }
        Ok(())
    }

    fn simulated_as_json(&self) -> Value {
        let both = match self.simulated() {
            None => return Value::Null,
            Some(Err(error)) => return json!({ "error": error.to_string() }),
            Some(Ok(both)) => both,
        };
        let agreement = self.rehearsal.agreement(&both.recorded);
        let caveats = self.rehearsal.caveats();
        let caveats: Vec<_> = caveats.iter().map(ToString::to_string).collect();
        json!({
            "tasks": self.rehearsal.tasks(),
            "promise_s": both.promise.as_secs_f64(),
            "recorded": simulated_as_json(&both.recorded),
            "other": simulated_as_json(&both.other),
            "agreement": {
                "live_recorded": agreement.live.0,
                "live_simulated": agreement.live.1,
                "busy_recorded": agreement.busy.0,
                "busy_simulated": agreement.busy.1,
                "worst_deviation": agreement.worst(),
                "verdict": agreement.to_string(),
            },
            "caveats": caveats,
        })
    }
}

impl Difference {
    fn tell(&self, out: &mut dyn Write, fully: bool) -> io::Result<()> {
        let (after, [recorded, other]) = (self.after.as_secs_f64(), self.sizes);
        let (recorded, other) = (recorded.to_string(), other.to_string());
        let why = self.other.explain();
        writeln!(out, "  {after:>9.3} s {recorded:>10} {other:>10}  {why}")?;
        match fully {
            true => {
                tell_fully(out, "recorded", &self.recorded)?;
                tell_fully(out, "other", &self.other)
            }
            false => Ok(()),
        }
    }

    fn as_json(&self) -> Value {
        json!({
            "place": self.place,
            "after_s": self.after.as_secs_f64(),
            "recorded": self.sizes[0],
            "other": self.sizes[1],
            "recorded_why": self.recorded.explain().to_string(),
            "other_why": self.other.explain().to_string(),
        })
    }
}

fn tell_totals(out: &mut dyn Write, [recorded, other]: [Totals; 2]) -> io::Result<()> {
    writeln!(out, "\n  open loop: both on what was recorded")?;
    row(out, "", ["recorded", "other"])?;
    let mut told = |name, of: fn(Totals) -> String| row(out, name, [&of(recorded), &of(other)]);
    told("ceiling, worker-seconds", |totals| format!("{:.1}", totals.ceiling_seconds))?;
    told("floor, worker-seconds", |totals| format!("{:.1}", totals.floor_seconds))?;
    told("changes", |totals| totals.changes.to_string())?;
    told("reversals", |totals| totals.reversals.to_string())?;
    writeln!(
        out,
        "  The other one was shown the waits and failures that the recorded sizes led to; what its \
         own\n  would have led to is not in a recording."
    )
}

fn tell_simulated(out: &mut dyn Write, both: [&Simulated; 2]) -> io::Result<()> {
    row(out, "", ["recorded", "other"])?;
    let mut told = |name, of: fn(&Score) -> String| {
        let [recorded, other] = both.map(|simulated| of(&simulated.score));
        row(out, name, [&recorded, &other])
    };
    told("late", |score| format!("{:.2} %", score.late_percent()))?;
    told("wait p50", |score| milliseconds(score.wait_p50))?;
    told("wait p99", |score| milliseconds(score.wait_p99))?;
    told("worker-seconds", |score| format!("{:.1}", score.worker_seconds))?;
    told("spawns", |score| score.spawns.to_string())?;
    told("J, cost per second of work", |score| format!("{:.3}", score.cost_per_work()))?;
    told("reversals", |score| score.reversals.to_string())?;
    let [recorded, other] = both.map(|simulated| simulated.undone.to_string());
    row(out, "refused or left undone", [&recorded, &other])
}

fn row(out: &mut dyn Write, name: &str, [recorded, other]: [&str; 2]) -> io::Result<()> {
    writeln!(out, "    {name:<28} {recorded:>12} {other:>12}")
}

fn milliseconds(span: Duration) -> String {
    format!("{:.1} ms", span.as_secs_f64() * 1e3)
}

fn totals_as_json(totals: Totals) -> Value {
    json!({
        "ceiling_worker_seconds": totals.ceiling_seconds,
        "floor_worker_seconds": totals.floor_seconds,
        "changes": totals.changes,
        "reversals": totals.reversals,
    })
}

fn simulated_as_json(Simulated { score, undone, .. }: &Simulated) -> Value {
    json!({
        "jobs": score.jobs,
        "late_percent": score.late_percent(),
        "wait_p50_s": score.wait_p50.as_secs_f64(),
        "wait_p99_s": score.wait_p99.as_secs_f64(),
        "worker_seconds": score.worker_seconds,
        "spawns": score.spawns,
        "j": score.cost_per_work(),
        "reversals": score.reversals,
        "undone": undone,
    })
}
