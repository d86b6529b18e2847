//! When failures end a run: `--halt soon,fail=3`.

/// What happens after so many failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Halt {
    /// The run goes on.
    #[default]
    Never,
    /// Nothing more begins; what runs may finish.
    Soon(u64),
    /// What runs is stopped.
    Now(u64),
}

impl Halt {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self::Never);
        }
        let refused =
            || format!("{text:?} says not when to halt; write never, soon,fail=N or now,fail=N");
        let (when, failures) = text.split_once(",fail=").ok_or_else(refused)?;
        let failures = failures.parse().ok().filter(|n| 0 < *n).ok_or_else(refused)?;
        match when {
            "soon" => Ok(Self::Soon(failures)),
            "now" => Ok(Self::Now(failures)),
            _ => Err(refused()),
        }
    }

    /// Whether it is time, after so many failures.
    pub(super) fn is_due(self, failed: u64) -> bool {
        match self {
            Self::Never => false,
            Self::Soon(most) | Self::Now(most) => most <= failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_for_parallel() {
        assert_eq!(Halt::parse("never"), Ok(Halt::Never));
        assert_eq!(Halt::parse("soon,fail=1"), Ok(Halt::Soon(1)));
        assert_eq!(Halt::parse("now,fail=20"), Ok(Halt::Now(20)));
        for text in ["", "now", "soon,fail=0", "later,fail=1", "soon,fail=x", "soon,done=1"] {
            assert!(Halt::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn it_is_due_from_its_number_on() {
        assert!(!Halt::Never.is_due(u64::MAX));
        assert_eq!([1, 2, 3].map(|n| Halt::Soon(2).is_due(n)), [false, true, true]);
    }
}
