//! Who a job is, and who holds it.

use std::fmt;
use std::str::FromStr;

/// The identity of a job, for as long as it is remembered.
///
/// Made by whoever submits, so that a submit whose answer was lost can be repeated. It begins with
/// the time it was made, so ids sort by age; the store never relies on that.
///
/// ```
/// use headcount_core::jobs::JobId;
///
/// let id = JobId::new(1_700_000_000_000, 42);
/// let text = id.to_string();
/// assert_eq!(text.len(), 32);
/// assert_eq!(text.parse(), Ok(id));
/// assert!(JobId::new(1, u128::MAX) < JobId::new(2, 0));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u128);

/// One life of one process that takes jobs: a random number, never a name.
///
/// A process that starts again is another holder, whatever its machine is called.
///
/// ```
/// use headcount_core::jobs::Holder;
///
/// let holder = Holder::new(7);
/// assert_eq!(holder.to_string().parse(), Ok(holder));
/// assert_ne!(holder, Holder::new(8));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder(u128);

/// Why a text names no job and no holder.
///
/// ```
/// use headcount_core::jobs::JobId;
///
/// let error = "17".parse::<JobId>().expect_err("too short");
/// assert_eq!(error.to_string(), "\"17\" is no id; ids are 32 characters of 0-9 and a-f");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobIdError {
    text: String,
}

/// How many bits of an id are chance; those above are the time.
const CHANCE_BITS: u32 = 80;

impl JobId {
    /// An id made at a time in milliseconds since 1970, told apart from others of the same
    /// millisecond by `chance`, of which the lower 80 bits count.
    #[must_use]
    pub const fn new(millis: u64, chance: u128) -> Self {
        let chance = chance & ((1 << CHANCE_BITS) - 1);
        Self(((millis as u128) << CHANCE_BITS) | chance)
    }

    /// The id as one number.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// The id that [`JobId::as_u128`] gave.
    #[must_use]
    pub const fn from_u128(number: u128) -> Self {
        Self(number)
    }
}

impl Holder {
    /// The holder with this number, which must be random.
    #[must_use]
    pub const fn new(chance: u128) -> Self {
        Self(chance)
    }

    /// The holder as one number.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }
}

/// Only as it was written: `+` and capitals would give one id two texts.
fn parsed(text: &str) -> Result<u128, JobIdError> {
    let plain = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let error = || JobIdError { text: text.chars().take(64).collect() };
    if text.len() != 32 || !text.bytes().all(plain) {
        return Err(error());
    }
    u128::from_str_radix(text, 16).map_err(|_| error())
}

impl FromStr for JobId {
    type Err = JobIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parsed(text).map(Self)
    }
}

impl FromStr for Holder {
    type Err = JobIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parsed(text).map(Self)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobId({self})")
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Holder({self})")
    }
}

impl fmt::Display for JobIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no id; ids are 32 characters of 0-9 and a-f", self.text)
    }
}

impl std::error::Error for JobIdError {}

#[cfg(feature = "serde")]
mod written {
    use super::{Holder, JobId};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    impl Serialize for JobId {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(self)
        }
    }

    impl<'de> Deserialize<'de> for JobId {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
            text.parse().map_err(D::Error::custom)
        }
    }

    impl Serialize for Holder {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(self)
        }
    }

    impl<'de> Deserialize<'de> for Holder {
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
    fn check_refused(text: &str) {
        assert!(text.parse::<JobId>().is_err(), "{text:?}");
    }

    #[test]
    fn one_id_has_one_text() {
        check_refused("");
        check_refused("0000000000000000000000000000000");
        check_refused("+0000000000000000000000000000001");
        check_refused("0000000000000000000000000000000A");
        check_refused("0000000000000000000000000000000g");
    }
}
