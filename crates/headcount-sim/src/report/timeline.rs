//! Runs over one axis of time.

use std::time::Duration;

use super::panel::{NOTHING, Panel};
use super::scale::{Scale, short, short_span};
use super::series::{Point, Remark, Report, Run};
use super::svg::{Svg, px, shortened};
use super::theme::run_class;
use super::thin::thinned;

/// So many runs are drawn; a picture of more is no picture.
const RUNS_MAX: usize = 16;
/// Decisions closer than this share a mark.
const MARK_WIDTH: f64 = 5.0;
/// So many decisions are told by one mark.
const TOLD_MAX: usize = 6;

const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 104.0;
const RIGHT: f64 = 18.0;
const HEAD: f64 = 30.0;
const SIZE_HEIGHT: f64 = 120.0;
const WAITING_HEIGHT: f64 = 100.0;
const WAIT_HEIGHT: f64 = 150.0;
const LANE_HEIGHT: f64 = 22.0;
const NAME_CHARS_MAX: usize = 32;
const LANE_CHARS_MAX: usize = 13;

/// Draws runs over one axis of time, as an SVG picture.
///
/// From top to bottom: the workers of each run against its demand, on one scale; how many jobs
/// wait; how long they waited, with the promise; what was decided.
///
/// ```
/// use headcount_core::Timestamp;
/// use headcount_sim::report::{Point, Report, Run, timeline};
///
/// let point = |secs| Point { at: Timestamp::from_secs(secs), live: 2.0, ..Point::default() };
/// let points = (0..9).map(point).collect();
/// let run = Run { name: "a < b".to_owned(), points, ..Run::default() };
/// let picture = timeline(&Report { runs: vec![run], ..Report::default() });
/// assert!(picture.starts_with("<svg") && picture.contains("a &lt; b"));
/// ```
#[must_use]
pub fn timeline(report: &Report) -> String {
    drawn(report).done()
}

pub(super) fn drawn(report: &Report) -> Svg {
    let runs = &report.runs[..report.runs.len().min(RUNS_MAX)];
    let legend = Legend::of(report, runs);
    let mut layout = Layout { next: legend.bottom(), time: time_scale(runs) };
    let sizes: Vec<Panel> =
        runs.iter().map(|_| layout.panel(SIZE_HEIGHT, size_scale(runs))).collect();
    let waiting = layout.panel(WAITING_HEIGHT, waiting_scale(runs));
    let waits = layout.panel(WAIT_HEIGHT, wait_scale(report, runs));
    let lanes =
        layout.panel(LANE_HEIGHT * runs.len().max(1) as f64, Scale::Linear { min: 0.0, max: 1.0 });

    let height = lanes.bottom() + 46.0;
    Svg::picture(WIDTH, height, |svg| {
        svg.say("title", &[], &report.title);
        legend.draw(svg);
        for (number, (run, panel)) in runs.iter().zip(&sizes).enumerate() {
            draw_size(svg, panel, run, number);
        }
        draw_waiting(svg, &waiting, runs);
        draw_waits(svg, &waits, runs, report.wait_promised);
        draw_decisions(svg, &lanes, runs);
        lanes.time_axis(svg);
    })
}

/// Where the next panel goes.
struct Layout {
    next: f64,
    time: Scale,
}

impl Layout {
    fn panel(&mut self, height: f64, values: Scale) -> Panel {
        let top = self.next + HEAD;
        self.next = top + height;
        let width = WIDTH - LEFT - RIGHT;
        Panel { left: LEFT, top, width, height, time: self.time, values }
    }
}

fn points(runs: &[Run]) -> impl Iterator<Item = &Point> {
    runs.iter().flat_map(|run| &run.points)
}

fn time_scale(runs: &[Run]) -> Scale {
    let ends = runs.iter().map(end);
    let told = runs.iter().flat_map(|run| run.decisions.iter().map(|remark| seconds(remark.at)));
    let begins = points(runs).map(|point| seconds(point.at)).chain(told.clone());
    let min = begins.fold(f64::INFINITY, f64::min);
    let max = ends.chain(told).fold(f64::NEG_INFINITY, f64::max);
    match min < max {
        true => Scale::Linear { min, max },
        false => Scale::Linear { min: 0.0, max: 1.0 },
    }
}

/// Where the last step of a run ends: it is as long as the one before it.
fn end(run: &Run) -> f64 {
    match run.points.as_slice() {
        [.., before, last] => seconds(last.at) + last.at.since(before.at).as_secs_f64(),
        [last] => seconds(last.at) + 1.0,
        [] => f64::NEG_INFINITY,
    }
}

fn size_scale(runs: &[Run]) -> Scale {
    Scale::from_zero(points(runs).flat_map(|point| [point.live, point.demand, point.floor]))
}

fn waiting_scale(runs: &[Run]) -> Scale {
    Scale::from_zero(points(runs).map(|point| point.waiting))
}

/// A hundredth of the promise is as good as nothing, so waits below it share the lowest place.
fn wait_scale(report: &Report, runs: &[Run]) -> Scale {
    let promised = report.wait_promised.map(|promised| promised.as_secs_f64());
    let least = promised.map_or(1e-6, |promised| promised / 100.0);
    let waits = points(runs).filter_map(|point| point.wait_p99).map(|wait| wait.as_secs_f64());
    Scale::decades(waits.filter(|wait| 0.0 < *wait).map(|wait| wait.max(least)).chain(promised))
}

fn draw_size(svg: &mut Svg, panel: &Panel, run: &Run, number: usize) {
    let demand = panel.area(&line(run, |point| point.demand));
    svg.leaf("path", &[("class", "demand"), ("d", &demand)]);
    panel.frame(svg, &format!("workers: {}", shortened(&run.name, NAME_CHARS_MAX)), short);
    let class = run_class(number);
    for bound in [line(run, |point| point.floor), line(run, |point| point.ceiling)] {
        let class = format!("bound {class}");
        svg.leaf("path", &[("class", &class), ("d", &panel.steps(&bound))]);
    }
    draw_line(svg, &class, &panel.steps(&line(run, |point| point.live)));
}

fn draw_waiting(svg: &mut Svg, panel: &Panel, runs: &[Run]) {
    panel.frame(svg, "jobs waiting", short);
    for (number, run) in runs.iter().enumerate() {
        let line = line(run, |point| point.waiting);
        draw_line(svg, &run_class(number), &panel.steps(&line));
    }
}

fn draw_waits(svg: &mut Svg, panel: &Panel, runs: &[Run], promised: Option<Duration>) {
    let lowest = panel.values.marks().into_iter().fold(f64::INFINITY, f64::min);
    panel.frame(svg, "wait of 99 in 100 jobs, at most", |mark| match mark <= lowest {
        true => format!("≤ {}", short_span(mark)),
        false => short_span(mark),
    });
    for (number, run) in runs.iter().enumerate() {
        let wait = |point: &Point| point.wait_p99.map_or(NOTHING, |wait| wait.as_secs_f64());
        draw_line(svg, &run_class(number), &panel.steps(&line(run, wait)));
    }
    if let Some(promised) = promised {
        let y = panel.y(promised.as_secs_f64());
        svg.line("promise", (panel.left, y), (panel.left + panel.width, y));
    }
}

fn draw_line(svg: &mut Svg, class: &str, path: &str) {
    svg.leaf("path", &[("class", &format!("line {class}")), ("d", path)]);
}

/// One number of a run over time, up to the end of its last step.
fn line(run: &Run, of: impl Fn(&Point) -> f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> =
        run.points.iter().map(|point| (seconds(point.at), of(point))).collect();
    let last = points.iter().rfind(|(_, value)| value.is_finite()).map(|(_, value)| *value);
    points.extend(last.map(|value| (end(run), value)));
    thinned(points)
}

fn draw_decisions(svg: &mut Svg, panel: &Panel, runs: &[Run]) {
    svg.label("head", panel.left, panel.top - 7.0, "decisions (point at one to read it)");
    panel.time_grid(svg);
    for (number, run) in runs.iter().enumerate() {
        let top = panel.top + LANE_HEIGHT * number as f64;
        let name = shortened(&run.name, LANE_CHARS_MAX);
        svg.label("faint right", panel.left - 8.0, top + 15.0, &name);
        let base = top + LANE_HEIGHT - 3.0;
        svg.line("grid", (panel.left, base), (panel.left + panel.width, base));
        for group in grouped(panel, &run.decisions) {
            draw_mark(svg, panel, &group, (top, number));
        }
    }
}

/// Decisions that share a mark: those whose places are closer than it is wide.
fn grouped<'a>(panel: &Panel, decisions: &'a [Remark]) -> Vec<Vec<&'a Remark>> {
    let mut groups: Vec<Vec<&Remark>> = Vec::new();
    for remark in decisions {
        let near = |group: &Vec<&Remark>| {
            let first = panel.x(seconds(group[0].at));
            (panel.x(seconds(remark.at)) - first).abs() < MARK_WIDTH
        };
        match groups.last_mut().filter(|group| near(group)) {
            Some(group) => group.push(remark),
            None => groups.push(vec![remark]),
        }
    }
    groups
}

fn draw_mark(svg: &mut Svg, panel: &Panel, group: &[&Remark], (top, number): (f64, usize)) {
    let told = group.iter().take(TOLD_MAX).map(|remark| format!("{}: {}", remark.at, remark.text));
    let mut told: Vec<String> = told.collect();
    if TOLD_MAX < group.len() {
        told.push(format!("and {} more", group.len() - TOLD_MAX));
    }
    let x = px(panel.x(seconds(group[0].at)) - 1.0);
    // More decisions make a taller mark.
    let height = (6.0 + 2.0 * group.len() as f64).min(LANE_HEIGHT - 5.0);
    let y = px(top + LANE_HEIGHT - 3.0 - height);
    let class = format!("f{}", run_class(number));
    let places =
        [("class", class.as_str()), ("x", &x), ("y", &y), ("width", "4"), ("height", &px(height))];
    svg.within("rect", &places, |svg| svg.say("title", &[], &told.join("\n")));
}

fn seconds(at: headcount_core::Timestamp) -> f64 {
    Duration::from_nanos(at.as_nanos()).as_secs_f64()
}

/// What the colours mean, in as many rows as it takes.
struct Legend<'a> {
    report: &'a Report,
    /// A class for the sign, the words, and where they go.
    entries: Vec<(String, String, f64, f64)>,
    left_out: usize,
}

impl<'a> Legend<'a> {
    fn of(report: &'a Report, runs: &[Run]) -> Self {
        let names = runs.iter().enumerate().map(|(number, run)| {
            (format!("line {}", run_class(number)), shortened(&run.name, NAME_CHARS_MAX))
        });
        let mut words: Vec<(String, String)> = names.collect();
        words.push(("demand".to_owned(), "demand".to_owned()));
        words.push(("bound frame".to_owned(), "floor and ceiling".to_owned()));
        if let Some(promised) = report.wait_promised {
            let promised = format!("promised wait {}", short_span(promised.as_secs_f64()));
            words.push(("promise".to_owned(), promised));
        }
        let (mut x, mut y) = (LEFT, 72.0);
        let mut entries = Vec::new();
        for (class, text) in words {
            // Letters are some 6.6 wide; a name of wide ones may still touch the next.
            let width = 44.0 + 6.6 * text.chars().count() as f64;
            if WIDTH - RIGHT < x + width {
                (x, y) = (LEFT, y + 20.0);
            }
            entries.push((class, text, x, y));
            x += width;
        }
        Self { report, entries, left_out: report.runs.len() - runs.len() }
    }

    fn bottom(&self) -> f64 {
        self.entries.last().map_or(72.0, |(.., y)| *y) + 8.0
    }

    fn draw(&self, svg: &mut Svg) {
        svg.label("title", LEFT, 28.0, &shortened(&self.report.title, 90));
        let left_out = match self.left_out {
            0 => String::new(),
            runs => format!(" ({runs} more runs are not drawn)"),
        };
        let subtitle = shortened(&self.report.subtitle, 130) + &left_out;
        svg.label("faint", LEFT, 47.0, &subtitle);
        for (class, text, x, y) in &self.entries {
            match class.as_str() {
                "demand" => {
                    let (x, y) = (px(*x), px(y - 10.0));
                    let places = [("x", x.as_str()), ("y", &y), ("width", "20"), ("height", "12")];
                    svg.leaf("rect", &[&[("class", "demand")], places.as_slice()].concat());
                }
                class => svg.line(class, (*x, y - 4.0), (x + 20.0, y - 4.0)),
            }
            svg.label("name", x + 26.0, *y, text);
        }
    }
}
