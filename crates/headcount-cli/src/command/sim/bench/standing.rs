//! How policies stand to each other: who is ours, who is a peer, and which tempo suits it best.

use headcount_sim::contest::Cell;

/// What a policy is in the contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Of this project.
    Ours,
    /// Knows what no live pool knows: the knee, or the future; or a rule of another system in a
    /// pool of ours, which drops jobs whose time is over, or serves the newest first, as no pool
    /// of theirs does.
    Reference,
    /// A rule of another system.
    Peer,
}

impl Role {
    pub(super) fn of(policy: &str) -> Self {
        match policy {
            "slo" | "slo+health" => Self::Ours,
            "told" | "told+newest" | "static" | "on_demand+deadlines" => Self::Reference,
            _ => Self::Peer,
        }
    }
}

/// Who did less of the work than this is charged as if it had done so much.
const DONE_MIN: f64 = 1e-3;

/// A policy without its tempo.
pub(super) fn family(policy: &str) -> &str {
    policy.split_once('/').map_or(policy, |(name, _)| name)
}

/// Cost and lateness in one number, less is better: a percent of late jobs counts as much as the
/// whole cost once more. The cost is in parts of the bound where there is one, and for the work
/// that was done: who leaves most of it undone is cheap, and no better for it.
pub(super) fn score(cell: &Cell) -> f64 {
    relative_cost(cell) / cell.done.max(DONE_MIN) * (1.0 + cell.late_percent.mean)
}

/// That there is no bound, and why.
pub(super) fn no_bound(cell: &Cell) -> String {
    let why = cell.no_bound.map_or(String::new(), |why| format!(": {why}"));
    format!("there is no bound{why}")
}

/// J in parts of the bound, or J.
pub(super) fn relative_cost(cell: &Cell) -> f64 {
    cell.j.mean / cell.j_bound.unwrap_or(1.0)
}

/// The best of each family, by a number of which less is better; ours first, then references, then
/// peers by name.
pub(super) fn best_of_families<T: Copy>(
    all: &[T],
    name: impl Fn(T) -> String,
    number: impl Fn(T) -> f64,
) -> Vec<T> {
    let mut ordered = all.to_vec();
    // Among equals the slower tempo, which comes first, as sorting keeps their order.
    ordered.sort_by(|a, b| number(*a).total_cmp(&number(*b)));
    let mut best: Vec<T> = Vec::new();
    for one in ordered {
        if !best.iter().any(|other| family(&name(*other)) == family(&name(one))) {
            best.push(one);
        }
    }
    in_order(best, name)
}

/// Ours first, then references, then peers by name; tempos as they came.
pub(super) fn in_order<T: Copy>(mut all: Vec<T>, name: impl Fn(T) -> String) -> Vec<T> {
    all.sort_by_key(|one| {
        let name = name(*one);
        (Role::of(&name), family(&name).to_owned())
    });
    all
}

/// Cells of one load in one regime, in the order in which they were played.
pub(super) fn by_fixture(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|a, b| (&a.regime, &a.load) == (&b.regime, &b.load))
}

#[cfg(test)]
pub(super) mod tests {
    use headcount_sim::contest::Interval;

    use super::*;

    /// A cell with a bound of 1.
    pub(in super::super) fn cell(regime: &str, policy: &str, late: f64, j: f64) -> Cell {
        let exactly = |mean| Interval { mean, half: 0.0 };
        Cell {
            regime: regime.to_owned(),
            load: "step".to_owned(),
            policy: policy.to_owned(),
            late_percent: exactly(late),
            j: exactly(j),
            j_bound: Some(1.0),
            goodput: 1.0 - late / 100.0,
            done: 1.0,
            seeds: 5,
            ..Cell::default()
        }
    }

    #[test]
    fn of_each_peer_the_best_tempo_stands_behind_ours() {
        let cells = [
            cell("A", "static", 0.0, 2.0),
            cell("A", "keda/5", 0.0, 1.7),
            cell("A", "hpa", 4.0, 1.9),
            cell("A", "hpa/5", 0.0, 1.9),
            cell("A", "hpa/15", 0.0, 1.9),
            cell("A", "slo", 0.0, 1.1),
        ];
        let all: Vec<&Cell> = cells.iter().collect();
        let best = best_of_families(&all, |cell| cell.policy.clone(), score);
        let names: Vec<&str> = best.iter().map(|cell| cell.policy.as_str()).collect();
        assert_eq!(names, ["slo", "static", "hpa/5", "keda/5"]);
    }

    #[test]
    fn who_left_most_of_the_work_undone_is_not_cheap() {
        let lazy = Cell { done: 0.05, ..cell("C", "arc", 100.0, 0.05) };
        assert!(score(&cell("C", "keda", 3.0, 2.0)) < score(&lazy));
        assert!(score(&Cell { done: 0.0, ..lazy }).is_finite());
    }
}
