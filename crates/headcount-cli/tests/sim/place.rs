//! A folder of its own for each test, in which `headcount sim` is run.

pub(crate) use crate::folder::Folder as Place;
use crate::folder::Outcome;

impl Place {
    /// Runs `headcount sim` with these words, to its end.
    pub(crate) fn sim(&self, words: &str) -> Outcome {
        let words: Vec<&str> = std::iter::once("sim").chain(words.split_whitespace()).collect();
        self.execute(&words, b"")
    }

    /// Runs it, and it must go well.
    #[track_caller]
    pub(crate) fn well(&self, words: &str) -> String {
        let outcome = self.sim(words);
        assert_eq!(outcome.code, Some(0), "{words}: {}", outcome.err);
        outcome.text()
    }

    /// Runs it, and it must be refused with these words and nothing else.
    #[track_caller]
    pub(crate) fn refused(&self, words: &str, sentence: &str) {
        let outcome = self.sim(words);
        assert_eq!(outcome.code, Some(2), "{words}: {}", outcome.err);
        assert_eq!(outcome.err.trim_end(), format!("headcount: {sentence}"), "{words}");
        assert_eq!(outcome.text(), "", "{words}: nothing was run");
    }
}

/// A minute of arrivals, a bucket for each second.
pub(crate) fn minute() -> String {
    let lines = (0..60).map(|second| format!("{second},{}\n", 5 + second % 7));
    format!("t_seconds,arrivals\n{}", lines.collect::<String>())
}

/// A number of each policy, from the JSON.
#[track_caller]
pub(crate) fn numbers(place: &Place, flags: &str, key: &str) -> Vec<f64> {
    let json = place.well(&format!("{flags} --json"));
    let key = format!("\"{key}\":");
    let value = |line: &str| {
        let rest = line.split(&key).nth(1)?;
        rest.split([',', '}']).next()?.parse().ok()
    };
    json.lines().filter(|line| line.starts_with('{')).filter_map(value).collect()
}
