//! The score of each policy over all cells: the geometric mean of cost and lateness.

use std::io::{self, Write};

use headcount_sim::contest::Cell;

use super::standing::{best_of_families, by_fixture, in_order, score};
use super::table::Rows;
use crate::command::sim::columns::lines;

/// What a policy scored, regime by regime.
#[derive(Clone, Debug, PartialEq)]
struct Mean {
    policy: String,
    /// `None`: it did not play there.
    regimes: Vec<Option<f64>>,
    /// Over everything, where it played everywhere; else it cannot be compared.
    all: Option<f64>,
    /// Over what it played.
    own: f64,
}

pub(super) fn write(cells: &[Cell], rows: Rows, out: &mut impl Write) -> io::Result<()> {
    let regimes = regimes(cells);
    let means = means(cells, &regimes);
    let chosen: Vec<&Mean> = means.iter().collect();
    let chosen = match rows {
        Rows::All => in_order(chosen, |mean| mean.policy.clone()),
        Rows::Best => best_of_families(&chosen, |mean| mean.policy.clone(), |mean| mean.own),
    };
    writeln!(out, "Score: geometric mean of J/J* x (1 + late %), of J where there is no bound")?;
    let head = ["policy"].into_iter().chain(regimes).chain(["all"]).map(str::to_owned).collect();
    let shown = |number: Option<f64>| number.map_or("-".to_owned(), |mean| format!("{mean:.3}"));
    let mut rows: Vec<Vec<String>> = vec![head];
    for mean in chosen {
        let numbers = mean.regimes.iter().copied().chain([mean.all]).map(shown);
        rows.push(std::iter::once(mean.policy.clone()).chain(numbers).collect());
    }
    for line in lines(&rows) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn regimes(cells: &[Cell]) -> Vec<&str> {
    let mut regimes: Vec<&str> = cells.iter().map(|cell| cell.regime.as_str()).collect();
    regimes.dedup();
    regimes
}

fn means(cells: &[Cell], regimes: &[&str]) -> Vec<Mean> {
    let fixtures = by_fixture(cells).count();
    let mut policies: Vec<&str> = Vec::new();
    for cell in cells {
        if !policies.contains(&cell.policy.as_str()) {
            policies.push(&cell.policy);
        }
    }
    let mean_of = |policy: &str| {
        let own: Vec<&Cell> = cells.iter().filter(|cell| cell.policy == policy).collect();
        let of_regime =
            |regime: &&str| geometric(own.iter().filter(|cell| cell.regime == **regime));
        let all = geometric(own.iter());
        Mean {
            policy: policy.to_owned(),
            regimes: regimes.iter().map(of_regime).collect(),
            all: all.filter(|_| own.len() == fixtures),
            own: all.unwrap_or(f64::INFINITY),
        }
    };
    policies.into_iter().map(mean_of).collect()
}

/// The geometric mean of scores. `None`: of nothing.
fn geometric<'a>(cells: impl Iterator<Item = &'a &'a Cell>) -> Option<f64> {
    let logs: Vec<f64> = cells.map(|cell| score(cell).max(f64::MIN_POSITIVE).ln()).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::super::standing::tests::cell;
    use super::*;

    #[test]
    fn cost_and_lateness_are_multiplied_over_cells() {
        let cells = [
            cell("A", "slo", 0.0, 1.0),
            cell("A", "hpa", 0.0, 2.0),
            cell("A", "hpa/5", 0.0, 1.5),
            cell("B-knee", "slo", 3.0, 1.0),
            cell("B-knee", "told", 0.0, 1.3),
            cell("B-knee", "hpa", 1.0, 4.0),
            cell("B-knee", "hpa/5", 1.0, 2.0),
        ];
        let mut out = Vec::new();
        write(&cells, Rows::Best, &mut out).expect("memory can be written");
        let told = String::from_utf8(out).expect("text");
        let rows: Vec<&str> = told.lines().skip(1).map(str::trim).collect();
        let head = "policy      A  B-knee    all";
        let slo = "slo     1.000   4.000  2.000";
        let told = "told        -   1.300      -";
        let hpa = "hpa/5   1.500   4.000  2.449";
        assert_eq!(rows, [head, slo, told, hpa]);
    }
}
