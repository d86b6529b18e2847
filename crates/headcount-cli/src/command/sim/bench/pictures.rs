//! Policies by cost and lateness, a picture for each regime.

use std::path::{Path, PathBuf};

use headcount_sim::contest::Cell;
use headcount_sim::report::{Scatter, ScatterPoint};

use super::standing::{Role, best_of_families, relative_cost};

/// The pictures, and the files that they go into.
pub(super) fn pictures(cells: &[Cell], file: &Path) -> Vec<(PathBuf, String)> {
    let files = files(file, cells.iter().map(|cell| cell.regime.clone()));
    let regimes = cells.chunk_by(|a, b| a.regime == b.regime);
    files.into_iter().zip(regimes.map(picture)).collect()
}

/// A file for each regime, in the order in which they come.
pub(super) fn files(file: &Path, regimes: impl Iterator<Item = String>) -> Vec<PathBuf> {
    let mut regimes: Vec<String> = regimes.collect();
    regimes.dedup();
    match regimes.len() {
        1 => vec![file.to_owned()],
        _ => regimes.iter().map(|regime| beside(file, regime)).collect(),
    }
}

/// `out.svg` becomes `out-A.svg`.
fn beside(file: &Path, regime: &str) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = match file.extension() {
        Some(extension) => format!("{stem}-{regime}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{regime}"),
    };
    file.with_file_name(name)
}

fn picture(cells: &[Cell]) -> String {
    let mut policies: Vec<&str> = Vec::new();
    for cell in cells {
        if !policies.contains(&cell.policy.as_str()) {
            policies.push(&cell.policy);
        }
    }
    let points: Vec<ScatterPoint> = policies.iter().map(|policy| point(policy, cells)).collect();
    let points: Vec<&ScatterPoint> = points.iter().collect();
    let scored = |point: &ScatterPoint| point.x * (1.0 + point.y);
    let best = best_of_families(&points, |point| point.name.clone(), scored);
    let first = &cells[0];
    let loads = cells.iter().filter(|cell| cell.policy == first.policy).count();
    let over = match loads {
        1 => first.load.clone(),
        _ => format!("{loads} loads"),
    };
    let scatter = Scatter {
        title: format!("Regime {}, {over}: cost and lateness", first.regime),
        x_name: match cells.iter().filter(|cell| cell.j_bound.is_some()).count() {
            0 => "J (1 is the work itself)".to_owned(),
            bounds if bounds == cells.len() => "J/J* (1 is the bound)".to_owned(),
            _ => "J/J*, or J where there is no bound".to_owned(),
        },
        y_name: "late (%)".to_owned(),
        points: best.into_iter().cloned().collect(),
    };
    scatter.svg()
}

/// One policy: the geometric mean of its cost, the mean of its lateness.
fn point(policy: &str, cells: &[Cell]) -> ScatterPoint {
    let own: Vec<&Cell> = cells.iter().filter(|cell| cell.policy == policy).collect();
    let count = own.len() as f64;
    let logs: f64 = own.iter().map(|cell| relative_cost(cell).max(f64::MIN_POSITIVE).ln()).sum();
    ScatterPoint {
        name: policy.to_owned(),
        x: (logs / count).exp(),
        y: own.iter().map(|cell| cell.late_percent.mean).sum::<f64>() / count,
        is_ours: Role::of(policy) == Role::Ours,
    }
}

#[cfg(test)]
mod tests {
    use super::super::standing::tests::cell;
    use super::*;

    #[test]
    fn each_regime_has_a_picture_of_its_own() {
        let cells = [cell("A", "slo", 0.0, 1.0), cell("C", "slo", 0.0, 2.0)];
        let names = |cells: &[Cell]| {
            let pictures = pictures(cells, Path::new("dir/out.svg"));
            pictures.iter().map(|(file, _)| file.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(&cells), ["dir/out-A.svg", "dir/out-C.svg"]);
        assert_eq!(names(&cells[..1]), ["dir/out.svg"]);
    }
}
