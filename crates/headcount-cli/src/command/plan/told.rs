//! The answer in words, with the arithmetic.

use std::fmt::{self, Write};

use headcount_sim::maths::{Measured, Service, Slo, Traffic, WORKERS_MAX, erlang_c};
use headcount_sim::plan::{Floor, NoPlan, Plan, Rates, Standing};

use super::words::{bytes, jobs_wait, number, promise, rate, share, span, workers};

/// Beyond this variation, and beyond these bursts, one promise of the formulas in ten and more is
/// off by more than a factor of two.
const VARIABILITY_MAX: f64 = 2.5;
const BURSTS_MAX: f64 = 3.0;
/// Below this arrivals are so even that far fewer wait than the formulas say.
const EVEN_MAX: f64 = 0.5;

/// Why there is no plan.
pub(super) fn no_plan(why: &NoPlan) -> String {
    match why {
        NoPlan::ServiceAlone { late, share: may, limit, limit_least } => format!(
            "no number of workers can keep this: the service alone takes longer than {} for {} of \
             the jobs, and {} may be late; ask for more than {}, or make the work itself faster",
            span(*limit),
            share(*late),
            share(*may),
            span(*limit_least)
        ),
        other => other.to_string(),
    }
}

/// The answer for one pool.
pub(super) fn pool(plan: &Plan, rates: Option<&Rates>) -> String {
    let mut text = Text::default();
    let slo = &plan.question.slo;
    let keep = match plan.at.workers {
        1 => "1 worker keeps".to_owned(),
        many => format!("{many} workers keep"),
    };
    text.line(format_args!(
        "{keep} {} for all but {} of the jobs; {} may be late.",
        promise(slo),
        share(plan.at.late),
        share(slo.share())
    ));
    to_set(&mut text, plan);
    to_know(&mut text, plan);
    what_if(&mut text, plan);
    text.head("How it comes about");
    if let Some(rates) = rates {
        record(&mut text, rates, slo);
    }
    arithmetic(&mut text, plan);
    if let Some(caution) = caution(&plan.question.traffic) {
        text.line(format_args!("\n{caution}"));
    }
    text.0
}

/// What to know before one relies on the formulas.
pub(super) fn caution(traffic: &Traffic) -> Option<&'static str> {
    let (bursts, variability) = (traffic.arrivals_scv(), traffic.variability());
    match () {
        () if BURSTS_MAX < bursts || VARIABILITY_MAX < variability => Some(
            "So much variation makes the formulas a rough guide, off by more than a factor of two \
             at times: try it before you rely on it.",
        ),
        () if bursts < EVEN_MAX => Some(
            "Arrivals as even as this make the formulas a rough guide on the safe side: fewer \
             workers may do.",
        ),
        () => None,
    }
}

fn to_set(text: &mut Text, plan: &Plan) {
    let (bounds, question) = (&plan.bounds, &plan.question);
    let (spawn, patience) = (span(question.spawn), span(question.patience()));
    text.head("To set");
    let why = match bounds.floor_is_for {
        Floor::Presence => format!("others start in {spawn}, in time for a wait of {patience}"),
        Floor::QuietLoad => {
            let quiet = rate(question.quiet_rate.unwrap_or(0.0));
            format!("what the quietest load needs, {quiet}; others start in {spawn}, in time")
        }
        Floor::BusyLoad => {
            format!("a worker takes {spawn} to start, too long for a wait of {patience}")
        }
    };
    text.bound("floor", bounds.floor, &why);
    text.bound("initial", bounds.initial, "what the load needs");
    text.bound("ceiling", bounds.ceiling, ceiling_is_for(plan));
    if let Some(memory) = plan.memory {
        text.item(
            "memory",
            format_args!(
                "{} at the floor, {} with {}, {} at the ceiling",
                bytes(memory.floor),
                bytes(memory.initial),
                workers(bounds.initial),
                bytes(memory.ceiling)
            ),
        );
    }
}

fn ceiling_is_for(plan: &Plan) -> &'static str {
    match plan.doubling.workers {
        Some(_) => "what twice the load needs",
        None => "as many as are looked for; twice the load needs more",
    }
}

fn to_know(text: &mut Text, plan: &Plan) {
    text.head("To know");
    let most = plan.at.rate_max.unwrap_or(0.0);
    let more = share(plan.headroom());
    text.item("headroom", format_args!("up to {}, {more} more than planned for", rate(most)));
    text.item("doubling", format_args!("{} needs {}", rate(plan.doubling.rate), doubled(plan)));
    if let Some(present) = plan.present {
        let today = workers(present.workers);
        match present.standing {
            Some(standing) => {
                let most = standing.rate_max.map_or("nothing".to_owned(), rate);
                let late = share(standing.late);
                let verdict = verdict(&standing, &plan.question.slo);
                text.item(
                    "today",
                    format_args!("{today}: {late} late, {verdict}; good for {most}"),
                );
            }
            None => {
                let verb = if present.workers == 1 { "does" } else { "do" };
                let told = format_args!("{today} {verb} not keep up: the line only grows");
                text.item("today", told);
            }
        }
    }
}

fn doubled(plan: &Plan) -> String {
    let Some(needed) = plan.doubling.workers else {
        return "more workers than are looked for".to_owned();
    };
    let times = f64::from(needed) / f64::from(plan.at.workers);
    format!("{}, {} times as many", workers(needed), number(times))
}

fn verdict(standing: &Standing, slo: &Slo) -> &'static str {
    match standing.late <= slo.share() {
        true => "enough",
        false => "too many",
    }
}

fn what_if(text: &mut Text, plan: &Plan) {
    text.head("What if");
    for what_if in &plan.what_ifs {
        let change = what_if.change;
        match what_if.workers {
            Ok(count) => {
                let more = i64::from(count) - i64::from(plan.at.workers);
                text.line(format_args!("  {change:<24}{} ({more:+})", workers(count)));
            }
            Err(NoPlan::TooMany { .. }) => {
                text.line(format_args!("  {change:<24}more than {WORKERS_MAX} workers"));
            }
            Err(_) => text.line(format_args!("  {change:<24}no number of workers would do")),
        }
    }
}

/// What the record of arrivals told.
pub(super) fn record(text: &mut Text, rates: &Rates, slo: &Slo) {
    let (mean, few) = (rate(rates.mean), rate(rates.exceeded_by_few));
    let window = span(rates.window);
    text.item(
        "arrivals",
        format_args!("{} in {}, {mean} on average", rates.arrivals, span(rates.span)),
    );
    text.item(
        "windows",
        format_args!(
            "of {window}: {} in the quietest, {} in the busiest, from {} on",
            rate(rates.quietest),
            rate(rates.busiest),
            span(rates.busiest_from)
        ),
    );
    let share = share(slo.share());
    text.item(
        "bursts",
        format_args!("no more than {share} of the jobs come in windows busier than {few}"),
    );
    let planned = rate(rates.planned);
    match rates.dispersion {
        Some(index) if 1.0 < index => {
            let index = number(index);
            text.item(
                "rate",
                format_args!(
                    "{mean} + ({few} - {mean}) x sqrt(1 - 1/{index}) = {planned}; 1/{index} of the \
                     variance is chance"
                ),
            );
        }
        _ => text.item("rate", format_args!("{planned}: windows differ by chance alone")),
    }
}

fn arithmetic(text: &mut Text, plan: &Plan) {
    let (at, traffic) = (&plan.at, &plan.question.traffic);
    let (service, load) = (traffic.service(), number(traffic.load().erlangs()));
    let (mean, v) = (span(service.mean()), number(traffic.variability_at(at.workers)));
    let (c, delayed) = (at.workers, number(at.delayed));
    text.item("service", format_args!("{}", service_told(&service)));
    text.item("load", format_args!("R = {} x {mean} = {load} workers busy", rate(traffic.rate())));
    waiting(text, plan);
    tail(text, plan);
    match plan.one_less {
        Some(late) => {
            text.item("one less", format_args!("{}: {} late", workers(c - 1), share(late)));
        }
        None => text.item("one less", format_args!("{} would not keep up", workers(c - 1))),
    }
    let (wait, waiting) = (span(at.wait_mean), jobs_wait(at.waiting));
    text.item(
        "mean wait",
        format_args!("{delayed} x {mean} / ({c} - {load}) x {v} = {wait}; {waiting}"),
    );
    let spare = number(f64::from(c) - traffic.load().erlangs());
    let (busy, roots) = (share(at.utilization), number(at.spare_roots));
    text.item(
        "busy",
        format_args!("{load} / {c} = {busy} of the time; {spare} to spare = {roots} x sqrt(R)"),
    );
}

/// How much it varies, and how many wait at all.
fn waiting(text: &mut Text, plan: &Plan) {
    let (at, traffic) = (&plan.at, &plan.question.traffic);
    let (c, load) = (at.workers, number(traffic.load().erlangs()));
    let (ca, cs) = (number(traffic.arrivals_scv()), number(traffic.service().scv()));
    let (v, some) = (number(traffic.variability_at(c)), share(at.delayed));
    if traffic.arrivals_scv() <= 1.0 {
        text.item("variation", format_args!("v = (arrivals {ca} + service {cs}) / 2 = {v}"));
        let told = format_args!("Erlang C({c}, {load}) = {some} of the jobs wait at all");
        return text.item("waiting", told);
    }
    // Bursts count for as much as the workers are busy.
    let busy = number(at.utilization);
    text.item(
        "variation",
        format_args!("v = (arrivals 1 + {busy} x ({ca} - 1) + service {cs}) / 2 = {v}"),
    );
    let spare = (1.0 - at.utilization) * f64::from(c).sqrt();
    text.item(
        "bursts",
        format_args!(
            "z = ({ca} + {cs}) / (1 + {cs}) = {}; x = (1 - {busy}) x sqrt({c}) = {}",
            number(traffic.width()),
            number(spare)
        ),
    );
    let by_chance = number(erlang_c(traffic.load(), c).unwrap_or(1.0));
    text.item(
        "waiting",
        format_args!(
            "Erlang C({c}, {load}) = {by_chance}, x Q(x / z) / Q(x) = {some} of the jobs wait at \
             all"
        ),
    );
}

fn service_told(service: &Service) -> String {
    let percentiles = match (service.all_but(0.5), service.all_but(0.01)) {
        (Ok(p50), Ok(p99)) => format!("; lognormal p50 {}, p99 {}", span(p50), span(p99)),
        _ => String::new(),
    };
    format!("mean {}, scv {}{percentiles}", span(service.mean()), number(service.scv()))
}

/// Where the share of late jobs comes from.
fn tail(text: &mut Text, plan: &Plan) {
    let (at, traffic, slo) = (&plan.at, &plan.question.traffic, &plan.question.slo);
    let (limit, late) = (span(slo.limit()), share(at.late));
    match slo.measured() {
        Measured::Wait => {
            let v = number(traffic.variability_at(at.workers));
            let mean = span(traffic.service().mean());
            let load = number(traffic.load().erlangs());
            let (delayed, c) = (number(at.delayed), at.workers);
            text.item(
                "late",
                format_args!(
                    "P(wait > {limit}) = {delayed} x exp(-({c} - {load}) x {limit} / ({mean} x \
                     {v})) = {late}"
                ),
            );
        }
        Measured::Latency => {
            let best = slo.late_at_best(traffic);
            let (by_itself, by_wait) = (share(best), share((at.late - best).max(0.0)));
            text.item(
                "late",
                format_args!(
                    "P(wait + service > {limit}) = {by_itself} by the service alone + {by_wait} by \
                     the wait = {late}"
                ),
            );
        }
    }
}

/// Lines of an answer.
#[derive(Debug, Default)]
pub(super) struct Text(pub(super) String);

impl Text {
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("a string takes what it is given");
    }

    pub(super) fn head(&mut self, head: &str) {
        self.line(format_args!("\n{head}"));
    }

    pub(super) fn item(&mut self, name: &str, what: fmt::Arguments<'_>) {
        self.line(format_args!("  {name:<11} {what}"));
    }

    fn bound(&mut self, name: &str, count: u32, why: &str) {
        self.item(name, format_args!("{count:<7} {why}"));
    }
}
