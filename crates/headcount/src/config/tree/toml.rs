//! TOML, by the spanned tables of `toml`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::growth::{Growth, Unreadable};
use super::{Key, Node, Place, Value};

pub(super) fn parse(text: &str) -> Result<Node, Vec<Unreadable>> {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| unreadable(error, &lines)).collect());
    }
    let mut reading = Reading { lines, growth: Growth::default() };
    let span = table.span();
    let root = reading.table(table.into_inner(), &span).map_err(|unreadable| vec![unreadable])?;
    Ok(root)
}

fn unreadable(error: &toml::de::Error, lines: &Lines<'_>) -> Unreadable {
    let at = error.span().map_or(Place::START, |span| lines.place(span.start));
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    Unreadable::new(at, format!("this is no TOML: {message}"))
}

/// Where the lines of a text begin, and how many letters stand before each block of it: a file of
/// one long line must not be counted from its beginning for every value.
struct Lines<'a> {
    text: &'a str,
    begins: Vec<usize>,
    letters_before: Vec<usize>,
}

const BLOCK: usize = 1024;

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut letters_before = vec![0];
        for (index, block) in text.as_bytes().chunks(BLOCK).enumerate() {
            letters_before.push(letters_before[index] + letters(block));
        }
        let begins = std::iter::once(0).chain(after_breaks).collect();
        Self { text, begins, letters_before }
    }

    fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.begins.partition_point(|begin| *begin <= offset).max(1);
        let before = self.letters(offset) - self.letters(self.begins[line - 1]);
        Place::at(line, before + 1)
    }

    /// How many letters stand before the byte at `offset`.
    fn letters(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        let rest = &self.text.as_bytes()[block * BLOCK..offset];
        self.letters_before[block] + letters(rest)
    }
}

/// How many letters begin in these bytes.
fn letters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

struct Reading<'a> {
    lines: Lines<'a>,
    growth: Growth,
}

impl Reading<'_> {
    fn table(&mut self, table: DeTable<'_>, span: &Range<usize>) -> Result<Node, Unreadable> {
        let at = self.lines.place(span.start);
        self.growth.add(&at)?;
        self.growth.enter(&at)?;
        let mut entries: Vec<(usize, (Key, Node))> = Vec::new();
        for (key, value) in table {
            let begin = key.span().start;
            let key = Key { at: self.lines.place(begin), name: key.into_inner().into_owned() };
            entries.push((begin, (key, self.value(value)?)));
        }
        // The table is in order of its keys; people wrote it in another one.
        entries.sort_by_key(|(begin, _)| *begin);
        self.growth.leave();
        Ok(Node::new(Value::Map(entries.into_iter().map(|(_, entry)| entry).collect()), at))
    }

    fn value(&mut self, value: Spanned<DeValue<'_>>) -> Result<Node, Unreadable> {
        let span = value.span();
        let at = self.lines.place(span.start);
        let read = match value.into_inner() {
            DeValue::Table(table) => return self.table(table, &span),
            DeValue::Array(items) => {
                self.growth.enter(&at)?;
                let items: Result<_, _> = items.into_iter().map(|item| self.value(item)).collect();
                self.growth.leave();
                Value::List(items?)
            }
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(moment) => Value::Text(moment.to_string()),
            DeValue::Integer(digits) => {
                let whole = i128::from_str_radix(digits.as_str(), digits.radix());
                whole.map(Value::Int).map_err(|_| too_large(&at, digits.as_str()))?
            }
            DeValue::Float(digits) => {
                let number = digits.as_str().parse().map(Value::Float);
                number.map_err(|_| too_large(&at, digits.as_str()))?
            }
        };
        self.growth.add(&at)?;
        Ok(Node::new(read, at))
    }
}

fn too_large(at: &Place, digits: &str) -> Unreadable {
    let problem = format!("the number {} is beyond all reason", super::shorten(digits));
    Unreadable::new(at.clone(), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, at: &str, problem: &str) {
        let unreadable = parse(text).expect_err(text).remove(0);
        assert_eq!(unreadable.at.to_string(), at, "{}", unreadable.problem);
        assert!(unreadable.problem.contains(problem), "{}", unreadable.problem);
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        refused("a = \n", "1:5", "this is no TOML");
        refused("a = 1\na = 2\n", "2:1", "duplicate key");
        refused("a = 1\n[b\n", "2:3", "this is no TOML");
        refused("a = 999999999999999999999999999999999999999999", "1:5", "beyond all reason");
    }

    #[test]
    fn entries_stay_in_the_order_they_were_written_in() {
        let root = parse("b = 1\na = [1.5, true]\n[z]\n[c]\nd = 1979-05-27\n").unwrap();
        let names: Vec<&str> = root.entries().iter().map(|(key, _)| key.name.as_str()).collect();
        assert_eq!(names, ["b", "a", "z", "c"]);
        assert_eq!(root.get("c").unwrap().get("d").unwrap().text(), Some("1979-05-27"));
        let (key, list) = &root.entries()[1];
        assert_eq!((key.at.to_string(), list.at.to_string()), ("2:1".into(), "2:5".into()));
    }
}
