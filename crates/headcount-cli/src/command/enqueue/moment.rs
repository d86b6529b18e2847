//! A time as people write it: `2030-01-31T08:00:00+01:00`, or `@` and the seconds since 1970.

/// The time in milliseconds since 1970.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let millis = match text.strip_prefix('@') {
        Some(seconds) => seconds.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(1000)),
        None => {
            text.parse::<jiff::Timestamp>().ok().and_then(|at| at.as_millisecond().try_into().ok())
        }
    };
    millis.ok_or_else(|| {
        format!("{text:?} is no time; write 2030-01-31T08:00:00Z or @ and seconds since 1970")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, seconds: Option<u64>) {
        assert_eq!(parse(text).ok(), seconds.map(|seconds| seconds * 1000), "{text}");
    }

    #[test]
    fn times_are_read_with_their_zone() {
        check("@1700000000", Some(1_700_000_000));
        check("1970-01-01T00:00:00Z", Some(0));
        check("2030-01-31T08:00:00Z", Some(1_896_076_800));
        check("2030-01-31 09:00:00+01:00", Some(1_896_076_800));
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in ["", "now", "@", "@-1", "@18446744073709551615", "2030-01-31"] {
            check(text, None);
        }
        // Whose clock would that be, and did the job run before there were any?
        check("2030-01-31T08:00:00", None);
        check("1969-12-31T23:59:59Z", None);
    }
}
