//! Everybody once in each round, each round beginning with another one.

use super::field::{Contestant, OURS, Store, everybody};
use super::machine::Books;
use super::options::Options;
use super::stage::Stage;
use super::{drain, enqueue, idle, latency, recovery};
use crate::{Asked, Row, median_and_spread};

const ROUNDS: usize = 3;

/// The name of a row, its unit, and which figures are the good ones.
#[derive(Clone, Debug)]
pub(super) struct Title {
    pub(super) row: String,
    pub(super) unit: &'static str,
    pub(super) lower_is_better: bool,
}

impl Title {
    /// For a figure that is the better the higher it is.
    pub(super) fn rate(row: String, unit: &'static str) -> Self {
        Self { row, unit, lower_is_better: false }
    }

    /// For a figure that is the better the lower it is.
    pub(super) fn cost(row: String, unit: &'static str) -> Self {
        Self { row, unit, lower_is_better: true }
    }
}

/// What came of one round: a figure for each title, or why there is none.
pub(super) type Figures = Result<Vec<f64>, String>;

/// Work that is the same for everybody, and the figures that come of it.
pub(super) trait Scenario {
    /// Which contestants it is for.
    fn store(&self) -> Store;

    /// What each figure is about.
    fn titles(&self, stage: &Stage) -> Vec<Title>;

    /// What has to be known of somebody's figures.
    fn remark(&self, contestant: &Contestant) -> &'static str;

    /// One round of one contestant.
    fn round(&self, stage: &Stage, contestant: &Contestant) -> Figures;
}

/// Measures what was asked for.
pub(super) fn measure(options: Options, asked: &Asked) -> Result<Vec<Row>, String> {
    let stage = Stage::set_up(options)?;
    let field = field(asked);
    let mut contests = contests(&stage, &field, asked);
    let rounds = asked.rounds.unwrap_or(if options.quick { 1 } else { ROUNDS });
    let before = Books::read(&stage)?;
    for round in 0..rounds {
        for contest in &mut contests {
            contest.run(&stage, round)?;
        }
    }
    let others = Books::read(&stage)?.others_since(&before);
    eprintln!("others used {others:.0} % of the machine while this ran");
    let mut rows: Vec<Row> = contests.iter().flat_map(|contest| contest.ledger.rows()).collect();
    if options.recovery {
        let title = recovery::title(&stage);
        if wanted(asked, &title.row, &field) {
            rows.push(recovery::row(&stage, title, &field)?);
        }
    }
    Ok(rows)
}

/// Those whose name is asked for; without such a name, everybody.
fn field(asked: &Asked) -> Vec<Contestant> {
    let everybody = everybody();
    let named: Vec<_> = everybody.iter().filter(|c| is_named(asked, c.name)).cloned().collect();
    if named.is_empty() { everybody } else { named }
}

fn is_named(asked: &Asked, name: &str) -> bool {
    asked.only.as_deref().is_some_and(|text| name.contains(text))
}

/// Whoever asked for somebody wants all of their rows.
fn wanted(asked: &Asked, row: &str, field: &[Contestant]) -> bool {
    asked.wants(row) || field.iter().any(|contestant| is_named(asked, contestant.name))
}

fn contests<'a>(stage: &Stage, field: &'a [Contestant], asked: &Asked) -> Vec<Contest<'a>> {
    let mut scenarios: Vec<Box<dyn Scenario>> = Vec::new();
    for store in [Store::Redis, Store::Embedded] {
        scenarios.extend(enqueue::all(store));
        scenarios.extend(drain::all(store));
    }
    scenarios.push(Box::new(latency::Latency));
    scenarios.push(Box::new(idle::Idle));

    let contests = scenarios.into_iter().map(|scenario| Contest::of(scenario, stage, field));
    let is_asked_for = |contest: &Contest<'_>| {
        let mut titles = contest.ledger.titles.iter();
        titles.any(|title| wanted(asked, &title.row, field)) && !contest.contestants.is_empty()
    };
    contests.filter(is_asked_for).collect()
}

/// A scenario, and those who are in it.
struct Contest<'a> {
    scenario: Box<dyn Scenario>,
    contestants: Vec<&'a Contestant>,
    ledger: Ledger,
}

impl<'a> Contest<'a> {
    fn of(scenario: Box<dyn Scenario>, stage: &Stage, field: &'a [Contestant]) -> Self {
        let store = scenario.store();
        let contestants: Vec<_> = field.iter().filter(|it| it.store == store).collect();
        let entry = |it: &&Contestant| (it.name, scenario.remark(it), Vec::new());
        let entries = contestants.iter().map(entry).collect();
        let ledger = Ledger { titles: scenario.titles(stage), entries };
        Self { scenario, contestants, ledger }
    }

    fn run(&mut self, stage: &Stage, round: usize) -> Result<(), String> {
        for turn in 0..self.contestants.len() {
            let index = (turn + round) % self.contestants.len();
            let contestant = self.contestants[index];
            let before = Books::read(stage)?;
            let figures = self.scenario.round(stage, contestant);
            let others = Books::read(stage)?.others_since(&before);
            let (row, name) = (&self.ledger.titles[0].row, contestant.name);
            eprintln!("round {}, {row}: {name} {figures:.1?}; others {others:.0} %", round + 1);
            self.ledger.entries[index].2.push(figures);
        }
        Ok(())
    }
}

/// What came of all rounds of a scenario: by name, with a remark.
pub(super) struct Ledger {
    pub(super) titles: Vec<Title>,
    pub(super) entries: Vec<(&'static str, &'static str, Vec<Figures>)>,
}

impl Ledger {
    /// The rows, with ours not a number where we did not take part.
    pub(super) fn rows(&self) -> Vec<Row> {
        let titles = self.titles.iter().enumerate();
        titles.map(|(figure, title)| self.row(figure, title)).collect()
    }

    fn row(&self, figure: usize, title: &Title) -> Row {
        let mut row = Row::alone(&title.row, title.unit, &[]);
        row.lower_is_better = title.lower_is_better;
        for (name, remark, rounds) in &self.entries {
            let good: Vec<f64> = rounds.iter().flatten().map(|figures| figures[figure]).collect();
            let (median, spread) = median_and_spread(&good);
            if *name == OURS {
                (row.ours, row.spread) = (median, spread);
            } else {
                row.peers.push(((*name).to_owned(), median));
                row.peer_spreads.push(((*name).to_owned(), spread));
            }
            let remark = remark_on(remark, rounds);
            if !remark.is_empty() {
                row.remarks.push(((*name).to_owned(), remark));
            }
        }
        row
    }
}

/// What has to be known of these rounds. Where all of them failed only the reason counts.
fn remark_on(remark: &str, rounds: &[Figures]) -> String {
    let failed: Vec<_> = rounds.iter().filter_map(|figures| figures.as_ref().err()).collect();
    match failed.first() {
        None => remark.to_owned(),
        Some(why) if failed.len() == rounds.len() => (*why).clone(),
        Some(why) => {
            let failed = format!("{why} in {} of {} rounds", failed.len(), rounds.len());
            if remark.is_empty() { failed } else { format!("{failed}; {remark}") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_that_failed_is_told_and_does_not_count() {
        let stalled = || Err("stalled".to_owned());
        let rounds = |figures: [Figures; 3]| figures.into_iter().collect::<Vec<_>>();
        let ledger = Ledger {
            titles: vec![Title::rate("drain".to_owned(), "jobs/s")],
            entries: vec![
                (OURS, "", rounds([Ok(vec![8.0]), Ok(vec![8.0]), Ok(vec![8.0])])),
                ("sometimes", "batch 100", rounds([Ok(vec![2.0]), stalled(), Ok(vec![2.0])])),
                ("never", "batch 100", rounds([stalled(), stalled(), stalled()])),
            ],
        };
        let [row] = &ledger.rows()[..] else { panic!("one title is one row") };
        assert_eq!(row.ratio_to_best_peer(), Some(4.0));
        let remarks: Vec<_> = row.remarks.iter().map(|(n, r)| format!("{n}: {r}")).collect();
        let expected = ["sometimes: stalled in 1 of 3 rounds; batch 100", "never: stalled"];
        assert_eq!(remarks, expected);
    }

    #[test]
    fn a_name_that_is_asked_for_keeps_its_rows() {
        let asked = Asked { only: Some("bull".to_owned()), ..Asked::default() };
        assert!(is_named(&asked, "bullmq") && !is_named(&asked, "dramatiq"));
        assert!(!is_named(&Asked::default(), "bullmq"), "nobody was asked for");
    }
}
