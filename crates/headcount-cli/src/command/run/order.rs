//! Gives things back in the order of their numbers, whatever order they come in.

use std::collections::BTreeMap;

/// Holds what came too early. Numbers begin at 1 and none is missing for ever.
#[derive(Debug)]
pub(super) struct Order<T> {
    next: u64,
    /// `None`: the number has nothing to give.
    early: BTreeMap<u64, Option<T>>,
}

impl<T> Default for Order<T> {
    fn default() -> Self {
        Self { next: 1, early: BTreeMap::new() }
    }
}

impl<T> Order<T> {
    /// The number that everything later waits for.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Takes in what belongs to `number`, and returns what may go now.
    pub(super) fn put(&mut self, number: u64, thing: Option<T>) -> Vec<T> {
        self.early.insert(number, thing);
        let mut due = Vec::new();
        while let Some(thing) = self.early.remove(&self.next) {
            due.extend(thing);
            self.next += 1;
        }
        due
    }

    /// All that is left, in order, at the end of a run that left gaps.
    pub(super) fn rest(&mut self) -> Vec<T> {
        std::mem::take(&mut self.early).into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers as they come; a `-` before one has nothing to give.
    fn check(coming: &[i64], expected: &str) {
        let mut order = Order::default();
        let mut told = Vec::new();
        for number in coming {
            let thing = (0 < *number).then_some(*number);
            let due = order.put(number.unsigned_abs(), thing);
            told.push(due.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
        }
        let rest: Vec<_> = order.rest().iter().map(i64::to_string).collect();
        assert_eq!(format!("{} | {}", told.join(" "), rest.join(",")), expected);
    }

    #[test]
    fn what_comes_early_waits() {
        check(&[1, 2, 3], "1 2 3 | ");
        check(&[3, 2, 1, 4], "  1,2,3 4 | ");
        check(&[2, -1, 4], " 2  | 4");
    }
}
