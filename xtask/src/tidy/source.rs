//! Splits Rust source into what is code and what is comment.
//!
//! Rules look for words, and a word in a string or a comment is not code. Both parts keep the
//! shape of the source, blank where the other part stands, so lines and columns stay true. What is
//! inside quotes is blank in both. A lexer of the whole language is not needed for that: only
//! comments, strings and characters can hide a word or a brace.

use std::ops::RangeInclusive;

use super::functions::{Function, functions, item_end};

#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) code: String,
    pub(crate) comments: String,
    pub(crate) functions: Vec<Function>,
    tests: Vec<RangeInclusive<usize>>,
}

impl Source {
    pub(crate) fn split(text: &str) -> Self {
        let mut splitter = Splitter { source: text.chars().collect(), ..Splitter::default() };
        while splitter.at < splitter.source.len() {
            splitter.step();
        }
        let Splitter { code, comments, .. } = splitter;
        let functions = functions(&code);
        let tests = test_items(&code);
        Self { code, comments, functions, tests }
    }

    /// Whether a line belongs to an item that is compiled for tests only.
    pub(crate) fn is_test(&self, line: usize) -> bool {
        self.tests.iter().any(|lines| lines.contains(&line))
    }
}

/// The lines of every item under `#[cfg(test)]`, or `#[cfg(all(test, ...))]`.
fn test_items(code: &str) -> Vec<RangeInclusive<usize>> {
    let chars: Vec<char> = code.chars().collect();
    let mut items: Vec<RangeInclusive<usize>> = Vec::new();
    let mut at = 0;
    for (index, line) in code.split_inclusive('\n').enumerate() {
        let (number, begin) = (index + 1, line.trim_start());
        let marked = begin.starts_with("#[cfg(test)]") || begin.starts_with("#[cfg(all(test,");
        if marked && !items.last().is_some_and(|last| last.contains(&number)) {
            let breaks = chars[at..item_end(&chars, at)].iter().filter(|c| **c == '\n').count();
            items.push(number..=number + breaks);
        }
        at += line.chars().count();
    }
    items
}

#[derive(Default)]
struct Splitter {
    source: Vec<char>,
    at: usize,
    code: String,
    comments: String,
}

impl Splitter {
    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => self.line_comment(),
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string(),
            ('\'', _) => self.character_or_lifetime(),
            ('r', '"' | '#') if !self.is_inside_word() => self.raw_string(),
            _ => self.take_code(),
        }
    }

    fn line_comment(&mut self) {
        while self.at < self.source.len() && self.peek(0) != '\n' {
            self.take_comment();
        }
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0_u32;
        while self.at < self.source.len() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    self.take_comment();
                    continue;
                }
            }
            self.take_comment();
            self.take_comment();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take_code();
        while self.at < self.source.len() && self.peek(0) != '"' {
            if self.peek(0) == '\\' {
                self.take_neither();
            }
            self.take_neither();
        }
        self.take_code();
    }

    /// `r"..."` or `r#"..."#`; but `r#type` is a name.
    fn raw_string(&mut self) {
        let hashes = self.source[self.at + 1..].iter().take_while(|c| **c == '#').count();
        self.take_code();
        if self.peek(hashes) != '"' {
            return;
        }
        for _ in 0..=hashes {
            self.take_code();
        }
        while self.at < self.source.len() && !self.ends_raw_string(hashes) {
            self.take_neither();
        }
        for _ in 0..=hashes {
            self.take_code();
        }
    }

    fn ends_raw_string(&self, hashes: usize) -> bool {
        self.peek(0) == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == '#')
    }

    fn character_or_lifetime(&mut self) {
        self.take_code();
        if self.peek(0) != '\\' && self.peek(1) != '\'' {
            return;
        }
        if self.peek(0) == '\\' {
            self.take_neither();
        }
        self.take_neither();
        while self.at < self.source.len() && self.peek(0) != '\'' {
            self.take_neither();
        }
        self.take_code();
    }

    /// `br"..."` and `cr"..."` are raw strings, but `for` is a word that ends in r.
    fn is_inside_word(&self) -> bool {
        let back = |n: usize| self.at.checked_sub(n).map_or(' ', |at| self.source[at]);
        let is_prefix = "bc".contains(back(1)) && !is_of_word(back(2));
        is_of_word(back(1)) && !is_prefix
    }

    fn peek(&self, ahead: usize) -> char {
        self.source.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn take_code(&mut self) {
        self.take(true, false);
    }

    fn take_comment(&mut self) {
        self.take(false, true);
    }

    fn take_neither(&mut self) {
        self.take(false, false);
    }

    fn take(&mut self, code: bool, comment: bool) {
        let Some(&c) = self.source.get(self.at) else { return };
        let blank = if c == '\n' { '\n' } else { ' ' };
        self.code.push(if code { c } else { blank });
        self.comments.push(if comment { c } else { blank });
        self.at += 1;
    }
}

/// Whether a name can contain it.
pub(crate) fn is_of_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str, comments: &str) {
        let parts = Source::split(text);
        assert_eq!((parts.code.as_str(), parts.comments.as_str()), (code, comments), "{text}");
    }

    #[test]
    fn comments_are_parted_from_code() {
        check("a // b", "a     ", "  // b");
        check("a /* { /* b */ } */ c", "a                   c", "  /* { /* b */ } */  ");
        check("//! x\nfn", "     \nfn", "//! x\n  ");
        check("a /* b", "a     ", "  /* b");
    }

    #[test]
    fn strings_are_blank_inside() {
        check(r#"a("{ // b", c)"#, r#"a("      ", c)"#, &" ".repeat(14));
        check(r#"("\"{", c)"#, r#"("   ", c)"#, &" ".repeat(10));
        check("\"a\nb\"", "\" \n \"", "  \n  ");
        check("\"a", "\" ", "  ");
    }

    #[test]
    fn raw_strings_end_where_they_say() {
        check(r##"r#"{"{"#;"##, r##"r#"   "#;"##, &" ".repeat(9));
        check(r#"br"\";"#, r#"br" ";"#, &" ".repeat(6));
        check("r#type + for", "r#type + for", &" ".repeat(12));
    }

    #[test]
    fn a_character_is_not_a_lifetime() {
        check("'{' 'a '\\'' '\"'", "' ' 'a '  ' ' '", &" ".repeat(15));
        check("<'a, 'b>('c')", "<'a, 'b>(' ')", &" ".repeat(13));
        check("'\\u{7b}';", "'      ';", &" ".repeat(9));
    }

    #[test]
    fn test_items_are_known_to_their_last_line() {
        let code = Source::split("a\n#[cfg(test)]\nmod tests {\n  fn x() {}\n}\nb\n");
        let told: Vec<usize> = (1..=6).filter(|line| code.is_test(*line)).collect();
        assert_eq!(told, [2, 3, 4, 5]);
    }

    #[test]
    fn a_test_item_can_be_a_line_or_a_condition_more() {
        let code = Source::split("#[cfg(test)]\nuse a;\n#[cfg(all(test, loom))]\nmod b {\n}\nc\n");
        let told: Vec<usize> = (1..=6).filter(|line| code.is_test(*line)).collect();
        assert_eq!(told, [1, 2, 3, 4, 5]);
    }
}
