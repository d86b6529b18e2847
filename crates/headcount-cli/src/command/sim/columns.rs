//! Rows of text in columns: names to the left, numbers to the right.

use std::time::Duration;

/// The rows as lines of equal columns.
pub(super) fn lines(rows: &[Vec<String>]) -> Vec<String> {
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(wide).collect();
    let line = |row: &Vec<String>| {
        let cells =
            row.iter().zip(&widths).enumerate().map(|(column, (cell, &wide))| match column {
                0 => format!("{cell:<wide$}"),
                _ => format!("{cell:>wide$}"),
            });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A span as short as it can be read: `0`, `12.5 ms`, `3.20 s`, `12 m`.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        0.0 => "0".to_owned(),
        s if s < 0.001 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 600.0 => format!("{s:.2} s"),
        s => format!("{:.0} m", s / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_to_the_left_and_numbers_to_the_right() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect();
        let rows = [row(&["policy", "J"]), row(&["slo", "1.009"]), row(&["hpa"])];
        assert_eq!(lines(&rows), ["policy      J", "slo     1.009", "hpa"]);
    }

    #[test]
    fn spans_are_short() {
        let shown = |micros| span(Duration::from_micros(micros));
        let spans = [0, 40, 12_500, 3_200_000, 720_000_000].map(shown);
        assert_eq!(spans, ["0", "40 us", "12.5 ms", "3.20 s", "12 m"]);
    }
}
