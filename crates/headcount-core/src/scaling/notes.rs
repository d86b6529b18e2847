//! What signals, deciders and the history remember, written down word by word.
//!
//! A process that restarts reads its notes back and goes on as if nothing had happened. Notes
//! that do not fit (another policy wrote them) are refused as a whole, and the reader begins
//! afresh, which is by holding.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{List, Timestamp};

/// Memory as plain words, to be kept in a file and read back.
///
/// ```
/// use headcount_core::{Noted, Notes};
///
/// let mut notes = Notes::default();
/// (7_u32, Some(0.5_f64)).write(&mut notes);
///
/// let mut reader = notes.reader();
/// assert_eq!(<(u32, Option<f64>)>::read(&mut reader), Some((7, Some(0.5))));
/// assert!(reader.is_at_end());
/// assert_eq!(u64::read(&mut reader), None, "there is no more");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Notes {
    words: Vec<u64>,
}

impl Notes {
    /// The words, to be kept somewhere.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Notes of words that were kept somewhere.
    #[must_use]
    pub fn of_words(words: Vec<u64>) -> Self {
        Self { words }
    }

    /// Reads from the first word on.
    #[must_use]
    pub fn reader(&self) -> NotesReader<'_> {
        NotesReader { words: &self.words }
    }
}

/// Reads [`Notes`] in the order in which they were written.
///
/// ```
/// use headcount_core::{Noted, Notes};
///
/// let notes = Notes::of_words(vec![7, 7]);
/// let mut reader = notes.reader();
/// assert_eq!(u64::read(&mut reader), Some(7));
/// assert_eq!(bool::read(&mut reader), None, "no truth value was written as 7");
/// assert!(reader.is_at_end());
/// ```
#[derive(Debug)]
pub struct NotesReader<'a> {
    words: &'a [u64],
}

impl NotesReader<'_> {
    /// Whether everything was read.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.words.is_empty()
    }

    fn word(&mut self) -> Option<u64> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }
}

/// A value that can be written into [`Notes`] and read back the same.
///
/// `read` returns `None` for words that `write` cannot have written; it never panics.
///
/// ```
/// use headcount_core::{Noted, Notes, NotesReader};
///
/// #[derive(Debug, PartialEq)]
/// struct Streak(u32);
///
/// impl Noted for Streak {
///     fn write(&self, notes: &mut Notes) {
///         self.0.write(notes);
///     }
///     fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
///         u32::read(notes).map(Self)
///     }
/// }
///
/// let mut notes = Notes::default();
/// Streak(3).write(&mut notes);
/// assert_eq!(Streak::read(&mut notes.reader()), Some(Streak(3)));
/// assert_eq!(Streak::read(&mut Notes::of_words(vec![u64::MAX]).reader()), None);
/// ```
pub trait Noted: Sized {
    /// Appends the value.
    fn write(&self, notes: &mut Notes);
    /// Takes the value back.
    fn read(notes: &mut NotesReader<'_>) -> Option<Self>;
}

impl Noted for u64 {
    fn write(&self, notes: &mut Notes) {
        notes.words.push(*self);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        notes.word()
    }
}

impl Noted for u32 {
    fn write(&self, notes: &mut Notes) {
        u64::from(*self).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        notes.word()?.try_into().ok()
    }
}

impl Noted for bool {
    fn write(&self, notes: &mut Notes) {
        u64::from(*self).write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        match notes.word()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Noted for f64 {
    fn write(&self, notes: &mut Notes) {
        self.to_bits().write(notes);
    }
    /// Only finite numbers are remembered, so only those are read.
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        Some(Self::from_bits(notes.word()?)).filter(|value| value.is_finite())
    }
}

impl Noted for Timestamp {
    fn write(&self, notes: &mut Notes) {
        self.as_nanos().write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        notes.word().map(Self::from_nanos)
    }
}

impl Noted for Duration {
    fn write(&self, notes: &mut Notes) {
        self.as_secs().write(notes);
        self.subsec_nanos().write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let seconds = u64::read(notes)?;
        let nanos = u32::read(notes)?;
        (nanos < 1_000_000_000).then(|| Self::new(seconds, nanos))
    }
}

impl<T: Noted> Noted for Option<T> {
    fn write(&self, notes: &mut Notes) {
        self.is_some().write(notes);
        if let Some(value) = self {
            value.write(notes);
        }
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        match bool::read(notes)? {
            true => T::read(notes).map(Some),
            false => Some(None),
        }
    }
}

impl<A: Noted, B: Noted> Noted for (A, B) {
    fn write(&self, notes: &mut Notes) {
        self.0.write(notes);
        self.1.write(notes);
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        Some((A::read(notes)?, B::read(notes)?))
    }
}

impl<T: Noted> Noted for VecDeque<T> {
    fn write(&self, notes: &mut Notes) {
        (self.len() as u64).write(notes);
        for item in self {
            item.write(notes);
        }
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        // Each item takes a word at least, so a made-up length ends where the words do.
        let len = notes.word()?;
        (0..len).map(|_| T::read(notes)).collect()
    }
}

impl<T: Noted + Copy + Default, const MAX: usize> Noted for List<T, MAX> {
    fn write(&self, notes: &mut Notes) {
        (self.len() as u64).write(notes);
        for item in self {
            item.write(notes);
        }
    }
    fn read(notes: &mut NotesReader<'_>) -> Option<Self> {
        let mut list = Self::new();
        for _ in 0..notes.word()? {
            if !list.push(T::read(notes)?) {
                return None;
            }
        }
        Some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Noted + PartialEq + std::fmt::Debug>(value: &T) {
        let mut notes = Notes::default();
        value.write(&mut notes);
        let mut reader = notes.reader();
        assert_eq!(T::read(&mut reader).as_ref(), Some(value));
        assert!(reader.is_at_end());
    }

    #[test]
    fn what_is_written_is_read() {
        check(&u64::MAX);
        check(&Some(Timestamp::from_secs(9)));
        check(&None::<f64>);
        check(&Duration::new(u64::MAX, 999_999_999));
        check(&VecDeque::from([1_u32, 2, 3]));
        check(&(true, -0.5));
    }

    #[test]
    fn words_that_were_never_written_are_refused() {
        let notes = Notes { words: vec![u64::MAX, f64::NAN.to_bits()] };
        assert_eq!(VecDeque::<u64>::read(&mut notes.reader()), None, "a made-up length");
        assert_eq!(bool::read(&mut notes.reader()), None);
        assert_eq!(u32::read(&mut notes.reader()), None);
        let notes = Notes { words: vec![f64::NAN.to_bits()] };
        assert_eq!(f64::read(&mut notes.reader()), None);
    }
}
