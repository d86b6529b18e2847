//! What can be set, and what is wrong with it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What is understood, shown to whoever sent something else.
pub(crate) const EXAMPLE: &str = r#"{"worker_concurrency": 10, "enable_adaptive_scaling": true,
 "min_concurrency": 1, "max_concurrency": 10}"#;

/// How a pool is throttled by the machine's health.
///
/// Switched off, which is the default, at most `worker_concurrency` workers are allowed whatever
/// the machine's health. Switched on, there are between `min_concurrency` and `max_concurrency`:
/// the most where the machine is well, half of it on a warning, the fewest when it is critical.
///
/// ```
/// use headcount_ops::Throttling;
///
/// let throttling = Throttling { enable_adaptive_scaling: true, ..Throttling::default() };
/// assert!(throttling.faults().is_empty());
/// assert_eq!((throttling.min_concurrency, throttling.max_concurrency), (1, 10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttling {
    /// The most workers while it is switched off. The default is 10.
    pub worker_concurrency: u32,
    /// Whether it is switched on. The default is no.
    pub enable_adaptive_scaling: bool,
    /// The fewest workers while it is switched on. The default is 1.
    pub min_concurrency: u32,
    /// The most workers while it is switched on, at most [`Throttling::CONCURRENCY_MAX`]. The
    /// default is 10.
    pub max_concurrency: u32,
}

/// What is wrong with a setting.
///
/// ```
/// use headcount_ops::Throttling;
///
/// let crossed = Throttling { min_concurrency: 9, max_concurrency: 5, ..Throttling::default() };
/// let said: Vec<String> = crossed.faults().iter().map(ToString::to_string).collect();
/// assert_eq!(said, ["max_concurrency is 5; it must be at least min_concurrency, which is 9"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThrottlingFault {
    /// This field is 0.
    Zero(&'static str),
    /// The most is below the fewest.
    Crossed {
        /// The fewest.
        min: u32,
        /// The most.
        max: u32,
    },
    /// The most is above [`Throttling::CONCURRENCY_MAX`].
    High(u32),
    /// The field should be this, and is the text.
    Kind(&'static str, &'static str, String),
    /// There is no field of this name.
    Unknown(String),
    /// It is no object.
    NoObject,
}

impl Default for Throttling {
    fn default() -> Self {
        Self {
            worker_concurrency: 10,
            enable_adaptive_scaling: false,
            min_concurrency: 1,
            max_concurrency: 10,
        }
    }
}

const FIELDS: [&str; 4] =
    ["worker_concurrency", "enable_adaptive_scaling", "min_concurrency", "max_concurrency"];

impl Throttling {
    /// The highest that `max_concurrency` can be.
    pub const CONCURRENCY_MAX: u32 = 50;

    /// Everything that is wrong with it.
    #[must_use]
    pub fn faults(&self) -> Vec<ThrottlingFault> {
        let (min, max) = (self.min_concurrency, self.max_concurrency);
        let mut faults = Vec::new();
        if self.worker_concurrency == 0 {
            faults.push(ThrottlingFault::Zero("worker_concurrency"));
        }
        if min == 0 {
            faults.push(ThrottlingFault::Zero("min_concurrency"));
        }
        if max < min {
            faults.push(ThrottlingFault::Crossed { min, max });
        }
        if Self::CONCURRENCY_MAX < max {
            faults.push(ThrottlingFault::High(max));
        }
        faults
    }

    /// This with what a document says, which may leave any field out.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, in the document as well as in what it would lead to.
    pub fn changed_by(&self, document: &Value) -> Result<Self, Vec<ThrottlingFault>> {
        let Value::Object(document) = document else { return Err(vec![ThrottlingFault::NoObject]) };
        let unknown = document.keys().filter(|name| !FIELDS.contains(&name.as_str()));
        let mut faults: Vec<_> = unknown.cloned().map(ThrottlingFault::Unknown).collect();
        let mut changed = *self;
        let numbers = [
            ("worker_concurrency", &mut changed.worker_concurrency),
            ("min_concurrency", &mut changed.min_concurrency),
            ("max_concurrency", &mut changed.max_concurrency),
        ];
        for (name, number) in numbers {
            faults.extend(put(document, name, "a whole number", number, as_u32));
        }
        let enabled = &mut changed.enable_adaptive_scaling;
        let name = "enable_adaptive_scaling";
        faults.extend(put(document, name, "true or false", enabled, Value::as_bool));
        faults.extend(changed.faults());
        if faults.is_empty() { Ok(changed) } else { Err(faults) }
    }
}

fn as_u32(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

/// Puts a field of the document in its place. Says so where it is something else.
fn put<T>(
    document: &Map<String, Value>,
    name: &'static str,
    kind: &'static str,
    place: &mut T,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<ThrottlingFault> {
    let value = document.get(name)?;
    match read(value) {
        Some(value) => {
            *place = value;
            None
        }
        None => Some(ThrottlingFault::Kind(name, kind, short(value))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    text[..text.floor_char_boundary(64)].to_owned()
}

impl fmt::Display for ThrottlingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(field) => write!(f, "{field} is 0; it must be at least 1"),
            Self::Crossed { min, max } => write!(
                f,
                "max_concurrency is {max}; it must be at least min_concurrency, which is {min}",
            ),
            Self::High(max) => write!(
                f,
                "max_concurrency is {max}; it must be at most {}",
                Throttling::CONCURRENCY_MAX,
            ),
            Self::Kind(field, kind, value) => write!(f, "{field} is {value}; it must be {kind}"),
            Self::Unknown(field) => {
                write!(f, "{field:?} is not known; known are {}", FIELDS.join(", "))
            }
            Self::NoObject => f.write_str("the settings must be a JSON object"),
        }
    }
}

impl std::error::Error for ThrottlingFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, expected: &str) {
        let document = serde_json::from_str(document).expect("JSON");
        let said = match Throttling::default().changed_by(&document) {
            Ok(changed) => serde_json::to_string(&changed).expect("JSON"),
            Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn what_is_left_out_stays() {
        check(
            r#"{"enable_adaptive_scaling": true, "max_concurrency": 50}"#,
            "{\"worker_concurrency\":10,\"enable_adaptive_scaling\":true,\
             \"min_concurrency\":1,\"max_concurrency\":50}",
        );
    }

    #[test]
    fn every_fault_is_told_at_once() {
        check(
            r#"{"worker_concurrency": 0, "min_concurrency": 0, "max_concurrency": 51}"#,
            "worker_concurrency is 0; it must be at least 1; min_concurrency is 0; it must be at \
             least 1; max_concurrency is 51; it must be at most 50",
        );
        check(
            r#"{"color": 1, "enable_adaptive_scaling": 1, "min_concurrency": 11,
                "worker_concurrency": -1}"#,
            "\"color\" is not known; known are worker_concurrency, enable_adaptive_scaling, \
             min_concurrency, max_concurrency; worker_concurrency is -1; it must be a whole \
             number; enable_adaptive_scaling is 1; it must be true or false; max_concurrency is \
             10; it must be at least min_concurrency, which is 11",
        );
        check("[]", "the settings must be a JSON object");
    }

    #[test]
    fn the_example_is_understood() {
        let example = serde_json::from_str(EXAMPLE).expect("JSON");
        assert!(Throttling::default().changed_by(&example).is_ok());
    }
}
