//! Finds numbers in the forms that the kernel writes them in.

use std::ops::RangeInclusive;

/// The number behind `key`, on a line of its own: `anon 4096`, or `MemTotal: 4096 kB`.
pub(super) fn keyed(text: &str, key: &str) -> Option<u64> {
    value_of(text, key)?.split_ascii_whitespace().next()?.parse().ok()
}

/// What stands behind `key` on its line.
pub(super) fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let value = |line: &'a str| {
        let rest = line.strip_prefix(key)?;
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        rest.starts_with([' ', '\t']).then(|| rest.trim())
    };
    text.lines().find_map(value)
}

/// A list of processors, such as `0-3,8,10-11`. `None`: it is not in that form.
pub(super) fn processors(text: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.trim().split(',').map(range).collect()
}

/// How many processors are in both lists.
pub(super) fn in_both(a: &[RangeInclusive<u32>], b: &[RangeInclusive<u32>]) -> u32 {
    let mut both = 0_u32;
    for one in a {
        for other in b {
            let first = *one.start().max(other.start());
            let last = *one.end().min(other.end());
            let shared = last.checked_sub(first).map_or(0, |more| more.saturating_add(1));
            both = both.saturating_add(shared);
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_as_a_whole_word() {
        let text = "total_anon 9\nanon 4096\nanon_thp 2\nMemTotal:   77 kB\nThreads:\t5\nbad x\n";
        let found = ["anon", "total_anon", "MemTotal", "Threads", "bad", "an", "none"]
            .map(|key| keyed(text, key));
        assert_eq!(found, [Some(4096), Some(9), Some(77), Some(5), None, None, None]);
        assert_eq!(keyed("anon", "anon"), None);
        assert_eq!(keyed("anon -1", "anon"), None);
    }

    #[test]
    fn processors_are_counted_where_both_lists_have_them() {
        let check = |a, b, both| {
            let (a, b) = (processors(a).unwrap(), processors(b).unwrap());
            assert_eq!((in_both(&a, &b), in_both(&b, &a)), (both, both), "{a:?} and {b:?}");
        };
        check("0-3", "0-3\n", 4);
        check("0-127", "0-3", 4);
        check("1,3,5-6", "0-5", 3);
        check("4", "0-3", 0);
        check("0-4294967295", "0-4294967295", u32::MAX);
        check("3-1", "0-9", 0);
    }

    #[test]
    fn what_is_no_list_is_not_guessed_at() {
        for text in ["", "a", "0-", "-3", "0,,2", "0 1", "99999999999"] {
            assert_eq!(processors(text), None, "{text:?}");
        }
    }
}
