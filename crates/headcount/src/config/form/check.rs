//! Holds a tree against the table, notes all that is wrong, and leaves values that can be used.
//!
//! Values come out as the core writes them: spans as seconds and nanoseconds, words by their first
//! name. What is wrong is left out, or has an example in its place where something must be there,
//! so that whoever looks at the rest finds what is wrong with that too.

use headcount_core::Name;
use headcount_core::jobs::Label;
use headcount_core::signal::Source;
use serde_json::{Map, Value as Json, json};

use super::guess::{listed, meant_or_there_are, nearest, there_are};
use super::kind::{Entries, Field, Kind, Need, Part, Range, Section, Tag, Tagged, Word, Zero};
use super::signals::SIGNAL;
use super::words::{duration, seconds_value, size};
use crate::config::registry::{Options, Registry};
use crate::config::report::Finding;
use crate::config::tree::{Node, Value, join, shorten};

/// What was wrong.
pub(crate) type Found = Vec<Finding>;

/// A check under way.
#[derive(Debug)]
pub(crate) struct Checking<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) found: Found,
}

impl<'a> Checking<'a> {
    pub(crate) fn new(registry: &'a Registry) -> Self {
        Self { registry, found: Found::new() }
    }

    /// Notes that `node` is not what is needed.
    pub(crate) fn fault(&mut self, node: &Node, needed: impl Into<String>) {
        let finding = Finding::new(&node.at, &node.path, Some(node.shown()), needed.into());
        self.found.push(finding);
    }

    /// The values of a section.
    pub(crate) fn section(&mut self, node: &Node, section: &'static Section) -> Map<String, Json> {
        if !self.is_section(node, || fields_needed(section)) {
            return Map::new();
        }
        self.unknown_fields(node, section.fields, &[]);
        self.fields(node, section.fields)
    }

    fn is_section(&mut self, node: &Node, needed: impl FnOnce() -> String) -> bool {
        let is_section = matches!(node.value, Value::Map(_));
        if !is_section {
            self.fault(node, needed());
        }
        is_section
    }

    /// The values of those of `fields` that are there.
    fn fields(&mut self, node: &Node, fields: &'static [Field]) -> Map<String, Json> {
        let mut values = Map::new();
        for field in fields {
            let written = node.get(field.name).filter(|node| node.value != Value::Null);
            let value = written.and_then(|node| self.value(node, &field.kind));
            if let Some(value) = value {
                values.insert(field.name.to_owned(), value);
                continue;
            }
            if field.need == Need::Required {
                if written.is_none() {
                    let path = join(&node.path, field.name);
                    let advice = format!("is missing; {}", field.kind.needed());
                    self.found.push(Finding::new(&node.at, &path, None, advice));
                }
                values.insert(field.name.to_owned(), field.kind.example());
            }
        }
        values
    }

    fn unknown_fields(&mut self, node: &Node, fields: &[Field], also: &[&str]) {
        for (key, value) in node.entries() {
            let is_known = fields.iter().any(|field| field.name == key.name)
                || also.contains(&key.name.as_str());
            if !is_known {
                let names = fields.iter().map(|field| field.name).chain(also.iter().copied());
                let advice = unknown(&key.name, names);
                self.found.push(Finding::new(&key.at, &value.path, None, advice));
            }
        }
    }

    /// The value of a node, unless it is wrong.
    fn value(&mut self, node: &Node, kind: &'static Kind) -> Option<Json> {
        let value = match kind {
            Kind::List(inner, len_max) => return self.list(node, inner, *len_max),
            Kind::Section(section) => {
                let is_section = self.is_section(node, || fields_needed(section));
                return is_section.then(|| self.section(node, section).into());
            }
            Kind::Map(entries) => return self.map(node, entries),
            Kind::Tagged(tagged) => return self.tagged(node, tagged),
            Kind::Either { word, wrapped, section } => match node.text() {
                Some(text) if text == *word => Some(Json::from(*word)),
                Some(_) => None,
                None => {
                    let is_section = self.is_section(node, || fields_needed(section));
                    return is_section.then(|| json!({*wrapped: self.section(node, section)}));
                }
            },
            Kind::Signal => return self.signal(node),
            Kind::Options => return self.options(node),
            Kind::Flag => flag(node),
            Kind::Count(min, max) => count(node, *min, *max),
            Kind::Number(range) => number(node, *range),
            Kind::Measure(range) => measure(node, *range),
            Kind::Span(zero) => span(node, *zero),
            Kind::Size => bytes(node),
            Kind::Text | Kind::Path => {
                node.text().filter(|text| !text.trim().is_empty()).map(Json::from)
            }
            Kind::Label => node.text().filter(|text| is_label(text)).map(Json::from),
            Kind::Line => node.text().filter(|text| !text.contains('\0')).map(Json::from),
            Kind::Name => node.text().filter(|text| Name::new(text).is_ok()).map(Json::from),
            Kind::Word(words) => word(node, words),
            Kind::Step => step(node),
            Kind::Aggregate => aggregate(node),
            Kind::Overflow => overflow(node),
        };
        if value.is_none() {
            self.fault(node, kind.needed_by(node));
        }
        value
    }

    fn list(&mut self, node: &Node, inner: &'static Kind, len_max: usize) -> Option<Json> {
        let Value::List(items) = &node.value else {
            self.fault(node, "a list is needed");
            return None;
        };
        if len_max < items.len() {
            self.fault(node, format!("at most {len_max} are allowed"));
        }
        let mut values = Vec::new();
        for item in items {
            // An example keeps the place of what is wrong, so that those behind it keep theirs.
            values.push(self.value(item, inner).unwrap_or_else(|| inner.example()));
        }
        Some(values.into())
    }

    fn map(&mut self, node: &Node, entries: &'static Entries) -> Option<Json> {
        let what = entries.what;
        if !self.is_section(node, || format!("a section is needed, with a name for each {what}")) {
            return None;
        }
        let len = node.entries().len();
        if entries.len_max < len {
            let advice = format!("has {len} entries; at most {} are allowed", entries.len_max);
            self.found.push(Finding::new(&node.at, &node.path, None, advice));
        }
        let mut values = Map::new();
        for (key, inner) in node.entries().iter().take(entries.len_max) {
            if let Some(advice) = entries.keys.fault(&key.name) {
                let value = Some(format!("a {what} called {}", shorten(&key.name)));
                self.found.push(Finding::new(&key.at, &inner.path, value, advice));
                continue;
            }
            // One of which nothing is said is there all the same.
            let nothing = Node::empty(inner.at.clone(), &inner.path);
            let is_bare = inner.value == Value::Null && matches!(entries.inner, Kind::Section(_));
            let value = self.value(if is_bare { &nothing } else { inner }, entries.inner);
            values.extend(value.map(|value| (key.name.clone(), value)));
        }
        Some(values.into())
    }

    fn tagged(&mut self, node: &Node, tagged: &'static Tagged) -> Option<Json> {
        if !self.is_section(node, || type_wanted(node, tagged)) {
            return None;
        }
        let Some(name) = self.type_of(node, tagged) else {
            // Without its type nothing can be said of the rest.
            return None;
        };
        let Some(variant) = tagged.variant(&name) else {
            let part = tagged.part?;
            return self.registered(node, part, &name, tagged.shared);
        };
        let section = variant.section;
        let known: Vec<&str> = tagged.shared.iter().map(|field| field.name).collect();
        self.unknown_fields(node, section.fields, &[&known[..], &["type"]].concat());
        let mut values = self.fields(node, section.fields);
        values.extend(self.fields(node, tagged.shared));
        Some(match tagged.tag {
            Tag::Outside if section.fields.is_empty() => name.into(),
            Tag::Outside => json!({name: values}),
            Tag::Inside => {
                values.insert("type".to_owned(), name.into());
                values.into()
            }
        })
    }

    /// The type of a tagged section, where it is one that is known or registered.
    fn type_of(&mut self, node: &Node, tagged: &'static Tagged) -> Option<String> {
        let builtin = tagged.variants.iter().map(|variant| variant.name);
        let registered = tagged.part.map(|part| self.registry.names(part)).unwrap_or_default();
        let known: Vec<&str> = builtin.chain(registered.iter().map(String::as_str)).collect();
        let Some(written) = node.get("type").filter(|node| node.value != Value::Null) else {
            let path = join(&node.path, "type");
            let advice = format!("is missing; {}", type_needed(tagged.part, &known));
            self.found.push(Finding::new(&node.at, &path, None, advice));
            return None;
        };
        match written.text() {
            Some(text) if known.contains(&text) => Some(text.to_owned()),
            Some(text) => {
                self.fault(written, meant_or_there_are(text, &known));
                None
            }
            None => {
                self.fault(written, type_needed(tagged.part, &known));
                None
            }
        }
    }

    /// A part that somebody registered: its options, and a trial of them.
    fn registered(
        &mut self,
        node: &Node,
        part: Part,
        name: &str,
        shared: &'static [Field],
    ) -> Option<Json> {
        let ours = |key: &str| key == "type" || shared.iter().any(|field| field.name == key);
        let entries = node.entries().iter().filter(|(key, _)| !ours(&key.name));
        let mut options = Map::new();
        for (key, node) in entries {
            options.insert(key.name.clone(), self.options(node)?);
        }
        if let Err(sentence) = self.registry.try_out(part, name, &Options::new(options.clone())) {
            let value = Some(format!("a {} of type {name:?}", part.word()));
            self.found.push(Finding::new(&node.at, &node.path, value, sentence));
        }
        let mut values = self.fields(node, shared);
        values.insert("type".to_owned(), name.into());
        values.insert("options".to_owned(), options.into());
        Some(values.into())
    }

    fn signal(&mut self, node: &Node) -> Option<Json> {
        let kind = node.text().filter(|text| Source::named(text).is_some());
        let kind = kind.unwrap_or("utilization");
        if !self.is_section(node, || format!("a section is needed, such as {{type: {kind}}}")) {
            return None;
        }
        let registered = self.registry.names(Part::Signal);
        let sources = Source::FIXED.map(|source| source.to_string());
        let known = sources.iter().chain(&registered).map(String::as_str);
        let known: Vec<&str> = known.chain(["external.NAME"]).collect();
        let Some(written) = node.get("type").filter(|node| node.value != Value::Null) else {
            let path = join(&node.path, "type");
            let advice = format!("is missing; {}", type_needed(Some(Part::Signal), &known));
            self.found.push(Finding::new(&node.at, &path, None, advice));
            return None;
        };
        let text = written.text().unwrap_or_default();
        if registered.iter().any(|name| name == text) {
            let mut plug = self.registered(node, Part::Signal, text, SIGNAL.fields)?;
            let name = plug.get("name").cloned().unwrap_or_else(|| text.into());
            let source = format!("external.{}", name.as_str().unwrap_or_default());
            let smoothing = plug.get("smoothing").cloned().unwrap_or_else(|| json!([]));
            let options = plug.get_mut("options").map(Json::take).unwrap_or_default();
            let plug = json!({"type": text, "options": options});
            return Some(json!({
                "name": name, "source": source, "smoothing": smoothing, "plug": plug,
            }));
        }
        if Source::named(text).is_none() {
            self.fault(written, meant_or_there_are(text, &known));
            return self.named_at_least(node);
        }
        self.unknown_fields(node, SIGNAL.fields, &["type"]);
        let mut values = self.fields(node, SIGNAL.fields);
        values.insert("source".to_owned(), text.into());
        values.entry("name").or_insert_with(|| text.into());
        Some(values.into())
    }

    /// A signal of a type that nobody knows; whoever calls it by its name is not at fault.
    fn named_at_least(&mut self, node: &Node) -> Option<Json> {
        let values = self.fields(node, SIGNAL.fields);
        let name = values.get("name")?.as_str()?;
        Some(json!({"name": name, "source": format!("external.{name}")}))
    }

    /// Any value, as it is.
    fn options(&mut self, node: &Node) -> Option<Json> {
        Some(match &node.value {
            Value::Null => Json::Null,
            Value::Bool(value) => (*value).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Int(whole) => match (i64::try_from(*whole), u64::try_from(*whole)) {
                (Ok(whole), _) => whole.into(),
                (_, Ok(whole)) => whole.into(),
                _ => {
                    self.fault(node, "a number of at most 64 bits is needed");
                    return None;
                }
            },
            Value::Float(number) if number.is_finite() => (*number).into(),
            Value::Float(_) => {
                self.fault(node, "a finite number is needed");
                return None;
            }
            Value::List(items) => {
                items.iter().map(|item| self.options(item)).collect::<Option<Vec<_>>>()?.into()
            }
            Value::Map(entries) => {
                let mut map = Map::new();
                for (key, node) in entries {
                    map.insert(key.name.clone(), self.options(node)?);
                }
                map.into()
            }
        })
    }
}

/// What to say of a key that nobody knows.
pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!("is unknown here; did you mean {meant:?}?"),
        None => format!("is unknown here; {}", there_are(known)),
    }
}

fn type_needed(part: Option<Part>, known: &[&str]) -> String {
    match (part, known) {
        (Some(part), []) => format!("no {} is registered by any name", part.word()),
        _ => there_are(known.iter().copied()),
    }
}

fn fields_needed(section: &Section) -> String {
    let names = section.fields.iter().take(3).map(|field| field.name);
    format!("a section is needed, with fields such as {}", listed(names))
}

/// Somebody who wrote the type alone meant a section of that type.
fn type_wanted(node: &Node, tagged: &Tagged) -> String {
    let first = tagged.variants.first().map_or("NAME", |variant| variant.name);
    let name = node.text().filter(|text| tagged.variant(text).is_some()).unwrap_or(first);
    format!("a section is needed, such as {{type: {name}}}")
}

fn is_label(text: &str) -> bool {
    text.parse::<Label>().is_ok()
}

fn flag(node: &Node) -> Option<Json> {
    match node.value {
        Value::Bool(value) => Some(value.into()),
        _ => None,
    }
}

fn count(node: &Node, min: u64, max: u64) -> Option<Json> {
    match node.value {
        Value::Int(whole) => {
            u64::try_from(whole).ok().filter(|whole| min <= *whole && *whole <= max).map(Json::from)
        }
        _ => None,
    }
}

fn number(node: &Node, range: Range) -> Option<Json> {
    let number = match node.value {
        Value::Int(whole) => whole as f64,
        Value::Float(number) => number,
        _ => return None,
    };
    range.holds(number).then(|| number.into())
}

fn measure(node: &Node, range: Range) -> Option<Json> {
    let seconds = node.text().and_then(duration).map(|span| span.as_secs_f64());
    match seconds {
        Some(seconds) => range.holds(seconds).then(|| seconds.into()),
        None => number(node, range),
    }
}

fn span(node: &Node, zero: Zero) -> Option<Json> {
    let span = match &node.value {
        Value::Text(text) => duration(text),
        Value::Int(0) => Some(std::time::Duration::ZERO),
        _ => None,
    };
    span.filter(|span| zero == Zero::Allowed || !span.is_zero()).map(seconds_value)
}

fn bytes(node: &Node) -> Option<Json> {
    match &node.value {
        Value::Text(text) => size(text).filter(|bytes| 0 < *bytes).map(Json::from),
        Value::Int(_) => count(node, 1, u64::MAX),
        _ => None,
    }
}

pub(super) fn word(node: &Node, words: &[Word]) -> Option<Json> {
    // `off` and the like are words here, whatever a format takes them for.
    let text = node.text()?;
    let meant = words.iter().find(|word| word.name == text || word.aliases.contains(&text));
    meant.map(|word| word.name.into())
}

/// `2`, `{add: 2}` or `{multiply: 1.5}`.
fn step(node: &Node) -> Option<Json> {
    let workers = |node: &Node| count(node, 1, u64::from(u32::MAX)).map(|n| json!({"add": n}));
    match node.entries() {
        [] => workers(node),
        [(key, node)] if key.name == "add" => workers(node),
        [(key, node)] if key.name == "multiply" => {
            number(node, Range::FACTOR).map(|factor| json!({"multiply": factor}))
        }
        _ => None,
    }
}

/// `mean`, `max`, `min` or `p95`.
fn aggregate(node: &Node) -> Option<Json> {
    let text = node.text()?;
    if ["mean", "max", "min"].contains(&text) {
        return Some(text.into());
    }
    let percent = text.strip_prefix('p')?.parse::<u8>().ok()?;
    (1..=100).contains(&percent).then(|| json!({"percentile": percent}))
}

pub(super) const OVERFLOWS: [&str; 5] =
    ["wait", "reject", "drop_oldest", "drop_newest", "caller_runs"];

fn overflow(node: &Node) -> Option<Json> {
    match (node.text(), node.entries()) {
        (Some(text), _) if OVERFLOWS.contains(&text) => Some(text.into()),
        (None, [(key, node)]) if key.name == "wait_for" => {
            span(node, Zero::Allowed).map(|span| json!({"wait_for": span}))
        }
        _ => None,
    }
}
