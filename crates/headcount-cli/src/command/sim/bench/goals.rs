//! How our default policy stands against what it is meant to reach, cell by cell.
//!
//! | Regime | Goal |
//! |---|---|
//! | A | J within 2 % of the bound, 3 % where it pays for idle minimum workers; 0.1 % late |
//! | B | no later than any survivor, 2 points of `told`, J at most 1.1 x the cheapest survivor |
//! | C | a lower J than the best peer, and no more late jobs |
//! | D | a higher goodput than every peer, or all of it |
//!
//! A *survivor* is a peer, at any tempo, whose late jobs are within 10 points of those of `told`,
//! and which did as much of the work by the end, within a point: what is left undone is cheap.

use std::io::{self, Write};

use headcount_sim::contest::Cell;

use super::standing::{Role, by_fixture, no_bound, score};

/// Ours.
const JUDGED: &str = "slo";
/// In regime A a hire costs next to nothing; a bound that is further above the work than this pays
/// for minimum workers that have nothing to do.
const IDLE_MINIMUM: f64 = 1.01;

/// A survivor is so many points later than `told` at most, and leaves so much more undone at most.
const SURVIVOR_LATE: f64 = 10.0;
const SURVIVOR_UNDONE: f64 = 0.01;

/// What is claimed of one load in one regime, or why it cannot be judged.
type Judged = Result<Vec<Claim>, String>;

/// Something that should be so, with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Claim {
    holds: bool,
    text: String,
}

impl Claim {
    fn at_most(what: &str, value: f64, limit: f64, why: &str) -> Self {
        let holds = value <= limit;
        let sign = if holds { "<=" } else { ">" };
        Self { holds, text: format!("{what} {value:.3} {sign} {limit:.3} ({why})") }
    }

    fn below(what: &str, value: f64, limit: f64, why: &str) -> Self {
        let holds = value < limit;
        let sign = if holds { "<" } else { ">=" };
        Self { holds, text: format!("{what} {value:.3} {sign} {limit:.3} ({why})") }
    }

    fn at_least(what: &str, value: f64, limit: f64, why: &str) -> Self {
        let holds = limit <= value;
        let sign = if holds { ">=" } else { "<" };
        Self { holds, text: format!("{what} {value:.4} {sign} {limit:.4} ({why})") }
    }

    fn above(what: &str, value: f64, limit: f64, why: &str) -> Self {
        let holds = limit < value;
        let sign = if holds { ">" } else { "<=" };
        Self { holds, text: format!("{what} {value:.4} {sign} {limit:.4} ({why})") }
    }
}

pub(super) fn write(cells: &[Cell], out: &mut impl Write) -> io::Result<()> {
    let judged = by_fixture(cells).filter_map(|cells| Some((&cells[0], claims(cells)?)));
    let judged: Vec<(&Cell, Judged)> = judged.collect();
    if judged.is_empty() {
        return writeln!(out, "Goals of {JUDGED}: none can be judged by these cells\n");
    }
    let regimes = judged.chunk_by(|(a, _), (b, _)| a.regime == b.regime);
    let tallies: Vec<String> = regimes.map(tally).collect();
    writeln!(out, "Goals of {JUDGED}, held: {}", tallies.join(", "))?;
    for (cell, claims) in &judged {
        let (verdict, text) = match claims {
            Ok(claims) if all_hold(claims) => ("held  ", texts(claims)),
            Ok(claims) => ("missed", texts(claims)),
            Err(why) => ("not judged", why.clone()),
        };
        writeln!(out, "  {verdict}  {}, {}: {text}", cell.regime, cell.load)?;
    }
    writeln!(out)
}

fn texts(claims: &[Claim]) -> String {
    claims.iter().map(|claim| claim.text.as_str()).collect::<Vec<&str>>().join("; ")
}

fn all_hold(claims: &[Claim]) -> bool {
    claims.iter().all(|claim| claim.holds)
}

/// How many of a regime are held, of those that can be judged.
fn tally(regime: &[(&Cell, Judged)]) -> String {
    let claims: Vec<&Vec<Claim>> =
        regime.iter().filter_map(|(_, claims)| claims.as_ref().ok()).collect();
    let held = claims.iter().filter(|claims| all_hold(claims)).count();
    let counted = format!("{} {held} of {}", regime[0].0.regime, claims.len());
    match regime.len() - claims.len() {
        0 => counted,
        others => format!("{counted} ({others} not judged)"),
    }
}

/// What is claimed of one load in one regime. `None`: nothing can be said.
fn claims(cells: &[Cell]) -> Option<Judged> {
    let ours = cells.iter().find(|cell| cell.policy == JUDGED)?;
    let peers: Vec<&Cell> =
        cells.iter().filter(|cell| Role::of(&cell.policy) == Role::Peer).collect();
    let claims = match ours.regime.split('-').next().unwrap_or_default() {
        "A" => return Some(cheap(ours)),
        "B" => knee(ours, cells.iter().find(|cell| cell.policy == "told")?, &peers),
        "C" => dear(ours, &peers)?,
        "D" => overload(ours, &peers)?,
        _ => return None,
    };
    Some(Ok(claims))
}

fn cheap(ours: &Cell) -> Judged {
    let bound = ours.j_bound.ok_or_else(|| no_bound(ours))?;
    let cost = match bound <= IDLE_MINIMUM {
        true => Claim::at_most("J", ours.j.mean, 1.02 * bound, "1.02 x the bound"),
        false => Claim::at_most("J", ours.j.mean, 1.03 * bound, "1.03 x the bound"),
    };
    Ok(vec![cost, Claim::at_most("late %", late(ours), 0.1, "the most")])
}

fn knee(ours: &Cell, told: &Cell, peers: &[&Cell]) -> Vec<Claim> {
    let survives = |peer: &&&Cell| {
        late(peer) <= late(told) + SURVIVOR_LATE && told.done <= peer.done + SURVIVOR_UNDONE
    };
    let survivors: Vec<&&Cell> = peers.iter().filter(survives).collect();
    let least_late = survivors.iter().min_by(|a, b| late(a).total_cmp(&late(b)));
    let cheapest = survivors.iter().min_by(|a, b| a.j.mean.total_cmp(&b.j.mean));
    let near_told = Claim::at_most("late %", late(ours), late(told) + 2.0, "told + 2");
    let no_later = least_late.map(|peer| {
        let why = format!("{}, the best survivor", peer.policy);
        Claim::at_most("late %", late(ours), late(peer), &why)
    });
    let no_dearer = cheapest.map(|peer| {
        let why = format!("1.1 x {}, the cheapest survivor", peer.policy);
        Claim::at_most("J", ours.j.mean, 1.1 * peer.j.mean, &why)
    });
    no_later.into_iter().chain([near_told]).chain(no_dearer).collect()
}

fn dear(ours: &Cell, peers: &[&Cell]) -> Option<Vec<Claim>> {
    let best = peers.iter().min_by(|a, b| score(a).total_cmp(&score(b)))?;
    let why = format!("{}, the best peer", best.policy);
    Some(vec![
        Claim::below("J", ours.j.mean, best.j.mean, &why),
        Claim::at_most("late %", late(ours), late(best), &best.policy),
    ])
}

fn overload(ours: &Cell, peers: &[&Cell]) -> Option<Vec<Claim>> {
    let best = peers.iter().max_by(|a, b| a.goodput.total_cmp(&b.goodput))?;
    let why = format!("{}, the best peer", best.policy);
    let holds_all = 1.0 <= ours.goodput;
    Some(vec![match holds_all {
        // Nobody can do better than everything.
        true => Claim::at_least("goodput", ours.goodput, best.goodput, &why),
        false => Claim::above("goodput", ours.goodput, best.goodput, &why),
    }])
}

fn late(cell: &Cell) -> f64 {
    cell.late_percent.mean
}

#[cfg(test)]
mod tests {
    use super::super::standing::tests::cell;
    use super::*;

    /// Policies with late % and J, and what is said of the first.
    fn check(regime: &str, rows: &[(&str, f64, f64)], expected: &str) {
        let cells = rows.iter().map(|(policy, late, j)| cell(regime, policy, *late, *j));
        let cells: Vec<Cell> = cells.collect();
        let mut out = Vec::new();
        write(&cells, &mut out).expect("memory can be written");
        let told = String::from_utf8(out).expect("text");
        let told: Vec<&str> = told.lines().skip(1).map(str::trim).collect();
        assert_eq!(told.join("\n").trim_end(), expected);
    }

    #[test]
    fn cheap_workers_are_held_to_the_bound() {
        check(
            "A",
            &[("slo", 0.05, 1.015)],
            "held    A, step: J 1.015 <= 1.020 (1.02 x the bound); late % 0.050 <= 0.100 (the \
             most)",
        );
        check(
            "A",
            &[("slo", 0.2, 1.021)],
            "missed  A, step: J 1.021 > 1.020 (1.02 x the bound); late % 0.200 > 0.100 (the most)",
        );
    }

    #[test]
    fn at_a_knee_only_survivors_are_compared_with() {
        let fallen = ("hpa", 60.0, 0.5);
        let (told, peer) = (("told", 3.0, 1.4), ("hill_climb", 10.0, 1.1));
        check(
            "B-knee",
            &[("slo", 4.0, 1.2), told, fallen, peer],
            "held    B-knee, step: late % 4.000 <= 10.000 (hill_climb, the best survivor); late % \
             4.000 <= 5.000 (told + 2); J 1.200 <= 1.210 (1.1 x hill_climb, the cheapest survivor)",
        );
        check(
            "B-knee",
            &[("slo", 11.0, 1.3), told, fallen, peer],
            "missed  B-knee, step: late % 11.000 > 10.000 (hill_climb, the best survivor); late % \
             11.000 > 5.000 (told + 2); J 1.300 > 1.210 (1.1 x hill_climb, the cheapest survivor)",
        );
    }

    #[test]
    fn without_its_bound_a_load_is_not_judged() {
        let bounded = cell("A", "slo", 0.05, 1.0);
        let load = "ramp".to_owned();
        let unbounded = Cell { load, j_bound: None, ..cell("A", "slo", 0.05, 9.0) };
        let mut out = Vec::new();
        write(&[bounded, unbounded], &mut out).expect("memory can be written");
        let told = String::from_utf8(out).expect("text");
        assert!(told.starts_with("Goals of slo, held: A 1 of 1 (1 not judged)\n"), "{told}");
        assert!(told.contains("\n  not judged  A, ramp: there is no bound\n"), "{told}");
    }

    /// Whoever leaves work undone is cheap, and is no example.
    #[test]
    fn who_left_the_work_undone_did_not_survive() {
        let lazy = Cell { done: 0.5, ..cell("B-knee", "vegas", 9.0, 0.45) };
        let cells = [
            cell("B-knee", "slo", 4.0, 1.2),
            cell("B-knee", "told", 3.0, 1.4),
            lazy,
            cell("B-knee", "hill_climb", 10.0, 1.1),
        ];
        let mut out = Vec::new();
        write(&cells, &mut out).expect("memory can be written");
        let told = String::from_utf8(out).expect("text");
        assert!(told.contains("1.1 x hill_climb, the cheapest survivor"), "{told}");
        assert!(!told.contains("vegas"), "{told}");
    }

    #[test]
    fn dear_workers_and_overload_are_held_to_the_best_peer() {
        check(
            "C",
            &[("slo", 0.4, 1.8), ("keda", 0.4, 1.9), ("ds2", 3.0, 1.7)],
            "held    C, step: J 1.800 < 1.900 (keda, the best peer); late % 0.400 <= 0.400 (keda)",
        );
        check(
            "D",
            &[("slo", 20.0, 1.0), ("on_demand", 20.0, 1.0), ("on_demand+deadlines", 1.0, 1.0)],
            "missed  D, step: goodput 0.8000 <= 0.8000 (on_demand, the best peer)",
        );
        check(
            "D",
            &[("slo", 0.0, 1.0), ("on_demand", 0.0, 1.0)],
            "held    D, step: goodput 1.0000 >= 1.0000 (on_demand, the best peer)",
        );
    }

    #[test]
    fn what_is_held_is_counted_by_regime() {
        let cells = [
            Cell { load: "ramp".to_owned(), ..cell("A", "slo", 9.0, 1.0) },
            cell("A", "slo", 0.0, 1.0),
            cell("C", "slo", 0.0, 1.0),
            cell("C", "hpa", 0.0, 2.0),
        ];
        let mut out = Vec::new();
        write(&cells, &mut out).expect("memory can be written");
        let told = String::from_utf8(out).expect("text");
        assert_eq!(told.lines().next(), Some("Goals of slo, held: A 1 of 2, C 1 of 1"));
    }

    #[test]
    fn what_did_not_play_is_not_judged() {
        check("B-knee", &[("slo", 4.0, 1.2)], "");
        check("C", &[("keda", 0.4, 1.8)], "");
        check("E", &[("slo", 4.0, 1.2), ("hpa", 9.0, 1.2)], "");
    }
}
