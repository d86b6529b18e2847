//! Pictures are well-formed, whatever stands in them, and show all that they promise.

use std::time::Duration;

use headcount_core::Timestamp;
use roxmltree::{Document, Node, ParsingOptions};

use super::*;

const HOSTILE: &str =
    "<script>alert('x')</script>\u{0}\u{1b}]]>&amp;\"--><svg onload=\"y\"> \u{fffe}é";

fn report(runs: usize, points: u32) -> Report {
    let run = |number: usize| Run {
        name: format!("policy {number}"),
        points: (0..points).map(|at| point(at, number)).collect(),
        decisions: (0..points / 20).map(remark).collect(),
    };
    Report {
        title: "A morning".to_owned(),
        subtitle: "seed 7".to_owned(),
        wait_promised: Some(Duration::from_secs(1)),
        runs: (0..runs).map(run).collect(),
        summary: Table {
            columns: vec!["policy".to_owned(), "J".to_owned()],
            rows: vec![vec!["policy 0".to_owned()]],
        },
    }
}

fn point(at: u32, number: usize) -> Point {
    let swing = f64::from(at % 100);
    Point {
        at: Timestamp::from_secs(u64::from(at)),
        live: swing + number as f64,
        floor: 1.0,
        ceiling: 400.0,
        demand: swing,
        waiting: f64::from(at % 7),
        wait_p99: (!at.is_multiple_of(5)).then(|| Duration::from_millis(u64::from(at % 3_000))),
    }
}

fn remark(number: u32) -> Remark {
    let at = Timestamp::from_secs(u64::from(number * 20));
    Remark { at, text: format!("decision {number}") }
}

fn parsed(text: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).unwrap_or_else(|error| panic!("{error}"))
}

fn of_class<'a>(document: &'a Document<'_>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|found| found.split(' ').any(|word| word == class))
    };
    document.descendants().filter(has).collect()
}

fn texts(document: &Document<'_>) -> String {
    document.descendants().filter_map(|node| node.text()).collect::<Vec<_>>().join("|")
}

#[test]
fn every_run_has_its_lines_and_its_name() {
    let picture = timeline(&report(3, 500));
    let document = parsed(&picture);
    for number in 0..3 {
        let lines = of_class(&document, &format!("r{number}"));
        let drawn = |kind: &str| {
            let is = |node: &&Node<'_, '_>| {
                node.has_tag_name((SVG, "path")) && node.attribute("class").unwrap().contains(kind)
            };
            lines.iter().filter(is).count()
        };
        assert_eq!((drawn("line"), drawn("bound")), (3, 2), "size, waiting, wait; floor, ceiling");
    }
    assert!(texts(&document).contains("|workers: policy 2|"), "{}", texts(&document));
    assert_eq!(of_class(&document, "promise").len(), 2, "in the panel and in the legend");
}

const SVG: &str = "http://www.w3.org/2000/svg";

#[test]
fn a_line_has_a_step_for_each_point_up_to_the_limit() {
    for (points, steps_expected) in [(10, 10..=10), (1_500, 1_500..=1_500), (50_000, 1_000..=2_000)]
    {
        let picture = timeline(&report(1, points));
        let document = parsed(&picture);
        let lines = of_class(&document, "line");
        let path = lines.iter().find_map(|node| node.attribute("d")).unwrap();
        // One more step leads to the end of the last point.
        let steps = path.matches('H').count();
        assert!(steps_expected.contains(&steps), "{steps} of {points}");
        assert!(picture.len() < 400_000, "{} bytes", picture.len());
    }
}

#[test]
fn a_ceiling_above_the_picture_is_not_drawn_at_its_edge() {
    let mut report = report(1, 100);
    report.runs[0].points[40..60].iter_mut().for_each(|point| point.ceiling = 50.0);
    let picture = timeline(&report);
    let document = parsed(&picture);
    let paths: Vec<_> = of_class(&document, "bound").iter().map(|n| n.attribute("d")).collect();
    let ceiling = paths[2].unwrap();
    assert_eq!(ceiling.matches('M').count(), 1, "{ceiling}");
    assert_eq!(ceiling.matches('H').count(), 20, "{ceiling}");
}

#[test]
fn where_nobody_began_there_is_a_gap() {
    let mut report = report(1, 9);
    let waits = [1, 0, 2, 2, 0, 0, 3, 0, 0].map(|ms| (0 < ms).then(|| Duration::from_millis(ms)));
    for (point, wait) in report.runs[0].points.iter_mut().zip(waits) {
        point.wait_p99 = wait;
    }
    let picture = timeline(&report);
    let document = parsed(&picture);
    let lines = of_class(&document, "line");
    let wait = lines.last().and_then(|node| node.attribute("d")).unwrap();
    assert_eq!((wait.matches('M').count(), wait.matches('H').count()), (3, 4), "{wait}");
}

#[test]
fn decisions_are_marks_that_tell_and_lists_that_end() {
    let html = page(&report(1, 20_000));
    let document = parsed(&html);
    let marks = of_class(&document, "fr0");
    assert!(100 < marks.len() && marks.len() <= 190, "{} marks", marks.len());
    let told = texts(&document);
    assert!(told.contains("0.000 s: decision 0\n20.000 s: decision 1\n"), "on the mark");
    let items = document.descendants().filter(|node| node.has_tag_name("li")).count();
    assert_eq!(items, DECISIONS_LISTED_MAX);
    assert!(told.contains("500 more are not listed."), "{told}");
}

#[test]
fn hostile_texts_stay_texts() {
    let mut report = report(2, 50);
    report.title = HOSTILE.to_owned();
    report.subtitle = HOSTILE.to_owned();
    report.runs[0].name = HOSTILE.to_owned();
    report.runs[1].decisions[0].text = HOSTILE.to_owned();
    report.summary.columns[0] = HOSTILE.to_owned();
    report.summary.rows[0][0] = HOSTILE.to_owned();
    let point = ScatterPoint { name: HOSTILE.to_owned(), x: 1.0, y: 1.0, is_ours: true };
    let scatter = Scatter {
        title: HOSTILE.to_owned(),
        x_name: HOSTILE.to_owned(),
        y_name: HOSTILE.to_owned(),
        points: vec![point],
    };
    for text in [timeline(&report), page(&report), scatter.svg()] {
        let document = parsed(&text);
        assert!(!text.contains("<script") && !text.contains("onload=\""), "{text}");
        assert!(document.descendants().all(|node| node.tag_name().name() != "script"));
        assert!(texts(&document).contains("<script>alert('x')</script>"));
    }
}

#[test]
fn nothing_is_fetched() {
    let html = page(&report(2, 50));
    let links = html.replace(SVG, "").matches("://").count();
    assert_eq!((links, html.matches("url(").count()), (0, 0));
}

#[test]
fn strange_numbers_and_empty_runs_make_a_picture_too() {
    let mut strange = report(2, 3);
    strange.runs[0].points[1].live = f64::NAN;
    strange.runs[0].points[2].demand = f64::INFINITY;
    strange.runs[1].points.clear();
    strange.runs[1].decisions.clear();
    let one = Report {
        runs: vec![Run { points: vec![point(7, 0)], ..Run::default() }],
        ..strange.clone()
    };
    let many = report(30, 10);
    for report in [Report::default(), strange, one, many] {
        for text in [timeline(&report), page(&report)] {
            parsed(&text);
            assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
        }
    }
    let point = |x, y| ScatterPoint { name: "p".to_owned(), x, y, is_ours: false };
    let odd = vec![point(f64::NAN, -1.0), point(0.0, f64::INFINITY), point(1e300, 1e-300)];
    for points in [Vec::new(), odd, vec![point(1.0, 0.0); 80]] {
        let text = Scatter { points, ..Scatter::default() }.svg();
        parsed(&text);
        assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
    }
}

#[test]
fn names_of_points_do_not_cover_each_other() {
    let point = |number: u32| ScatterPoint {
        name: format!("policy {number}"),
        x: 1.0 + f64::from(number % 4) / 100.0,
        y: f64::from(number) / 50.0,
        is_ours: number == 3,
    };
    let text = Scatter { points: (0..16).map(point).collect(), ..Scatter::default() }.svg();
    let document = parsed(&text);
    let names = [of_class(&document, "name"), of_class(&document, "strong")].concat();
    assert_eq!(names.len(), 16);
    let place = |node: &Node<'_, '_>, key| node.attribute(key).unwrap().parse::<f64>().unwrap();
    for (index, one) in names.iter().enumerate() {
        for other in &names[index + 1..] {
            let apart_x = (place(one, "x") - place(other, "x")).abs();
            let apart_y = (place(one, "y") - place(other, "y")).abs();
            assert!(50.0 < apart_x || 12.0 < apart_y, "{:?} {:?}", one.text(), other.text());
        }
    }
}
