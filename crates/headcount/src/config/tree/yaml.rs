//! YAML 1.2, by the events of `saphyr-parser`.
//!
//! The events come with marks, and building the tree here keeps three things in our hands: keys
//! that are written twice are a fault, aliases count as often as they stand, and nothing recurses
//! deeper than the limit.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span};

use super::growth::{Growth, Unreadable, add_entry};
use super::{Key, Node, Place, Value};

pub(super) fn parse(text: &str) -> Result<Node, Unreadable> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| unreadable(&error))?;
        builder.take(event, span)?;
    }
    Ok(builder.root.unwrap_or(Node::new(Value::Null, Place::START)))
}

fn unreadable(error: &ScanError) -> Unreadable {
    Unreadable::new(place(error.marker()), format!("this is no YAML: {}", error.info()))
}

fn place(mark: &Marker) -> Place {
    Place::at(mark.line().max(1), mark.col() + 1)
}

#[derive(Default)]
struct Builder {
    growth: Growth,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    documents: usize,
    root: Option<Node>,
}

/// A list or a map that is not finished.
struct Open {
    at: Place,
    anchor: usize,
    inside: Inside,
}

enum Inside {
    List(Vec<Node>),
    Map { entries: Vec<(Key, Node)>, key: Option<Key> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Unreadable> {
        let at = place(&span.start);
        match event {
            Event::DocumentStart(_) => self.begin_document(at),
            Event::Alias(anchor) => self.repeat(anchor, at),
            Event::Scalar(text, style, anchor, tag) => {
                refuse_tag(tag.is_some(), &at)?;
                let value = match style {
                    ScalarStyle::Plain => plain(&text),
                    _ => Value::Text(text.into_owned()),
                };
                self.growth.add(&at)?;
                self.put(Node::new(value, at), anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse_tag(tag.is_some(), &at)?;
                self.open(at, anchor, Inside::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                refuse_tag(tag.is_some(), &at)?;
                self.open(at, anchor, Inside::Map { entries: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            _ => Ok(()),
        }
    }

    fn begin_document(&mut self, at: Place) -> Result<(), Unreadable> {
        self.documents += 1;
        match self.documents {
            1 => Ok(()),
            _ => Err(Unreadable::new(at, "a second document begins here; one file has one")),
        }
    }

    fn open(&mut self, at: Place, anchor: usize, inside: Inside) -> Result<(), Unreadable> {
        self.growth.add(&at)?;
        self.growth.enter(&at)?;
        self.open.push(Open { at, anchor, inside });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Unreadable> {
        let Some(Open { at, anchor, inside }) = self.open.pop() else { return Ok(()) };
        self.growth.leave();
        let value = match inside {
            Inside::List(items) => Value::List(items),
            Inside::Map { entries, .. } => Value::Map(entries),
        };
        self.put(Node::new(value, at), anchor)
    }

    /// What an anchor stands for, once more.
    fn repeat(&mut self, anchor: usize, at: Place) -> Result<(), Unreadable> {
        let Some(node) = self.anchors.get(&anchor) else {
            let problem = "this alias stands for something that it is itself a part of";
            return Err(Unreadable::new(at, problem));
        };
        self.growth.add_again(node, &at)?;
        let node = node.clone();
        self.put(node, 0)
    }

    /// Puts a finished node where it belongs.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Unreadable> {
        if 0 < anchor {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.inside {
            Inside::List(items) => items.push(node),
            Inside::Map { entries, key } => match key.take() {
                Some(key) => add_entry(entries, key, node)?,
                None => *key = Some(key_of(node)?),
            },
        }
        Ok(())
    }
}

fn refuse_tag(has_tag: bool, at: &Place) -> Result<(), Unreadable> {
    match has_tag {
        true => Err(Unreadable::new(at.clone(), "a tag (!) says nothing here; leave it out")),
        false => Ok(()),
    }
}

/// A key is a word; a number is taken as it is written.
fn key_of(node: Node) -> Result<Key, Unreadable> {
    let name = match node.value {
        Value::Text(text) => text,
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null => "null".to_owned(),
        Value::List(_) | Value::Map(_) => {
            let problem = "a list or a section cannot be a key; a word is needed";
            return Err(Unreadable::new(node.at, problem));
        }
    };
    Ok(Key { name, at: node.at })
}

/// What a plain scalar means, by the core schema of YAML 1.2.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if matches!(rest, ".inf" | ".Inf" | ".INF") {
        return Value::Float(f64::INFINITY * f64::from(sign));
    }
    let whole = match (rest.strip_prefix("0x"), rest.strip_prefix("0o")) {
        (Some(digits), _) => unsigned(digits, 16),
        (_, Some(digits)) => unsigned(digits, 8),
        _ => unsigned(rest, 10),
    };
    if let Some(whole) = whole {
        return Value::Int(i128::from(sign) * whole);
    }
    match is_decimal(rest).then(|| text.parse::<f64>()) {
        Some(Ok(number)) => Value::Float(number),
        _ => Value::Text(text.to_owned()),
    }
}

/// Whether a text means itself without quotes, wherever it stands.
pub(crate) fn is_plain_word(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/');
    let letters = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    begins && letters && plain(text) == Value::Text(text.to_owned())
}

fn unsigned(digits: &str, radix: u32) -> Option<i128> {
    let all_digits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    all_digits.then(|| i128::from_str_radix(digits, radix).ok()).flatten()
}

/// `[0-9]* . [0-9]* e [0-9]*` with a digit in it; `infinity` and `1_000` are words.
fn is_decimal(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let letters = text.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c));
    starts && letters && text.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &Value) {
        assert_eq!(&plain(text), expected, "{text:?}");
    }

    #[test]
    fn plain_words_mean_what_the_core_schema_says() {
        check("~", &Value::Null);
        check("True", &Value::Bool(true));
        check("-0x1f", &Value::Int(-31));
        check("+12", &Value::Int(12));
        check("0o17", &Value::Int(15));
        check("1e3", &Value::Float(1000.0));
        check(".5", &Value::Float(0.5));
        check("-.inf", &Value::Float(f64::NEG_INFINITY));
        for word in ["yes", "no", "off", "1_000", "500ms", "infinity", "nan", "0x", "1.2.3", "e3"] {
            check(word, &Value::Text(word.to_owned()));
        }
    }

    fn refused(text: &str, at: &str, problem: &str) {
        let unreadable = parse(text).expect_err(text);
        assert_eq!(unreadable.at.to_string(), at, "{}", unreadable.problem);
        assert!(unreadable.problem.contains(problem), "{}", unreadable.problem);
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        refused("a: 1\nb: [1, 2\n", "3:1", "this is no YAML");
        refused("a: 1\nb: 2\na: 3\n", "3:1", "\"a\" is written twice, first at 1:1");
        refused("a: 1\n---\nb: 2\n", "2:1", "a second document");
        refused("a: !!str 5\n", "1:4", "a tag (!) says nothing");
        refused("a: &x [*x]\n", "1:8", "itself a part of");
        refused("? [a]\n: b\n", "1:3", "cannot be a key");
    }

    #[test]
    fn an_alias_counts_as_often_as_it_stands() {
        use std::fmt::Write as _;
        let mut bomb = "a: &a [1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for (name, inner) in "bcdefghi".chars().zip("abcdefgh".chars()) {
            let many = vec![format!("*{inner}"); 8].join(", ");
            writeln!(bomb, "{name}: &{name} [{many}]").unwrap();
        }
        let unreadable = parse(&bomb).expect_err("8^9 values");
        assert!(unreadable.problem.contains("more than 20000 values"), "{}", unreadable.problem);
    }

    #[test]
    fn depth_has_a_limit() {
        let deep = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(&deep(super::super::growth::DEPTH_MAX)).is_ok());
        let unreadable = parse(&deep(super::super::growth::DEPTH_MAX + 1)).expect_err("too deep");
        assert!(unreadable.problem.contains("deep in one another"));
    }

    #[test]
    fn an_empty_file_is_nothing() {
        assert_eq!(parse("").unwrap().value, Value::Null);
        assert_eq!(parse("# only words\n").unwrap().value, Value::Null);
    }
}
