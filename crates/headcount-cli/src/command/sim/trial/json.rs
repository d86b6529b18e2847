//! The trials as JSON, in the words of the benchmark.

use super::running::Trial;

pub(super) fn json(trials: &[Trial], bound: Option<f64>, seed: u64) -> String {
    let cells: Vec<String> = trials.iter().map(|trial| cell(trial, bound, seed)).collect();
    format!("[\n{}\n]\n", cells.join(",\n"))
}

fn cell(trial: &Trial, bound: Option<f64>, seed: u64) -> String {
    let score = &trial.score;
    let fields = [
        ("jobs", score.jobs.to_string()),
        ("late_percent", number(score.late_percent())),
        ("wait_p50_s", number(score.wait_p50.as_secs_f64())),
        ("wait_p99_s", number(score.wait_p99.as_secs_f64())),
        ("worker_seconds", number(score.worker_seconds)),
        ("work_seconds", number(score.work_seconds)),
        ("spawns", score.spawns.to_string()),
        ("peak", score.peak.to_string()),
        ("j", number(score.cost_per_work())),
        ("j_bound", bound.map_or("null".to_owned(), number)),
        ("reversals_per_hour", number(score.reversals_per_hour())),
        ("goodput", number(score.goodput())),
        ("done", number(score.done())),
        ("seed", seed.to_string()),
    ];
    let fields = fields.map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{\"policy\":{},{}}}", text(&score.name), fields.join(","))
}

fn number(value: f64) -> String {
    match value.is_finite() {
        true => format!("{value:.6}"),
        false => "null".to_owned(),
    }
}

fn text(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        assert_eq!(text("a\"b\\c\nd"), r#""a\"b\\c\u000ad""#);
    }
}
