//! What is needed where, in words and by example.

use serde_json::{Value as Json, json};

use super::check::OVERFLOWS;
use super::guess::there_are;
use super::kind::{Kind, Range, Word, Zero};
use crate::config::tree::{Node, Value};

impl Kind {
    /// What is needed, with an example.
    pub(crate) fn needed(&self) -> String {
        match self {
            Self::Flag => "true or false is needed".to_owned(),
            Self::Count(min, max) => count_needed(*min, *max),
            Self::Number(Range { words, example, .. }) => {
                format!("{words} is needed, such as {example}")
            }
            Self::Measure(Range { words, example, .. }) => {
                format!("{words} or a span of time is needed, such as {example} or 500ms")
            }
            Self::Span(Zero::Allowed) => {
                "a span of time is needed, such as 3s, 500ms, 1m30s or 0".to_owned()
            }
            Self::Span(Zero::Refused) => {
                "a span of time is needed, such as 3s, 500ms or 1m30s".to_owned()
            }
            Self::Size => "a size in bytes is needed, such as 64MiB or 65536".to_owned(),
            Self::Text | Self::Line => "a text is needed".to_owned(),
            Self::Name => "a name of a-z, 0-9, '_', '-' and '.' is needed, of at most 31 letters, \
                           such as mail"
                .to_owned(),
            Self::Label => {
                "a name of a-z, 0-9, '_', '-' and '.' is needed, of at most 64 letters, \
                            such as mail"
                    .to_owned()
            }
            Self::Path => "the name of a file is needed".to_owned(),
            Self::Word(words) => there_are(words.iter().map(Word::name)),
            Self::Step => {
                "workers or a factor above 1 are needed, such as 2 or {multiply: 1.5}".to_owned()
            }
            Self::Aggregate => "there are mean, max, min and p1 to p100".to_owned(),
            Self::Overflow => format!("there are {} and {{wait_for: 2s}}", OVERFLOWS.join(", ")),
            Self::Either { word, .. } => format!("{word:?} or a section is needed"),
            Self::List(..) => "a list is needed".to_owned(),
            Self::Signal | Self::Section(_) | Self::Map(_) | Self::Tagged(_) => {
                "a section is needed".to_owned()
            }
            Self::Options => "a value is needed".to_owned(),
        }
    }

    /// The same for somebody who wrote `node`: with the likely slip, where there is one.
    pub(super) fn needed_by(&self, node: &Node) -> String {
        let needed = self.needed();
        let slip = match (self, &node.value) {
            (Self::Span(_), Value::Int(n)) if 0 < *n => format!("; seconds are written {n}s"),
            (Self::Span(_), Value::Float(n)) => format!("; seconds are written {n}s"),
            (Self::Flag, Value::Text(text)) if is_yes_or_no(text) => {
                format!("; {text:?} is a text")
            }
            (Self::Count(..) | Self::Number(_) | Self::Measure(_), Value::Text(text)) => {
                number_slip(text)
            }
            (Self::Word(words), Value::Text(text)) => {
                match super::guess::nearest(text, words.iter().map(Word::name)) {
                    Some(meant) => return format!("did you mean {meant:?}? {needed}"),
                    None => String::new(),
                }
            }
            (
                Self::Text | Self::Line | Self::Name | Self::Label | Self::Word(_),
                Value::Bool(_) | Value::Int(_) | Value::Float(_),
            ) => "; put it in quotes".to_owned(),
            _ => String::new(),
        };
        format!("{needed}{slip}")
    }

    /// A value that could stand there, as the check leaves values.
    pub(crate) fn example(&self) -> Json {
        match self {
            Self::Flag => false.into(),
            Self::Count(min, _) => (*min).into(),
            Self::Number(range) | Self::Measure(range) => {
                range.example.parse::<f64>().unwrap_or(1.0).into()
            }
            Self::Span(_) => json!({"secs": 1, "nanos": 0}),
            Self::Size => 1.into(),
            Self::Text | Self::Line | Self::Label | Self::Path => "text".into(),
            Self::Name => "utilization".into(),
            Self::Word(words) => words.first().map(|word| word.name).into(),
            Self::Step => json!({"add": 1}),
            Self::Aggregate => "mean".into(),
            Self::Overflow => "wait".into(),
            Self::List(..) => json!([]),
            Self::Section(_) | Self::Map(_) | Self::Options => json!({}),
            Self::Signal => json!({"name": "utilization", "source": "utilization"}),
            Self::Tagged(tagged) => match (tagged.variants.iter(), tagged.name) {
                (_, "smoothing") => json!({"mean": {"samples": 3}}),
                // It asks for no signal, so nothing can be wrong with it.
                (_, "decider" | "part") => json!({"type": "all_busy"}),
                _ => Json::Null,
            },
            Self::Either { word, .. } => (*word).into(),
        }
    }
}

impl Word {
    fn name(&self) -> &'static str {
        self.name
    }
}

fn count_needed(min: u64, max: u64) -> String {
    let example = min.max(4).min(max);
    match (min, max) {
        (0, u64::MAX) => format!("a whole number is needed, such as {example}"),
        (min, max) if u64::from(u32::MAX) <= max => {
            format!("a whole number of at least {min} is needed, such as {example}")
        }
        (min, max) => format!("a whole number from {min} to {max} is needed, such as {example}"),
    }
}

fn is_yes_or_no(text: &str) -> bool {
    ["yes", "no", "on", "off", "true", "false"].contains(&text.to_lowercase().as_str())
}

fn number_slip(text: &str) -> String {
    let percent = text.strip_suffix('%').and_then(|digits| digits.trim().parse::<f64>().ok());
    if let Some(percent) = percent {
        return format!("; {percent} percent are written {}", percent / 100.0);
    }
    let digits: String = text.chars().filter(|c| !"_ ',".contains(*c)).collect();
    match digits.parse::<f64>() {
        Ok(_) => format!("; write {digits}, without quotes"),
        Err(_) => String::new(),
    }
}
