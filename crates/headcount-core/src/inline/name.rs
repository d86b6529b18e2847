//! A short name, copied rather than shared.

use std::fmt;

/// The name of a signal, a guard or an external reading.
///
/// Lower case letters, digits, `_`, `-` and `.`; at most [`Name::LEN_MAX`] bytes. The default is
/// empty, and names nothing.
///
/// ```
/// use headcount_core::Name;
///
/// let name = Name::new("wait_p99").expect("a fine name");
/// assert_eq!(name.as_str(), "wait_p99");
/// assert!(Name::new("Wait P99").is_err());
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    bytes: [u8; Self::LEN_MAX],
    len: u8,
}

/// Why a text is not a [`Name`].
///
/// ```
/// use headcount_core::{Name, NameError};
///
/// assert_eq!(Name::new("wait p99"), Err(NameError::Letter(' ')));
/// let error = Name::new(&"a".repeat(40)).expect_err("it is too long");
/// assert_eq!(error.to_string(), "a name has 40 bytes; at most 31 are allowed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// There is nothing in it.
    Empty,
    /// It has this many bytes, more than [`Name::LEN_MAX`].
    Long(usize),
    /// It holds this character.
    Letter(char),
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a name is empty; give it 1 to {} characters", Name::LEN_MAX),
            Self::Long(len) => {
                write!(f, "a name has {len} bytes; at most {} are allowed", Name::LEN_MAX)
            }
            Self::Letter(letter) => {
                write!(f, "a name holds {letter:?}; use a-z, 0-9, '_', '-' and '.'")
            }
        }
    }
}

impl std::error::Error for NameError {}

impl Name {
    /// The most bytes that a name may have.
    pub const LEN_MAX: usize = 31;

    /// Takes `text` as a name.
    ///
    /// # Errors
    ///
    /// When it is empty, too long, or holds anything but `a-z`, `0-9`, `_`, `-` and `.`.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
        if let Some(letter) = text.chars().find(|c| !allowed(*c)) {
            return Err(NameError::Letter(letter));
        }
        if Self::LEN_MAX < text.len() {
            return Err(NameError::Long(text.len()));
        }
        Ok(Self::cut(text))
    }

    /// Takes what fits of `text`: a name that came from code, not from a user.
    pub(crate) fn cut(text: &str) -> Self {
        let mut end = text.len().min(Self::LEN_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut bytes = [0; Self::LEN_MAX];
        bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
        #[allow(clippy::cast_possible_truncation)] // At most LEN_MAX, which is 31.
        Self { bytes, len: end as u8 }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = &self.bytes[..usize::from(self.len)];
        // It was text when it was made, and nothing changes it.
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// The name as people read it: `wait_p99` is "wait p99".
    #[must_use]
    pub fn spoken(&self) -> impl fmt::Display + '_ {
        struct Spoken<'a>(&'a str);
        impl fmt::Display for Spoken<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.chars().try_for_each(|c| write!(f, "{}", if c == '_' { ' ' } else { c }))
            }
        }
        Spoken(self.as_str())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Name, E> {
                Name::new(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_refused_with_its_fault() {
        assert_eq!(Name::new(""), Err(NameError::Empty));
        assert_eq!(Name::new(&"a".repeat(32)), Err(NameError::Long(32)));
        assert_eq!(Name::new("p 99"), Err(NameError::Letter(' ')));
        assert!(Name::new(&"a".repeat(31)).is_ok());
    }

    #[test]
    fn a_cut_never_splits_a_letter() {
        assert_eq!(Name::cut(&"é".repeat(20)).as_str(), "é".repeat(15));
    }
}
