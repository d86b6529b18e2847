//! Finds the functions in a source and measures them.
//!
//! Works on code without comments and strings, where every brace is a brace.

use super::source::is_of_word;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The line with its name, from 1.
    pub(crate) line: usize,
    /// From there to its closing brace.
    pub(crate) lines: usize,
    /// Without `self`.
    pub(crate) parameters: usize,
}

/// All functions, those inside others too, in order.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    let chars: Vec<char> = code.chars().collect();
    let mut functions = Vec::new();
    let mut line = 1;
    for at in 0..chars.len() {
        if chars[at] == '\n' {
            line += 1;
        }
        functions.extend(function(&chars, at, line));
    }
    functions
}

fn function(chars: &[char], at: usize, line: usize) -> Option<Function> {
    let begins_word = at == 0 || !is_of_word(chars[at - 1]);
    if !begins_word || chars[at..].get(..2) != Some(&['f', 'n']) {
        return None;
    }
    let name_begin = skip_space(chars, at + 2);
    let name_end = name_begin + chars[name_begin..].iter().take_while(|c| is_of_word(**c)).count();
    // `fn(u32)` is a type, and `fnord` is a name.
    if name_begin == at + 2 || name_end == name_begin {
        return None;
    }

    let mut open = skip_space(chars, name_end);
    if chars.get(open) == Some(&'<') {
        open = skip_space(chars, closing(chars, open) + 1);
    }
    if chars.get(open) != Some(&'(') {
        return None;
    }
    let close = closing(chars, open);
    let end = item_end(chars, close + 1);
    Some(Function {
        name: chars[name_begin..name_end].iter().collect(),
        line,
        lines: 1 + chars[at..end].iter().filter(|c| **c == '\n').count(),
        parameters: parameters(&chars[open + 1..close.max(open + 1)]),
    })
}

/// Where the item ends whose rest begins here: at the closing brace of its body; when it has none,
/// at the semicolon.
pub(crate) fn item_end(chars: &[char], from: usize) -> usize {
    let mut at = from;
    while at < chars.len() {
        match chars[at] {
            '{' => return closing(chars, at),
            ';' => return at,
            // `-> [u8; 4]` has a semicolon that ends nothing.
            '(' | '[' => at = closing(chars, at),
            _ => {}
        }
        at += 1;
    }
    chars.len()
}

/// Where the bracket that opens here is closed; the end when it never is.
///
/// `<` counts only where it opens: in a body it may be a comparison.
fn closing(chars: &[char], open: usize) -> usize {
    let angles = chars[open] == '<';
    let mut depth = 0_usize;
    for at in open..chars.len() {
        match chars[at] {
            '(' | '[' | '{' => depth += 1,
            '<' if angles => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '>' if angles && !is_arrow(chars, at) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn is_arrow(chars: &[char], at: usize) -> bool {
    0 < at && (chars[at - 1] == '-' || chars[at - 1] == '=')
}

fn parameters(list: &[char]) -> usize {
    let mut depth = 0_i32;
    let mut parts = vec![String::new()];
    for at in 0..list.len() {
        match list[at] {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if !is_arrow(list, at) => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("it began with one part").push(list[at]);
    }
    parts.iter().filter(|part| !part.trim().is_empty() && !is_self(part)).count()
}

/// `self`, `mut self`, `&self`, `&'a mut self`, `self: Box<Self>`.
fn is_self(parameter: &str) -> bool {
    let pattern = parameter.split(':').next().unwrap_or_default();
    pattern.replace('&', " ").split_whitespace().next_back() == Some("self")
}

fn skip_space(chars: &[char], at: usize) -> usize {
    let begin = at.min(chars.len());
    begin + chars[begin..].iter().take_while(|c| c.is_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each function as `name line+lines/parameters`.
    fn check(code: &str, expected: &str) {
        let told: Vec<String> = functions(code)
            .iter()
            .map(|f| format!("{} {}+{}/{}", f.name, f.line, f.lines, f.parameters))
            .collect();
        assert_eq!(told.join(", "), expected, "{code}");
    }

    #[test]
    fn lines_run_from_the_name_to_the_brace() {
        check("fn a() {}", "a 1+1/0");
        check("\npub fn a()\nwhere\n    T: X,\n{\n    if b { c }\n}\n", "a 2+6/0");
        check("fn a();\nfn b() {\n}", "a 1+1/0, b 2+2/0");
    }

    #[test]
    fn functions_inside_functions_count_too() {
        check("fn a() {\n  fn b() {\n  }\n}", "a 1+4/0, b 2+2/0");
    }

    #[test]
    fn parameters_are_counted_without_self() {
        check("fn a(&self, b: u8, c: u8) {}", "a 1+1/2");
        check("fn a(self: Box<Self>) {} fn b(&'a mut self,) {}", "a 1+1/0, b 1+1/0");
        check("fn a(\n    selfish: u8,\n    b: u8,\n) {}", "a 1+4/2");
    }

    #[test]
    fn a_comma_inside_a_type_parts_nothing() {
        check("fn a(m: Map<K, V>, t: (u8, u8), f: impl Fn(A, B) -> C) {}", "a 1+1/3");
        check("fn a<T: Fn(A) -> B, U>(x: [T; 2]) -> [u8; 4] {\n}", "a 1+2/1");
        check("fn a([b, c]: [u8; 2], D { e, f }: D) {}", "a 1+1/2");
    }

    #[test]
    fn what_only_looks_like_a_function_is_none() {
        check("let f: fn(u8) -> u8; fnord(); my_fn (x); struct fn_;", "");
        check("fn", "");
        check("macro! { fn $name() }", "");
    }
}
