//! One policy on one load in one regime, over several seeds.

use std::sync::Arc;

use super::contender::Contender;
use super::entry::Entry;
use super::hindsight::{best_size, simulate};
use super::no_bound::NoBound;
use super::regime::Regime;
use crate::bound::Bound;
use crate::load::{Job, LoadError};
use crate::run::Score;

/// A mean over seeds, and how far from it the truth may be.
///
/// ```
/// use headcount_sim::contest::Interval;
///
/// let interval = Interval::of(&[1.0, 2.0, 3.0]);
/// assert_eq!(interval.mean, 2.0);
/// assert!((interval.half - 2.484).abs() < 0.001, "Student's t for three");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half of the width of the interval in which the mean of many would lie, 95 times of 100.
    pub half: f64,
}

/// Student's t at 97.5 %, by how many values there are beyond the first.
const STUDENT: [f64; 10] =
    [f64::INFINITY, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

impl Interval {
    /// The mean of values, and its interval. One value has none; it is taken for exact.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n.max(1.0);
        if values.len() < 2 {
            return Self { mean, half: 0.0 };
        }
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let t = STUDENT.get(values.len() - 1).copied().unwrap_or(1.96);
        Self { mean, half: t * (variance / n).sqrt() }
    }
}

/// How one policy did on one load in one regime.
///
/// ```
/// use headcount_sim::contest::Cell;
///
/// let cell = Cell { regime: "A".to_owned(), load: "step".to_owned(), ..Cell::default() };
/// assert!(cell.to_json().starts_with(r#"{"regime":"A","load":"step","policy":"","late_per"#));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What the world is like.
    pub regime: String,
    /// What had to be done.
    pub load: String,
    /// By which policy.
    pub policy: String,
    /// Of a hundred jobs, those not served as promised.
    pub late_percent: Interval,
    /// Half of the jobs waited no longer, in seconds.
    pub wait_p50: f64,
    /// 99 % of the jobs waited no longer, in seconds.
    pub wait_p99: f64,
    /// The time of all workers.
    pub worker_seconds: f64,
    /// Workers that were hired.
    pub spawns: f64,
    /// Cost for each second of work.
    pub j: Interval,
    /// What it would have cost one who knew the future. `None`: `no_bound` says why.
    pub j_bound: Option<f64>,
    /// Why there is no bound. `None`: there is one, or nobody asked.
    pub no_bound: Option<NoBound>,
    /// How often the number of workers turned around, an hour.
    pub reversals_per_hour: f64,
    /// The share of jobs that were done in time.
    pub goodput: f64,
    /// The share of the work that was done by the end. What is left undone costs nothing, so that
    /// J may be below 1.
    pub done: f64,
    /// How many seeds this is the mean of.
    pub seeds: usize,
}

impl Cell {
    fn of(regime: Regime, entry: &Entry, policy: &str, scores: &[Score]) -> Self {
        let all = |value: fn(&Score) -> f64| scores.iter().map(value).collect::<Vec<f64>>();
        let mean = |value: fn(&Score) -> f64| Interval::of(&all(value)).mean;
        Self {
            regime: regime.to_string(),
            load: entry.name.clone(),
            policy: policy.to_owned(),
            late_percent: Interval::of(&all(Score::late_percent)),
            wait_p50: mean(|score| score.wait_p50.as_secs_f64()),
            wait_p99: mean(|score| score.wait_p99.as_secs_f64()),
            worker_seconds: mean(|score| score.worker_seconds),
            spawns: mean(|score| score.spawns as f64),
            j: Interval::of(&all(Score::cost_per_work)),
            j_bound: None,
            no_bound: None,
            reversals_per_hour: mean(Score::reversals_per_hour),
            goodput: mean(Score::goodput),
            done: mean(Score::done),
            seeds: scores.len(),
        }
    }

    /// As a line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self { late_percent, j, seeds, .. } = self;
        let bound = self.j_bound.map_or("null".to_owned(), number);
        let fields = [
            ("late_percent", number(late_percent.mean)),
            ("late_percent_ci95", number(late_percent.half)),
            ("wait_p50_s", number(self.wait_p50)),
            ("wait_p99_s", number(self.wait_p99)),
            ("worker_seconds", number(self.worker_seconds)),
            ("spawns", number(self.spawns)),
            ("j", number(j.mean)),
            ("j_ci95", number(j.half)),
            ("j_bound", bound),
            ("reversals_per_hour", number(self.reversals_per_hour)),
            ("goodput", number(self.goodput)),
            ("done", number(self.done)),
            ("seeds", seeds.to_string()),
        ];
        let names = [("regime", &self.regime), ("load", &self.load), ("policy", &self.policy)];
        let names = names.map(|(name, value)| format!("\"{name}\":\"{}\"", escaped(value)));
        let fields = fields.map(|(name, value)| format!("\"{name}\":{value}"));
        format!("{{{},{}}}", names.join(","), fields.join(","))
    }
}

/// A number as JSON has it, with six digits behind the point and no more zeros than needed.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .collect::<String>()
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
}

/// One load in one regime, with its jobs drawn: what all policies of a row of cells have in common.
///
/// ```
/// use headcount_sim::contest::{Contender, Match, Regime, synthetic};
///
/// let load = &synthetic()[3];
/// let on_off = Match::new(Regime::Cheap, load.clone(), &[1]).expect("a load that makes sense");
/// let slo = &Contender::all(Regime::Cheap, &[1.0])[0];
/// let cell = on_off.play(slo);
/// assert_eq!((cell.policy.as_str(), cell.load.as_str()), ("slo", "on_off"));
/// assert!(cell.late_percent.mean < 0.1 && cell.j.mean < 1.1, "{cell:?}");
/// ```
#[derive(Clone, Debug)]
pub struct Match {
    regime: Regime,
    entry: Entry,
    jobs: Vec<Arc<[Job]>>,
}

impl Match {
    /// Draws the jobs of each seed.
    ///
    /// # Errors
    ///
    /// When the load makes no sense.
    pub fn new(regime: Regime, entry: Entry, seeds: &[u64]) -> Result<Self, LoadError> {
        let drawn = seeds.iter().map(|seed| Ok(entry.load.jobs(*seed)?.into()));
        let jobs = drawn.collect::<Result<Vec<Arc<[Job]>>, LoadError>>()?;
        Ok(Self { regime, entry, jobs })
    }

    /// What it would have cost one who knew the future, as the mean over the seeds.
    ///
    /// # Errors
    ///
    /// Where nobody could have kept the promise, or the regime has no bound.
    pub fn bound(&self) -> Result<f64, NoBound> {
        let config = self.regime.bound(&self.entry)?;
        let bound = |jobs: &Arc<[Job]>| Bound::in_longer_slots(&jobs.iter().copied(), &config);
        let costs = self.jobs.iter().map(|jobs| Ok(bound(jobs).map_err(NoBound::Unknown)?.j));
        Ok(Interval::of(&costs.collect::<Result<Vec<f64>, NoBound>>()?).mean)
    }

    /// How a contender does.
    #[must_use]
    pub fn play(&self, contender: &Contender) -> Cell {
        let (regime, entry) = (self.regime, &self.entry);
        let first = self.jobs.first().filter(|_| contender.is_static());
        let fixed = first.map(|jobs| best_size(regime, entry, contender, jobs));
        let scores = self.jobs.iter().map(|jobs| simulate(regime, entry, contender, jobs, fixed));
        Cell::of(regime, entry, &contender.name, &scores.collect::<Vec<Score>>())
    }
}
