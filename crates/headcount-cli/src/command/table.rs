//! Rows for people: texts to the left, numbers to the right, no wider than they must be.

use std::io::{self, Write};

/// The most characters of a cell; what is longer is cut, `--json` has all of it.
const CELL_MAX: usize = 60;

/// A table that is printed once it is whole.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    numbers: &'static [&'static str],
}

impl Table {
    /// A table with these headings, of which some stand above numbers.
    pub(crate) fn new(headings: &[&str], numbers: &'static [&'static str]) -> Self {
        Self { rows: vec![headings.iter().map(ToString::to_string).collect()], numbers }
    }

    pub(crate) fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.iter().map(|cell| cut(cell)).collect());
    }

    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows[0].len();
        let wide = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).zip(&self.rows[0]);
            let cells = cells.map(|((cell, &wide), heading)| {
                match self.numbers.contains(&heading.as_str()) {
                    true => format!("{cell:>wide$}"),
                    false => format!("{cell:<wide$}"),
                }
            });
            writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// One line that cannot steer a terminal.
fn cut(cell: &str) -> String {
    let plain = cell.lines().next().unwrap_or_default();
    let plain = plain.chars().filter(|c| !c.is_control());
    match plain.clone().count() {
        0..=CELL_MAX => plain.collect(),
        _ => plain.take(CELL_MAX - 3).chain("...".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_left_and_numbers_right() {
        let mut table = Table::new(&["queue", "ready", "oldest"], &["ready"]);
        table.row(&["default".to_owned(), "3".to_owned(), String::new()]);
        table.row(&["a\x1b[2J\nb".to_owned(), "12000".to_owned(), "x".repeat(70)]);
        let mut text = Vec::new();
        table.write(&mut text).expect("memory takes it");
        let long = "x".repeat(57);
        let expected =
            format!("queue    ready  oldest\ndefault      3\na[2J     12000  {long}...\n");
        assert_eq!(String::from_utf8_lossy(&text), expected);
    }
}
