//! `docs/job-states.md` draws the states as they are.

use headcount_queue::jobs::{Event, State, transition};

const DRAWN: &str = include_str!("../../../docs/job-states.md");

/// The first words of the rows of the table with this head.
fn rows(head: &str) -> Vec<(&'static str, &'static str)> {
    let begin = DRAWN.find(head).expect("the table is there");
    let rows = DRAWN[begin..].lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        (cells[0], *cells.last().expect("a row has cells"))
    })
    .collect()
}

#[test]
fn every_state_is_told_in_its_order() {
    let told = rows("| State |");
    let states =
        State::ALL.map(|state| (state.as_str(), if state.is_final() { "yes" } else { "no" }));
    assert_eq!(told, states);
}

#[test]
fn every_event_is_told_in_its_order() {
    let told: Vec<&str> = rows("| Event |").into_iter().map(|(event, _)| event).collect();
    assert_eq!(told, Event::ALL.map(Event::as_str));
}

#[test]
fn every_step_is_drawn_and_no_other() {
    let arrows = DRAWN.lines().map(str::trim).filter(|line| line.contains("-->"));
    let mut drawn: Vec<String> =
        arrows.filter(|arrow| !arrow.contains("[*]")).map(str::to_owned).collect();
    let mut steps = Vec::new();
    for state in State::ALL {
        for event in Event::ALL {
            let next = transition(state, event).ok();
            steps.extend(next.map(|next| format!("{state} --> {next}: {event}")));
        }
    }
    drawn.sort();
    steps.sort();
    assert_eq!(drawn, steps);
}
