//! The names that queues, kinds and tenants go by, and the keys that jobs share.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name of a queue, a kind of job or a tenant.
///
/// One to 64 of `a-z`, `0-9`, `.`, `_` and `-`, so that a name can be part of a key, a file name, a
/// metric and a command line without being quoted.
///
/// ```
/// use headcount_core::jobs::Label;
///
/// let queue: Label = "emails.daily".parse().expect("a fine name");
/// assert_eq!(queue.as_str(), "emails.daily");
/// assert!("E-Mails".parse::<Label>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(Arc<str>);

/// Why a text is no [`Label`].
///
/// ```
/// use headcount_core::jobs::Label;
///
/// let error = "two words".parse::<Label>().expect_err("it has a space");
/// let said = error.to_string();
/// assert_eq!(said, "the name \"two words\" holds ' '; use a-z, 0-9, '.', '_' and '-'");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelError {
    /// There is nothing in it.
    Empty,
    /// It has this many bytes, more than [`Label::LEN_MAX`].
    Long(usize),
    /// The text holds this character.
    Letter(String, char),
}

/// What jobs have in common that must not run, or be submitted, at once.
///
/// Any text of 1 to 256 bytes without control characters: an account number, a file's path.
///
/// ```
/// use headcount_core::jobs::Key;
///
/// let key: Key = "account 17".parse().expect("a fine key");
/// assert_eq!(key.as_str(), "account 17");
/// assert!("".parse::<Key>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

/// Why a text is no [`Key`].
///
/// ```
/// use headcount_core::jobs::Key;
///
/// let error = "a\nb".parse::<Key>().expect_err("a line break");
/// assert_eq!(error.to_string(), "a key holds the control character '\\n'; leave it out");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// There is nothing in it.
    Empty,
    /// It has this many bytes, more than [`Key::LEN_MAX`].
    Long(usize),
    /// It holds this control character.
    Control(char),
}

impl Label {
    /// The most bytes that a name may have.
    pub const LEN_MAX: usize = 64;

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Key {
    /// The most bytes that a key may have.
    pub const LEN_MAX: usize = 256;

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(LabelError::Empty);
        }
        if Self::LEN_MAX < text.len() {
            return Err(LabelError::Long(text.len()));
        }
        let plain = |letter| matches!(letter, 'a'..='z' | '0'..='9' | '.' | '_' | '-');
        match text.chars().find(|letter| !plain(*letter)) {
            Some(letter) => Err(LabelError::Letter(text.to_owned(), letter)),
            None => Ok(Self(text.into())),
        }
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if Self::LEN_MAX < text.len() {
            return Err(KeyError::Long(text.len()));
        }
        match text.chars().find(|letter| letter.is_control()) {
            Some(letter) => Err(KeyError::Control(letter)),
            None => Ok(Self(text.into())),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for LabelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = Label::LEN_MAX;
        match self {
            Self::Empty => write!(f, "a name is empty; give it 1 to {max} characters"),
            Self::Long(len) => write!(f, "a name has {len} bytes; at most {max} are allowed"),
            Self::Letter(text, letter) => {
                let shown = text.escape_debug();
                write!(f, "the name \"{shown}\" holds {letter:?}; use a-z, 0-9, '.', '_' and '-'")
            }
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let max = Key::LEN_MAX;
        match self {
            Self::Empty => write!(f, "a key is empty; give it 1 to {max} bytes"),
            Self::Long(len) => write!(f, "a key has {len} bytes; at most {max} are allowed"),
            Self::Control(letter) => {
                write!(f, "a key holds the control character {letter:?}; leave it out")
            }
        }
    }
}

impl std::error::Error for LabelError {}
impl std::error::Error for KeyError {}

#[cfg(feature = "serde")]
mod written {
    use super::{Key, Label};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    impl Serialize for Label {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(&self.0)
        }
    }

    impl<'de> Deserialize<'de> for Label {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
            text.parse().map_err(D::Error::custom)
        }
    }

    impl Serialize for Key {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(&self.0)
        }
    }

    impl<'de> Deserialize<'de> for Key {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
            text.parse().map_err(D::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let error = text.parse::<Label>().err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected);
    }

    #[test]
    fn a_name_can_stand_anywhere_unquoted() {
        check("a", None);
        check("0.a-b_c", None);
        check(&"a".repeat(64), None);
        check(&"a".repeat(65), Some("a name has 65 bytes; at most 64 are allowed"));
        check("", Some("a name is empty; give it 1 to 64 characters"));
        check("a}b", Some("the name \"a}b\" holds '}'; use a-z, 0-9, '.', '_' and '-'"));
        check("ä", Some("the name \"ä\" holds 'ä'; use a-z, 0-9, '.', '_' and '-'"));
    }
}
