//! The vocabulary of the table: sections, fields, kinds.

use headcount_core::jobs::Label;
use serde_json::Value as Json;

/// Fields that stand together.
#[derive(Debug)]
pub(crate) struct Section {
    /// What messages and the schema call it.
    pub(crate) name: &'static str,
    /// What it is for, in one sentence.
    pub(crate) about: &'static str,
    pub(crate) fields: &'static [Field],
    /// The values of the fields that are left out, as the check leaves values.
    pub(crate) defaults: fn() -> Json,
}

/// One field of a section.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// Other names that it may be written by.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
    pub(crate) need: Need,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Optional,
    Required,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number in this range.
    Count(u64, u64),
    /// A number in this range.
    Number(Range),
    /// A number, or a span of time in seconds: what a signal may read.
    Measure(Range),
    /// A span of time: `500ms`, `1m30s`.
    Span(Zero),
    /// Bytes: `64MiB`.
    Size,
    /// Any text.
    Text,
    /// The name of a signal, a pool, a downstream.
    Name,
    /// The name of a queue, a kind of job, a tenant.
    Label,
    /// Any text, empty ones too: an argument, a value of a variable.
    Line,
    /// A file.
    Path,
    /// One of these words.
    Word(&'static [Word]),
    /// How far a step goes: a number of workers, or a factor.
    Step,
    /// What is made of a window of readings.
    Aggregate,
    /// What happens when the line is full.
    Overflow,
    /// The signals of a pool.
    Signal,
    /// Up to so many of one kind.
    List(&'static Kind, usize),
    Section(&'static Section),
    /// Names of one's own, and one kind of value for each.
    Map(&'static Entries),
    /// A section whose `type` says which fields it has.
    Tagged(&'static Tagged),
    /// A word, or a section that is known by another word.
    Either {
        word: &'static str,
        wrapped: &'static str,
        section: &'static Section,
    },
    /// Whatever somebody's own part takes.
    Options,
}

/// What a map may hold.
#[derive(Debug)]
pub(crate) struct Entries {
    /// What one of them is, in a word.
    pub(crate) what: &'static str,
    pub(crate) keys: Keys,
    pub(crate) inner: &'static Kind,
    pub(crate) len_max: usize,
}

/// What the keys of a map may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Names as queues, kinds and tenants have them.
    Labels,
    /// Names of variables of the environment.
    Variables,
    /// Names of headers of a request.
    Headers,
}

impl Keys {
    /// What is wrong with a key, if anything is.
    pub(crate) fn fault(self, key: &str) -> Option<String> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        match self {
            Self::Labels => key.parse::<Label>().err().map(|error| error.to_string()),
            Self::Variables if key.is_empty() || key.contains(['=', '\0']) => {
                Some("a variable has a name without '='".to_owned())
            }
            Self::Headers if key.is_empty() || !key.chars().all(is_token) => {
                Some("a header has a name of letters, digits and '-'".to_owned())
            }
            Self::Variables | Self::Headers => None,
        }
    }
}

/// Whether a span of time may be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    Allowed,
    Refused,
}

/// A word, and others that mean the same.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
}

impl Word {
    pub(crate) const fn of(name: &'static str) -> Self {
        Self { name, aliases: &[] }
    }
}

/// A section whose `type` says which fields it has.
#[derive(Debug)]
pub(crate) struct Tagged {
    /// What messages and the schema call it.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) variants: &'static [Variant],
    /// The part of which users may register more types.
    pub(crate) part: Option<Part>,
    pub(crate) tag: Tag,
    /// Fields that every type has.
    pub(crate) shared: &'static [Field],
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) section: &'static Section,
}

/// How the checked form says of which type it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A field `type` among the others.
    Inside,
    /// The type is the only key, or the only word where there are no fields.
    Outside,
}

/// What users may register more types of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Signal,
    Decider,
    Guard,
    Resizable,
}

impl Part {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Decider => "decider",
            Self::Guard => "guard",
            Self::Resizable => "pool type",
        }
    }
}

/// Where a number may lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) low: Edge,
    pub(crate) high: Edge,
    pub(crate) words: &'static str,
    pub(crate) example: &'static str,
}

/// One end of a range.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edge {
    None,
    /// The number itself is in the range.
    With(f64),
    /// The number itself is not.
    Without(f64),
}

impl Range {
    const fn new(low: Edge, high: Edge, words: &'static str, example: &'static str) -> Self {
        Self { low, high, words, example }
    }

    pub(crate) const ANY: Self = Self::new(Edge::None, Edge::None, "a number", "0.8");
    pub(crate) const ABOVE_0: Self =
        Self::new(Edge::Without(0.0), Edge::None, "a number above 0", "0.7");
    pub(crate) const FROM_0: Self =
        Self::new(Edge::With(0.0), Edge::None, "a number of 0 or more", "0.1");
    pub(crate) const FROM_1: Self =
        Self::new(Edge::With(1.0), Edge::None, "a factor of 1 or more", "1.5");
    pub(crate) const FACTOR: Self =
        Self::new(Edge::Without(1.0), Edge::None, "a factor above 1", "2");
    pub(crate) const SHARE: Self =
        Self::new(Edge::Without(0.0), Edge::With(1.0), "a share above 0 and up to 1", "0.5");
    pub(crate) const INNER_SHARE: Self =
        Self::new(Edge::Without(0.0), Edge::Without(1.0), "a share above 0 and below 1", "0.25");
    pub(crate) const FROM_0_TO_1: Self =
        Self::new(Edge::With(0.0), Edge::With(1.0), "a number from 0 to 1", "0.85");
    pub(crate) const WEIGHT: Self =
        Self::new(Edge::With(1e-6), Edge::With(1e6), "a weight from 0.000001 to 1000000", "1");

    pub(crate) fn holds(&self, number: f64) -> bool {
        let above = match self.low {
            Edge::None => true,
            Edge::With(low) => low <= number,
            Edge::Without(low) => low < number,
        };
        let below = match self.high {
            Edge::None => true,
            Edge::With(high) => number <= high,
            Edge::Without(high) => number < high,
        };
        number.is_finite() && above && below
    }
}

impl Field {
    pub(crate) const fn of(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, aliases: &[], kind, about, need: Need::Optional }
    }

    /// One that cannot be left out.
    pub(crate) const fn needed(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, aliases: &[], kind, about, need: Need::Required }
    }

    pub(crate) const fn or(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

impl Kind {
    /// Whether it is one value, and neither a section nor a list.
    pub(crate) fn is_single(&self) -> bool {
        !matches!(
            self,
            Self::List(..)
                | Self::Map(_)
                | Self::Section(_)
                | Self::Tagged(_)
                | Self::Signal
                | Self::Options
        )
    }
}

impl Section {
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Tagged {
    pub(crate) fn variant(&self, name: &str) -> Option<&'static Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}

/// A section in which nothing has a default.
pub(crate) fn none() -> Json {
    Json::Object(serde_json::Map::new())
}
