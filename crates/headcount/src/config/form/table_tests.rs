//! The table held against the types that a file is made into.

use serde_json::Value as Json;

use super::check::Checking;
use super::file::FILE;
use super::kind::{Kind, Section, Tagged};
use super::pool::POOL;
use super::signals::SIGNAL;
use super::write::write;
use crate::config::merge::planted;
use crate::config::place::Place;
use crate::config::registry::Registry;

/// Every section of the table, once.
fn sections() -> Vec<&'static Section> {
    let mut all: Vec<&'static Section> = Vec::new();
    let mut open = vec![&FILE, &POOL, &SIGNAL];
    while let Some(section) = open.pop() {
        if all.iter().any(|known| std::ptr::eq(*known, section)) {
            continue;
        }
        all.push(section);
        section.fields.iter().for_each(|field| inner(&field.kind, &mut open));
    }
    all
}

fn inner(kind: &'static Kind, open: &mut Vec<&'static Section>) {
    match kind {
        Kind::Section(section) | Kind::Either { section, .. } => open.push(section),
        Kind::List(kind, _) => inner(kind, open),
        Kind::Map(entries) => inner(entries.inner, open),
        Kind::Tagged(Tagged { variants, .. }) => {
            open.extend(variants.iter().map(|variant| variant.section));
        }
        _ => {}
    }
}

#[test]
fn whatever_has_a_default_is_a_field() {
    assert!(30 < sections().len(), "{} sections", sections().len());
    for section in sections() {
        let defaults = (section.defaults)();
        assert!(defaults.is_object(), "{}", section.name);
        for name in defaults.as_object().into_iter().flatten().map(|(name, _)| name) {
            assert!(section.field(name).is_some(), "{}.{name} is not in the table", section.name);
        }
    }
}

#[test]
fn every_default_is_right_and_comes_back_the_same() {
    let registry = Registry::new();
    for section in sections().into_iter().filter(|section| section.name != "composite") {
        let defaults = (section.defaults)();
        let Some(written) = write(&Kind::Section(section), &defaults) else { continue };
        let node = planted(&written, &Place::Default, String::new());
        let mut checking = Checking::new(&registry);
        let read = checking.section(&node, section);
        let missing = |found: &str| found.contains("is missing");
        let wrong = checking.found.iter().find(|found| !missing(&found.advice));
        assert_eq!(wrong, None, "{}", section.name);
        for (name, value) in read.iter().filter(|(name, _)| defaults.get(*name).is_some()) {
            assert_eq!(Some(value), without_nulls(&defaults).get(name), "{}", section.name);
        }
    }
}

/// What has no default is left out where a file is written.
fn without_nulls(value: &Json) -> Json {
    match value {
        Json::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Json::Object(kept.map(|(name, value)| (name.clone(), without_nulls(value))).collect())
        }
        other => other.clone(),
    }
}

#[test]
fn every_field_says_what_it_is_for() {
    for section in sections() {
        for field in section.fields {
            assert!(field.about.ends_with('.'), "{}.{}", section.name, field.name);
        }
    }
}
