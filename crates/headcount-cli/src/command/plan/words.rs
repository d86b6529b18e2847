//! Numbers as people read them.

use headcount_sim::maths::{Measured, Slo};

/// A number with about three digits that mean something.
pub(super) fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if 100.0 <= size => 0,
        size if 10.0 <= size => 1,
        size if 1.0 <= size => 2,
        size if 0.1 <= size => 3,
        size if 0.01 <= size => 4,
        0.0 => 0,
        _ => return format!("{value:.1e}"),
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

pub(super) fn span(seconds: f64) -> String {
    let units = [(86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (0.001, "ms")];
    // Two minutes read better than 120 seconds, but 90 seconds better than 1.5 minutes.
    let begins = |unit: f64| if 1.0 < unit { 2.0 * unit } else { unit };
    let found = units.iter().find(|(unit, _)| begins(*unit) <= seconds * (1.0 + 1e-12));
    match found {
        _ if seconds <= 0.0 => "0 ms".to_owned(),
        Some((unit, name)) => format!("{} {name}", number(seconds / unit)),
        None => format!("{} us", number(seconds * 1e6)),
    }
}

pub(super) fn rate(per_second: f64) -> String {
    let units = [(1.0, "s"), (60.0, "min"), (3600.0, "h"), (86_400.0, "d")];
    let suits = |(seconds, _): &&(f64, &str)| per_second <= 0.0 || 1.0 <= per_second * seconds;
    let (seconds, name) = units.iter().find(suits).copied().unwrap_or((86_400.0, "d"));
    format!("{}/{name}", number(per_second * seconds))
}

/// Shares too small to matter are not spelt out.
pub(super) fn share(share: f64) -> String {
    match share {
        _ if 0.0 < share && share < 1e-6 => "less than 0.0001 %".to_owned(),
        _ => format!("{} %", number(100.0 * share)),
    }
}

pub(super) fn bytes(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(bits, _)| 1 << bits <= bytes) {
        Some((bits, name)) => format!("{} {name}", number(bytes as f64 / (1_u64 << bits) as f64)),
        None => format!("{bytes} B"),
    }
}

pub(super) fn workers(count: u32) -> String {
    match count {
        1 => "1 worker".to_owned(),
        _ => format!("{count} workers"),
    }
}

/// "1 job waits", "4.77 jobs wait".
pub(super) fn jobs_wait(count: f64) -> String {
    match number(count).as_str() {
        "1" => "1 job waits".to_owned(),
        count => format!("{count} jobs wait"),
    }
}

/// "the wait within 50 ms".
pub(super) fn promise(slo: &Slo) -> String {
    let what = match slo.measured() {
        Measured::Wait => "wait",
        Measured::Latency => "latency",
    };
    format!("the {what} within {}", span(slo.limit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let all = [1014.26, 59.73, 1.925, 0.4263, 0.0123, 0.0, 64.0, 100.0, 0.00012].map(number);
        assert_eq!(all, ["1014", "59.7", "1.93", "0.426", "0.0123", "0", "64", "100", "1.2e-4"]);
    }

    #[test]
    fn spans_have_the_unit_that_suits_them() {
        let all = [0.0, 0.000_25, 0.05, 0.0597, 1.0, 90.0, 120.0, 5400.0, 84_600.0].map(span);
        let expected = ["0 ms", "250 us", "50 ms", "59.7 ms", "1 s", "90 s", "2 min", "90 min"];
        assert_eq!(all[..8], expected);
        assert_eq!(all[8], "23.5 h");
    }

    #[test]
    fn one_job_waits_and_others_wait() {
        let all = [1.0, 1.0004, 0.5, 0.0, 2.0].map(jobs_wait);
        let expected = ["1 job waits", "1 job waits", "0.5 jobs wait", "0 jobs wait"];
        assert_eq!(all[..4], expected);
        assert_eq!(all[4], "2 jobs wait");
    }

    #[test]
    fn rates_and_shares_and_bytes_too() {
        assert_eq!([1000.0, 0.5, 1e-4, 0.0].map(rate), ["1000/s", "30/min", "8.64/d", "0/s"]);
        assert_eq!(
            [0.0081, 1.0, 1e-9, 0.0].map(share),
            ["0.81 %", "100 %", "less than 0.0001 %", "0 %"]
        );
        assert_eq!([4 << 30, 1536, 7].map(bytes), ["4 GiB", "1.5 KiB", "7 B"]);
    }
}
