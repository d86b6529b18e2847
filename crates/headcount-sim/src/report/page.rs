//! One HTML page that needs nothing else.

use super::series::{Remark, Report, Run, Table};
use super::svg::Svg;
use super::theme;
use super::timeline;

/// So many decisions of a run are listed; the picture has a mark for each.
pub const DECISIONS_LISTED_MAX: usize = 500;

/// Writes the page: the table, the picture, and the decisions of each run as a list.
///
/// ```
/// use headcount_sim::report::{Report, page};
///
/// let html = page(&Report { title: "<script>".to_owned(), ..Report::default() });
/// assert!(html.starts_with("<!DOCTYPE html>"));
/// assert!(!html.contains("<script"));
/// ```
#[must_use]
pub fn page(report: &Report) -> String {
    let mut page = Svg::default();
    page.within("html", &[("lang", "en")], |page| {
        page.within("head", &[], |page| head(page, &report.title));
        page.within("body", &[], |page| {
            page.say("h1", &[], &report.title);
            page.say("p", &[("class", "subtitle")], &report.subtitle);
            if !report.summary.columns.is_empty() {
                table(page, &report.summary);
            }
            page.within("div", &[("class", "wide")], |page| page.put(&timeline::drawn(report)));
            page.say("h2", &[], "Decisions");
            for run in &report.runs {
                decisions(page, run);
            }
        });
    });
    format!("<!DOCTYPE html>\n{}", page.done())
}

fn head(page: &mut Svg, title: &str) {
    page.leaf("meta", &[("charset", "utf-8")]);
    page.leaf("meta", &[("name", "viewport"), ("content", "width=device-width")]);
    // Whatever a name might bring along: nothing runs and nothing is fetched.
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    page.leaf("meta", &[("http-equiv", "Content-Security-Policy"), ("content", policy)]);
    page.leaf("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    page.say("title", &[], title);
    page.say("style", &[], &theme::page_style());
}

fn table(page: &mut Svg, table: &Table) {
    page.within("div", &[("class", "wide")], |page| {
        page.within("table", &[], |page| {
            page.within("thead", &[], |page| row(page, "th", &table.columns, table));
            page.within("tbody", &[], |page| {
                for cells in &table.rows {
                    row(page, "td", cells, table);
                }
            });
        });
    });
}

fn row(page: &mut Svg, cell: &str, cells: &[String], table: &Table) {
    page.within("tr", &[], |page| {
        for index in 0..table.columns.len() {
            page.say(cell, &[], cells.get(index).map_or("", String::as_str));
        }
    });
}

fn decisions(page: &mut Svg, run: &Run) {
    page.within("details", &[], |page| {
        let count = run.decisions.len();
        page.say("summary", &[], &format!("{}: {count} decisions", run.name));
        page.within("ol", &[], |page| {
            for remark in run.decisions.iter().take(DECISIONS_LISTED_MAX) {
                decision(page, remark);
            }
        });
        if DECISIONS_LISTED_MAX < count {
            let rest = count - DECISIONS_LISTED_MAX;
            page.say("p", &[("class", "subtitle")], &format!("{rest} more are not listed."));
        }
    });
}

fn decision(page: &mut Svg, remark: &Remark) {
    page.within("li", &[], |page| {
        page.say("time", &[], &remark.at.to_string());
        page.text(" ");
        page.text(&remark.text);
    });
}
