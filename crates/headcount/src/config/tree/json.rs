//! JSON, read by hand.
//!
//! A reader that gives places is needed, and a reader of YAML is none for JSON: it joins no
//! surrogate pairs and knows no key of more than 1024 letters. The tests hold this one against
//! `serde_json`.

use super::growth::{Growth, Unreadable, add_entry};
use super::{Key, Node, Place, Value};

pub(super) fn parse(text: &str) -> Result<Node, Unreadable> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { text, offset: 0, line: 1, column: 1, growth: Growth::default() };
    reader.skip_space();
    if reader.peek().is_none() {
        return Ok(Node::new(Value::Null, Place::START));
    }
    let node = reader.value()?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.expected("the end of the file")),
    }
}

struct Reader<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
    column: usize,
    growth: Growth,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.offset..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.offset += c.len_utf8();
        (self.line, self.column) = match c {
            '\n' => (self.line + 1, 1),
            _ => (self.line, self.column + 1),
        };
        Some(c)
    }

    /// Passes over so many letters that take one byte each, none of them a line's end.
    fn pass(&mut self, letters: usize) {
        (self.offset, self.column) = (self.offset + letters, self.column + letters);
    }

    fn place(&self) -> Place {
        Place::at(self.line, self.column)
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\r' | '\n')) {
            self.next();
        }
    }

    fn expected(&self, what: &str) -> Unreadable {
        let found = self.peek().map_or("the end of the file".to_owned(), |c| format!("{c:?}"));
        Unreadable::new(self.place(), format!("this is no JSON: expected {what}, found {found}"))
    }

    fn value(&mut self) -> Result<Node, Unreadable> {
        let at = self.place();
        self.growth.add(&at)?;
        let value = match self.peek() {
            Some('{') => self.map(&at)?,
            Some('[') => self.list(&at)?,
            Some('"') => Value::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node::new(value, at))
    }

    fn word(&mut self) -> Result<Value, Unreadable> {
        let words =
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.pass(word.len());
                return Ok(value);
            }
        }
        Err(self.expected("a value"))
    }

    fn map(&mut self, at: &Place) -> Result<Value, Unreadable> {
        self.growth.enter(at)?;
        self.next();
        let mut entries = Vec::new();
        self.skip_space();
        if self.peek() == Some('}') {
            self.next();
            self.growth.leave();
            return Ok(Value::Map(entries));
        }
        loop {
            self.skip_space();
            let key = Key { at: self.place(), name: self.string()? };
            self.skip_space();
            self.take(':', "':' after the key")?;
            self.skip_space();
            let node = self.value()?;
            add_entry(&mut entries, key, node)?;
            if self.ends('}', "',' or '}'")? {
                self.growth.leave();
                return Ok(Value::Map(entries));
            }
        }
    }

    fn list(&mut self, at: &Place) -> Result<Value, Unreadable> {
        self.growth.enter(at)?;
        self.next();
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(']') {
            self.next();
            self.growth.leave();
            return Ok(Value::List(items));
        }
        loop {
            self.skip_space();
            items.push(self.value()?);
            if self.ends(']', "',' or ']'")? {
                self.growth.leave();
                return Ok(Value::List(items));
            }
        }
    }

    /// Whether `close` follows; else a comma must.
    fn ends(&mut self, close: char, expected: &str) -> Result<bool, Unreadable> {
        self.skip_space();
        match self.peek() {
            Some(c) if c == close => {
                self.next();
                Ok(true)
            }
            Some(',') => {
                self.next();
                Ok(false)
            }
            _ => Err(self.expected(expected)),
        }
    }

    fn take(&mut self, wanted: char, expected: &str) -> Result<(), Unreadable> {
        match self.peek() {
            Some(c) if c == wanted => {
                self.next();
                Ok(())
            }
            _ => Err(self.expected(expected)),
        }
    }

    fn string(&mut self) -> Result<String, Unreadable> {
        self.take('"', "a text in double quotes")?;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(self.expected("'\"' at the end of the text")),
                Some('"') => {
                    self.next();
                    return Ok(text);
                }
                Some('\\') => {
                    self.next();
                    text.push(self.escaped()?);
                }
                Some(c) if c < ' ' => return Err(self.expected("a letter or an escape")),
                Some(c) => {
                    self.next();
                    text.push(c);
                }
            }
        }
    }

    fn escaped(&mut self) -> Result<char, Unreadable> {
        let plain = match self.peek() {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                self.next();
                return self.unicode();
            }
            _ => return Err(self.expected("one of \" \\ / b f n r t u after the backslash")),
        };
        self.next();
        Ok(plain)
    }

    /// The letter behind `\u`, which may take two of them.
    fn unicode(&mut self) -> Result<char, Unreadable> {
        let first = self.hex()?;
        let code = match first {
            0xd800..0xdc00 if self.rest().starts_with("\\u") => {
                self.pass(2);
                let second = self.hex()?;
                match second {
                    0xdc00..0xe000 => 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                    _ => first,
                }
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| self.expected("the second half of a surrogate pair"))
    }

    fn hex(&mut self) -> Result<u32, Unreadable> {
        let digits = self.rest().get(..4).filter(|d| d.chars().all(|c| c.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return Err(self.expected("four hexadecimal digits"));
        };
        self.pass(4);
        Ok(code)
    }

    fn number(&mut self) -> Result<Value, Unreadable> {
        let begin = self.offset;
        if self.peek() == Some('-') {
            self.next();
        }
        let leading_zero = self.peek() == Some('0');
        let whole = self.digits()?;
        if leading_zero && 1 < whole {
            (self.offset, self.column) = (begin, self.column - (self.offset - begin));
            return Err(self.expected("a number without zeros before it"));
        }
        let mut is_whole = true;
        if self.peek() == Some('.') {
            is_whole = false;
            self.next();
            self.digits()?;
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            is_whole = false;
            self.next();
            if matches!(self.peek(), Some('+' | '-')) {
                self.next();
            }
            self.digits()?;
        }
        let text = &self.text[begin..self.offset];
        if let (true, Ok(whole)) = (is_whole, text.parse()) {
            return Ok(Value::Int(whole));
        }
        text.parse().map(Value::Float).map_err(|_| self.expected("a number"))
    }

    /// How many digits there are, at least one.
    fn digits(&mut self) -> Result<usize, Unreadable> {
        let count = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return Err(self.expected("a digit"));
        }
        self.pass(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(node: &Node) -> serde_json::Value {
        match &node.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Int(value) => match i64::try_from(*value) {
                Ok(value) => value.into(),
                Err(_) => u64::try_from(*value).map_or((*value as f64).into(), Into::into),
            },
            Value::Float(value) => (*value).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(plain).collect(),
            Value::Map(entries) => {
                entries.iter().map(|(key, node)| (key.name.clone(), plain(node))).collect()
            }
        }
    }

    fn refused(text: &str, at: &str, problem: &str) {
        let unreadable = parse(text).expect_err(text);
        assert_eq!(unreadable.at.to_string(), at, "{}", unreadable.problem);
        assert!(unreadable.problem.contains(problem), "{}", unreadable.problem);
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        refused("{\n  \"a\" 1}", "2:7", "expected ':' after the key, found '1'");
        refused("{\"a\": 1,}", "1:9", "expected a text in double quotes, found '}'");
        refused("[1 2]", "1:4", "expected ',' or ']', found '2'");
        refused("{\"a\": 01}", "1:7", "without zeros");
        refused("\"a", "1:3", "found the end of the file");
        refused("\"\\ud800x\"", "1:8", "surrogate");
        refused("{\"a\": 1, \"a\": 2}", "1:10", "\"a\" is written twice, first at 1:2");
        refused("{} {}", "1:4", "expected the end of the file");
        refused("// no\n{}", "1:1", "expected a value, found '/'");
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in "[\\[\\]{}:,\"a0-9.eE+\\-\\\\ un]{0,24}") {
            let ours = parse(&text);
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            if let Ok(theirs) = &theirs
                && let Ok(ours) = &ours
            {
                prop_assert_eq!(&plain(ours), theirs);
            }
            let twice = ours.as_ref().is_err_and(|bad| bad.problem.contains("twice"));
            let huge = theirs.as_ref().is_err_and(|bad| bad.to_string().contains("out of range"));
            if !twice && !huge && !text.trim().is_empty() {
                prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{} {:?} {:?}", text, ours, theirs);
            }
        }

        #[test]
        fn reads_back_any_text(text in any::<String>()) {
            let written = serde_json::Value::from(text.as_str()).to_string();
            let read = parse(&written).unwrap();
            prop_assert_eq!(read.text(), Some(text.as_str()));
        }
    }
}
