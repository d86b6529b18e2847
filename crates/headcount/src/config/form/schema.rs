//! The table as a JSON Schema, for editors.

use std::collections::BTreeMap;

use headcount_core::Preset;
use headcount_core::signal::Source;
use serde_json::{Map, Value as Json, json};

use super::file::FILE;
use super::guards::COOLDOWN;
use super::kind::{Edge, Entries, Field, Keys, Kind, Need, Range, Section, Tagged, Word};
use super::pool::POOL;
use super::signals::SIGNAL;
use super::write::write;

/// What a name of a queue, a kind or a tenant looks like.
const LABEL: &str = "^[a-z0-9._-]{1,64}$";

/// The JSON Schema (draft 2020-12) of a file.
pub(crate) fn schema() -> Json {
    let mut drawing = Drawing::default();
    let mut file = drawing.section(&FILE);
    let pool = drawing.refer(POOL.name, |to| to.section(&POOL));
    let mut named = drawing.section(&POOL);
    if let Some(properties) = properties_of(&mut named) {
        let about = "What the pool is called.";
        properties.insert("name".to_owned(), json!({"type": "string", "description": about}));
    }
    if let Some(properties) = properties_of(&mut file) {
        properties.insert(
            "pools".to_owned(),
            json!({
                "description": "The pools, by name or as a list.",
                "oneOf": [
                    {"type": "object", "additionalProperties": pool},
                    {"type": "array", "items": named},
                ],
            }),
        );
        // A file of one pool may say `pool` and have the policy beside it.
        properties.insert("pool".to_owned(), drawing.single_pool());
        for field in POOL.fields.iter().filter(|field| FILE.field(field.name).is_none()) {
            drawing.property(field, None, properties);
        }
        drawing.short_ways(properties);
    }
    let root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "headcount",
    });
    let mut root = root.as_object().cloned().unwrap_or_default();
    root.extend(file.as_object().cloned().unwrap_or_default());
    root.insert("$defs".to_owned(), json!(drawing.definitions));
    root.into()
}

fn properties_of(schema: &mut Json) -> Option<&mut Map<String, Json>> {
    schema.get_mut("properties").and_then(Json::as_object_mut)
}

/// Definitions by name, so that deciders may stand in deciders.
#[derive(Default)]
struct Drawing {
    definitions: BTreeMap<String, Json>,
}

impl Drawing {
    /// A section that is written once and referred to.
    fn refer(&mut self, name: &str, draw: impl FnOnce(&mut Self) -> Json) -> Json {
        if !self.definitions.contains_key(name) {
            // Known before it is drawn: it may refer to itself.
            self.definitions.insert(name.to_owned(), Json::Null);
            let drawn = draw(self);
            self.definitions.insert(name.to_owned(), drawn);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }

    fn section(&mut self, section: &'static Section) -> Json {
        let mut properties = Map::new();
        let defaults = (section.defaults)();
        for field in section.fields {
            self.property(field, defaults.get(field.name), &mut properties);
        }
        if section.name == POOL.name {
            self.short_ways(&mut properties);
        }
        object(section.about, &properties, &needed(section.fields))
    }

    /// A field under all of its names.
    fn property(
        &mut self,
        field: &'static Field,
        default: Option<&Json>,
        properties: &mut Map<String, Json>,
    ) {
        let mut drawn = self.kind(&field.kind);
        if let Some(drawn) = drawn.as_object_mut() {
            drawn.insert("description".to_owned(), field.about.into());
            if let Some(default) = default.and_then(|default| write(&field.kind, default)) {
                drawn.insert("default".to_owned(), default);
            }
        }
        if field.name == "preset" {
            drawn["enum"] = Preset::all().iter().map(Preset::name).collect();
        }
        for name in field.aliases.iter().chain([&field.name]) {
            properties.insert((*name).to_owned(), drawn.clone());
        }
    }

    /// What may be written at a pool in place of something deeper.
    fn short_ways(&mut self, properties: &mut Map<String, Json>) {
        let cooldown = self.refer(COOLDOWN.name, |to| to.section(&COOLDOWN));
        properties.insert("cooldown".to_owned(), cooldown);
        let mut slo = json!({"oneOf": [span(), {"const": 0}]});
        slo["description"] = "The preset `slo` with this wait budget.".into();
        properties.insert("slo".to_owned(), slo);
        let count = json!({"type": "integer", "minimum": 0});
        properties.insert(
            "bounds".to_owned(),
            json!({
                "description": "The fewest and the most workers, as in `workers`.",
                "type": "object",
                "properties": {"min": count, "max": count},
                "additionalProperties": false,
            }),
        );
    }

    fn single_pool(&mut self) -> Json {
        let mut pool = self.section(&POOL);
        if let Some(properties) = properties_of(&mut pool) {
            let count = json!({"type": "integer", "minimum": 0});
            properties.insert("name".to_owned(), json!({"type": "string"}));
            properties.insert("initial".to_owned(), count);
        }
        pool
    }

    fn kind(&mut self, kind: &'static Kind) -> Json {
        match kind {
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Count(min, max) if *max == u64::MAX => {
                json!({"type": "integer", "minimum": min})
            }
            Kind::Count(min, max) => json!({"type": "integer", "minimum": min, "maximum": max}),
            Kind::Number(range) => number(*range),
            Kind::Measure(range) => json!({"oneOf": [number(*range), span()]}),
            Kind::Span(_) => json!({"oneOf": [span(), {"const": 0}]}),
            Kind::Size => {
                let text = json!({"type": "string", "pattern": "^[0-9.]+ *([TGMK]iB|[TGMk]?B)$"});
                json!({"oneOf": [{"type": "integer", "minimum": 1}, text]})
            }
            Kind::Label => json!({"type": "string", "pattern": LABEL}),
            Kind::Text | Kind::Line | Kind::Path => json!({"type": "string"}),
            Kind::Name => json!({"type": "string", "pattern": "^[a-z0-9._-]{1,31}$"}),
            Kind::Word(words) => {
                let names = words
                    .iter()
                    .flat_map(|Word { name, aliases }| std::iter::once(name).chain(aliases.iter()));
                json!({"enum": names.collect::<Vec<_>>()})
            }
            Kind::Step => json!({"oneOf": [
                {"type": "integer", "minimum": 1},
                {"type": "object", "properties": {"add": {"type": "integer", "minimum": 1}},
                 "required": ["add"], "additionalProperties": false},
                {"type": "object", "properties": {"multiply": number(Range::FACTOR)},
                 "required": ["multiply"], "additionalProperties": false},
            ]}),
            Kind::Aggregate => {
                json!({"type": "string", "pattern": "^(mean|max|min|p([1-9][0-9]?|100))$"})
            }
            Kind::Overflow => json!({"oneOf": [
                {"enum": super::check::OVERFLOWS},
                {"type": "object", "properties": {"wait_for": span()},
                 "required": ["wait_for"], "additionalProperties": false},
            ]}),
            Kind::List(inner, len_max) => {
                json!({"type": "array", "maxItems": len_max, "items": self.kind(inner)})
            }
            Kind::Section(section) => self.refer(section.name, |to| to.section(section)),
            Kind::Map(entries) => self.map(entries),
            Kind::Tagged(tagged) => self.refer(tagged.name, |to| to.tagged(tagged)),
            Kind::Either { word, section, .. } => {
                let inner = self.refer(section.name, |to| to.section(section));
                json!({"oneOf": [{"const": word}, inner]})
            }
            Kind::Signal => self.refer("signal", Self::signal),
            Kind::Options => json!({}),
        }
    }

    fn map(&mut self, entries: &'static Entries) -> Json {
        let mut drawn = json!({
            "type": "object",
            "maxProperties": entries.len_max,
            "additionalProperties": self.kind(entries.inner),
        });
        if entries.keys == Keys::Labels {
            drawn["propertyNames"] = json!({"pattern": LABEL});
        }
        drawn
    }

    fn tagged(&mut self, tagged: &'static Tagged) -> Json {
        let mut choices = Vec::new();
        for variant in tagged.variants {
            let mut drawn = self.section(variant.section);
            if let Some(properties) = properties_of(&mut drawn) {
                properties.insert("type".to_owned(), json!({"const": variant.name}));
                for field in tagged.shared {
                    self.property(field, None, properties);
                }
                if variant.name == "threshold" {
                    short_threshold(properties);
                }
            }
            drawn["required"] = [vec!["type"], needed(variant.section.fields)].concat().into();
            choices.push(drawn);
        }
        if tagged.part.is_some() {
            let builtin: Vec<&str> = tagged.variants.iter().map(|variant| variant.name).collect();
            choices.push(registered(&builtin));
        }
        json!({"description": tagged.about, "anyOf": choices})
    }

    fn signal(&mut self) -> Json {
        let mut drawn = self.section(&SIGNAL);
        let sources = Source::FIXED.map(|source| source.to_string());
        if let Some(properties) = properties_of(&mut drawn) {
            let kind = json!({"anyOf": [
                {"enum": sources},
                {"type": "string", "pattern": "^external\\.[a-z0-9._-]+$"},
            ]});
            properties.insert("type".to_owned(), kind);
        }
        drawn["required"] = json!(["type"]);
        let builtin: Vec<&str> = sources.iter().map(String::as_str).collect();
        json!({"anyOf": [drawn, registered(&builtin)]})
    }
}

/// A part of the user's own: any type that is not ours, any fields.
fn registered(builtin: &[&str]) -> Json {
    json!({
        "type": "object",
        "properties": {"type": {"type": "string", "not": {"enum": builtin}}},
        "required": ["type"],
    })
}

fn short_threshold(properties: &mut Map<String, Json>) {
    let measure = json!({"oneOf": [{"type": "number"}, span()]});
    let comparison = super::deciders::COMPARISONS.iter();
    let words: Vec<&str> = comparison
        .flat_map(|word| std::iter::once(word.name).chain(word.aliases.iter().copied()))
        .collect();
    let short = json!({
        "signal": {"type": "string"}, "operator": {"enum": words}, "comparison": {"enum": words},
        "value": measure, "limit": measure, "action": {"enum": ["grow", "shrink"]}, "step": {},
    });
    properties.extend(short.as_object().cloned().unwrap_or_default());
}

fn object(about: &str, properties: &Map<String, Json>, required: &[&str]) -> Json {
    let mut drawn = json!({
        "description": about,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        drawn["required"] = json!(required);
    }
    drawn
}

fn needed(fields: &[Field]) -> Vec<&'static str> {
    // A field of two names cannot be demanded by one of them.
    let needed = |field: &&Field| field.need == Need::Required && field.aliases.is_empty();
    fields.iter().filter(needed).map(|field| field.name).collect()
}

fn span() -> Json {
    json!({"type": "string", "pattern": "^([0-9.]+ *(d|h|m|min|s|ms|us|µs|ns) *)+$"})
}

fn number(range: Range) -> Json {
    let mut drawn = json!({"type": "number"});
    match range.low {
        Edge::None => {}
        Edge::With(low) => drawn["minimum"] = low.into(),
        Edge::Without(low) => drawn["exclusiveMinimum"] = low.into(),
    }
    match range.high {
        Edge::None => {}
        Edge::With(high) => drawn["maximum"] = high.into(),
        Edge::Without(high) => drawn["exclusiveMaximum"] = high.into(),
    }
    drawn
}
