//! A command with places for items: `{}`, `{.}`, `{/}`, `{//}`, `{/.}`, `{#}`, `{%}`, `{1}`.
//!
//! The places are those of GNU parallel. A word with a place of an item stands once for each item
//! of the job; a word with none stands once. A command without such a place gets its items at the
//! end. Nothing is split or unquoted, so an item is one argument, or part of one.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::quote::push_quoted;

/// Part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    /// Of the item that the word stands for.
    Item(Form),
    /// Of the item with this number, from 1 on.
    Nth(usize, Form),
    Sequence,
    Slot,
}

/// What of an item is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    NoExtension,
    Name,
    Directory,
    NameNoExtension,
}

const FORMS: [(&str, Form); 5] = [
    ("", Form::Whole),
    (".", Form::NoExtension),
    ("//", Form::Directory),
    ("/.", Form::NameNoExtension),
    ("/", Form::Name),
];

/// A command with places for items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    words: Vec<Vec<Piece>>,
    /// Run through a shell, as one line.
    is_shell: bool,
}

/// What is put in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling<'a> {
    pub(super) items: &'a [Vec<u8>],
    pub(super) sequence: u64,
    pub(super) slot: usize,
}

impl Template {
    /// Reads a command. `replace` is what `{}` is called, where it is called otherwise.
    pub(super) fn parse(words: &[OsString], replace: Option<&str>, is_shell: bool) -> Self {
        let read = |word: &OsString| pieces(word.as_bytes(), replace);
        let mut words: Vec<_> = words.iter().map(read).collect();
        let has_place = |word: &Vec<Piece>| {
            word.iter().any(|piece| matches!(piece, Piece::Item(_) | Piece::Nth(..)))
        };
        if !words.iter().any(has_place) {
            words.push(vec![Piece::Item(Form::Whole)]);
        }
        Self { words, is_shell }
    }

    /// The program, where it is the same for every item.
    pub(super) fn program(&self) -> Option<&OsStr> {
        match (self.is_shell, self.words.first()?.as_slice()) {
            (true, _) => Some(OsStr::new("sh")),
            (false, [Piece::Text(text)]) => Some(OsStr::from_bytes(text)),
            _ => None,
        }
    }

    /// Whether the command differs from slot to slot.
    pub(super) fn has_slot(&self) -> bool {
        self.words.iter().flatten().any(|piece| *piece == Piece::Slot)
    }

    /// The command for some items.
    pub(super) fn fill(&self, filling: &Filling<'_>) -> Vec<OsString> {
        let mut words = Vec::with_capacity(self.words.len() + 2);
        for word in &self.words {
            let each = word.iter().any(|piece| matches!(piece, Piece::Item(_)));
            match each {
                true => words.extend(filling.items.iter().map(|i| self.word(word, i, filling))),
                false => words.push(self.word(word, &[], filling)),
            }
        }
        match self.is_shell {
            true => vec!["sh".into(), "-c".into(), OsString::from_vec(words.join(&b' '))],
            false => words.into_iter().map(OsString::from_vec).collect(),
        }
    }

    fn word(&self, word: &[Piece], item: &[u8], filling: &Filling<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        for piece in word {
            match piece {
                Piece::Text(literal) => text.extend_from_slice(literal),
                Piece::Item(form) => self.put(&mut text, form.of(item)),
                Piece::Nth(nth, form) => {
                    let item = filling.items.get(*nth - 1).map_or(&[][..], Vec::as_slice);
                    self.put(&mut text, form.of(item));
                }
                Piece::Sequence => text.extend(filling.sequence.to_string().into_bytes()),
                Piece::Slot => text.extend(filling.slot.to_string().into_bytes()),
            }
        }
        text
    }

    /// What the user wrote is for the shell to read, what stands in an item is not.
    fn put(&self, text: &mut Vec<u8>, item: &[u8]) {
        match self.is_shell {
            true => push_quoted(text, item),
            false => text.extend_from_slice(item),
        }
    }
}

impl Form {
    fn of(self, item: &[u8]) -> &[u8] {
        let name_at = item.iter().rposition(|b| *b == b'/').map_or(0, |slash| slash + 1);
        let stem = |item: &'_ [u8], from: usize| match item[from..].iter().rposition(|b| *b == b'.')
        {
            // A dot at the beginning hides a file; it ends no name.
            None | Some(0) => item.len(),
            Some(dot) => from + dot,
        };
        match self {
            Self::Whole => item,
            Self::NoExtension => &item[..stem(item, name_at)],
            Self::Name => &item[name_at..],
            Self::NameNoExtension => &item[name_at..stem(item, name_at)],
            Self::Directory => match name_at {
                0 => b".",
                1 => b"/",
                end => &item[..end - 1],
            },
        }
    }
}

fn pieces(word: &[u8], replace: Option<&str>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut rest = word;
    while !rest.is_empty() {
        match place(rest, replace) {
            Some((piece, used)) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(piece);
                rest = &rest[used..];
            }
            None => {
                text.push(rest[0]);
                rest = &rest[1..];
            }
        }
    }
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// The place that `rest` begins with, and how many bytes it takes.
fn place(rest: &[u8], replace: Option<&str>) -> Option<(Piece, usize)> {
    if let Some(name) = replace.map(str::as_bytes).filter(|name| rest.starts_with(name)) {
        return Some((Piece::Item(Form::Whole), name.len()));
    }
    let inside = rest.strip_prefix(b"{")?;
    let len = inside.iter().position(|b| *b == b'}')?;
    let inside = std::str::from_utf8(&inside[..len]).ok()?;
    let (used, is_renamed) = (len + 2, replace.is_some());
    match inside {
        "#" => return Some((Piece::Sequence, used)),
        "%" => return Some((Piece::Slot, used)),
        "" if is_renamed => return None,
        _ => {}
    }
    let digits = inside.len() - inside.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (nth, form) = inside.split_at(digits);
    let (_, form) = FORMS.iter().find(|(name, _)| *name == form)?;
    match nth.parse::<usize>() {
        Ok(0) => None,
        Ok(nth) => Some((Piece::Nth(nth, *form), used)),
        Err(_) if nth.is_empty() => Some((Piece::Item(*form), used)),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::run::quote::command_line;

    fn filled(words: &[&str], items: &[&str], replace: Option<&str>, is_shell: bool) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let items: Vec<Vec<u8>> = items.iter().map(|item| item.as_bytes().to_vec()).collect();
        let template = Template::parse(&words, replace, is_shell);
        let command = template.fill(&Filling { items: &items, sequence: 7, slot: 2 });
        String::from_utf8_lossy(&command_line(&command)).into_owned()
    }

    fn check(words: &[&str], items: &[&str], expected: &str) {
        assert_eq!(filled(words, items, None, false), expected, "{words:?} with {items:?}");
    }

    #[test]
    fn without_a_place_items_come_last() {
        check(&["echo"], &["a b"], "echo 'a b'");
        check(&["echo", "{#}"], &["a"], "echo 7 a");
        check(&["cp", "-t", "/d"], &["a", "b"], "cp -t /d a b");
    }

    #[test]
    fn a_place_can_be_part_of_a_word_and_stand_more_than_once() {
        check(&["mv", "{}", "{}.bak"], &["a b"], "mv 'a b' 'a b.bak'");
        check(&["a{}b{}"], &["x"], "axbx");
        check(&["echo", "x{}y"], &["a", "b"], "echo xay xby");
        check(&["echo", "{%}", "{#}{}"], &["a"], "echo 2 7a");
    }

    #[test]
    fn paths_are_taken_apart_as_parallel_does() {
        let all = ["{.}", "{/}", "{//}", "{/.}"];
        check(&all, &["d.x/f.tar.gz"], "d.x/f.tar f.tar.gz d.x f.tar");
        check(&all, &["/f"], "/f f / f");
        check(&all, &[".hid"], ".hid .hid . .hid");
    }

    #[test]
    fn items_have_numbers() {
        check(&["diff", "{2}", "{1/.}"], &["a/x.c", "b"], "diff b x");
        check(&["diff", "{1}", "{2}"], &["a"], "diff a ''");
    }

    #[test]
    fn other_braces_are_text() {
        check(
            &["echo", "{a}", "${x}", "{0}", "{", "{}}"],
            &["i"],
            "echo '{a}' '${x}' '{0}' '{' 'i}'",
        );
    }

    #[test]
    fn the_place_can_be_called_otherwise() {
        let words = ["echo", "%", "{}", "-%-"];
        assert_eq!(filled(&words, &["a"], Some("%"), false), "echo a '{}' -a-");
    }

    #[test]
    fn a_shell_reads_the_command_and_not_the_items() {
        let line = filled(&["echo $HOME | grep {} > {.}.out"], &["a;b.c"], None, true);
        assert_eq!(line, r"sh -c 'echo $HOME | grep '\''a;b.c'\'' > '\''a;b'\''.out'");
    }
}
