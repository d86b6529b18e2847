//! Metrics as text.

use std::fmt::Write as _;

use super::table::{METRICS, Metric};

/// The samples of one scrape, to be written out in the order of the table.
pub(super) struct Exposition {
    table: &'static [Metric],
    /// The lines of each metric.
    lines: Vec<String>,
}

/// What kind of text it is.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Exposition {
    pub(super) fn new() -> Self {
        Self::of(&METRICS)
    }

    /// The same for the metrics of another table.
    pub(super) fn of(table: &'static [Metric]) -> Self {
        Self { table, lines: vec![String::new(); table.len()] }
    }

    /// A sample of the metric with this name, without its prefix.
    pub(super) fn add(&mut self, name: &str, labels: &[&str], value: f64) {
        self.write((name, ""), labels, None, value);
    }

    /// A count, exactly so far as a number of Prometheus goes.
    pub(super) fn count(&mut self, name: &str, labels: &[&str], value: u64) {
        self.add(name, labels, value as f64);
    }

    /// A histogram: how many were at most each limit, how many in all, and their sum.
    pub(super) fn histogram(&mut self, name: &str, labels: &[&str], histogram: &Cumulative) {
        for (limit, count) in &histogram.buckets {
            let limit = limit.to_string();
            self.write((name, "_bucket"), labels, Some(&limit), *count as f64);
        }
        let all = histogram.count as f64;
        self.write((name, "_bucket"), labels, Some("+Inf"), all);
        self.write((name, "_sum"), labels, None, histogram.sum);
        self.write((name, "_count"), labels, None, all);
    }

    /// A line of the metric with this name: what is added to the name, the values of its labels,
    /// and the limit where it is a bucket.
    fn write(&mut self, name: (&str, &str), labels: &[&str], limit: Option<&str>, value: f64) {
        let (place, metric) = row(self.table, name.0);
        let expected = metric.labels.len();
        assert_eq!(expected, labels.len(), "{} has labels, each with a value", metric.name);
        let named = metric.labels.iter().copied().zip(labels.iter().copied());
        let pairs = named.chain(limit.map(|limit| ("le", limit)));
        let pairs: Vec<String> =
            pairs.map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        let lines = &mut self.lines[place];
        let written = match pairs.is_empty() {
            true => writeln!(lines, "{}{} {value}", metric.name, name.1),
            false => writeln!(lines, "{}{}{{{}}} {value}", metric.name, name.1, pairs.join(",")),
        };
        written.expect("memory takes it");
    }

    /// All of it; metrics without samples are left out.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (metric, lines) in self.table.iter().zip(&self.lines) {
            if lines.is_empty() {
                continue;
            }
            let Metric { name, help, kind, .. } = metric;
            write!(text, "# HELP {name} {help}\n# TYPE {name} {}\n{lines}", kind.as_str())
                .expect("memory takes it");
        }
        text
    }
}

/// How often something took at most how many seconds.
pub(super) struct Cumulative {
    pub(super) buckets: Vec<(f64, u64)>,
    pub(super) count: u64,
    pub(super) sum: f64,
}

/// The row of a metric, whose name is given without our prefix.
fn row(table: &'static [Metric], name: &str) -> (usize, &'static Metric) {
    let is_it = |full: &str| full.strip_prefix("headcount_").unwrap_or(full) == name;
    let place = table.iter().position(|metric| is_it(metric.name));
    let place = place.unwrap_or_else(|| panic!("the table has a row for {name}"));
    (place, &table[place])
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_together_under_their_head() {
        let mut exposition = Exposition::new();
        exposition.add("pool_workers", &["a\"b\\c\nd"], 2.0);
        exposition.add("build_info", &["1"], 1.0);
        exposition.add("pool_workers", &["z"], 0.5);
        assert_eq!(
            exposition.text(),
            "# HELP headcount_pool_workers Workers that exist.\n\
             # TYPE headcount_pool_workers gauge\n\
             headcount_pool_workers{pool=\"a\\\"b\\\\c\\nd\"} 2\n\
             headcount_pool_workers{pool=\"z\"} 0.5\n\
             # HELP headcount_build_info Always 1; the label says what runs.\n\
             # TYPE headcount_build_info gauge\n\
             headcount_build_info{version=\"1\"} 1\n",
        );
    }
}
