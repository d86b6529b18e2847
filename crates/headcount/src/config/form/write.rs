//! Writes checked values the way a file does.

use serde_json::{Map, Value as Json, json};

use super::kind::{Field, Kind, Section, Tag, Tagged};
use super::signals::SIGNAL;
use super::words::{duration_text, size_value, span_of};

/// The value as a file has it; nothing where there is none.
pub(crate) fn write(kind: &Kind, value: &Json) -> Option<Json> {
    if value.is_null() {
        return None;
    }
    Some(match kind {
        Kind::Span(_) => duration_text(span_of(value)?).into(),
        Kind::Size => size_value(value.as_u64()?),
        Kind::Step => match value.get("add") {
            Some(workers) => workers.clone(),
            None => value.clone(),
        },
        Kind::Aggregate => match value.get("percentile") {
            Some(percent) => format!("p{percent}").into(),
            None => value.clone(),
        },
        Kind::Overflow => match value.get("wait_for") {
            Some(span) => json!({"wait_for": duration_text(span_of(span)?)}),
            None => value.clone(),
        },
        Kind::List(inner, _) => {
            let items = value.as_array()?.iter();
            items.filter_map(|item| write(inner, item)).collect::<Vec<_>>().into()
        }
        Kind::Section(section) => write_section(section, value).into(),
        Kind::Map(entries) => {
            let entry = |(name, inner): (&String, &Json)| {
                Some((name.clone(), write(entries.inner, inner)?))
            };
            value.as_object()?.iter().filter_map(entry).collect::<Map<_, _>>().into()
        }
        Kind::Tagged(tagged) => write_tagged(tagged, value)?,
        Kind::Either { wrapped, section, .. } => match value.get(wrapped) {
            Some(inner) => write_section(section, inner).into(),
            None => value.clone(),
        },
        Kind::Signal => write_signal(value),
        _ => value.clone(),
    })
}

/// The fields of a section, in their order.
pub(crate) fn write_section(section: &Section, value: &Json) -> Map<String, Json> {
    write_fields(section.fields, value)
}

fn write_fields(fields: &[Field], value: &Json) -> Map<String, Json> {
    let mut written = Map::new();
    for field in fields {
        let inner = value.get(field.name).and_then(|inner| write(&field.kind, inner));
        if let Some(inner) = inner {
            written.insert(field.name.to_owned(), inner);
        }
    }
    written
}

fn write_tagged(tagged: &Tagged, value: &Json) -> Option<Json> {
    let (name, inner) = match (tagged.tag, value) {
        (Tag::Outside, Json::String(name)) => (name.as_str(), &Json::Null),
        (Tag::Outside, value) => {
            let (name, inner) = value.as_object()?.iter().next()?;
            (name.as_str(), inner)
        }
        (Tag::Inside, value) => (value.get("type")?.as_str()?, value),
    };
    let mut written = Map::from_iter([("type".to_owned(), Json::from(name))]);
    match tagged.variant(name) {
        Some(variant) => written.extend(write_section(variant.section, inner)),
        None => written.extend(options_of(inner)),
    }
    written.extend(write_fields(tagged.shared, inner));
    Some(written.into())
}

fn options_of(value: &Json) -> Map<String, Json> {
    value.get("options").and_then(Json::as_object).cloned().unwrap_or_default()
}

fn write_signal(value: &Json) -> Json {
    let plug = value.get("plug");
    let kind = plug.map_or_else(|| value.get("source"), |plug| plug.get("type"));
    let mut written = Map::from_iter([("type".to_owned(), kind.cloned().unwrap_or_default())]);
    written.extend(write_section(&SIGNAL, value));
    written.extend(plug.map(options_of).unwrap_or_default());
    written.into()
}
