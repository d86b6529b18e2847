//! What somebody may have meant.

/// The one of `known` that is nearest to `word`, if one is near.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if WORD_MAX < word.len() {
        return None;
    }
    let word = word.to_lowercase().replace('-', "_");
    let far = word.chars().count().div_ceil(3);
    let scored = known.into_iter().map(|name| (distance(&word, name, far), name));
    let near = scored.filter(|(distance, _)| *distance <= far);
    near.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Longer words are no slips of anybody's hand.
const WORD_MAX: usize = 48;

/// How many letters must be put, taken, changed or swapped; `far + 1` where the lengths tell.
fn distance(left: &str, right: &str, far: usize) -> usize {
    // Part of the name, or more than the name: `max` for `workers_max`.
    if 3 <= left.len() && (right.contains(left) || (3 <= right.len() && left.contains(right))) {
        return 1;
    }
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if far < left.len().abs_diff(right.len()) {
        return far + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let changed = row[j] + usize::from(a != b);
            let mut least = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if 0 < i && 0 < j && *a == right[j - 1] && left[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

/// `a, b and c`.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [one] => (*one).to_owned(),
        [firsts @ .., last] => format!("{} and {last}", firsts.join(", ")),
    }
}

/// Says what may be chosen from.
pub(crate) fn there_are<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => "there are none".to_owned(),
        [one] => format!("there is only {one}"),
        names => format!("there are {}", listed(names.iter().copied())),
    }
}

/// The same, after what somebody may have meant by `word`.
pub(crate) fn meant_or_there_are(word: &str, names: &[&str]) -> String {
    let meant = nearest(word, names.iter().copied());
    let meant = meant.map(|name| format!("did you mean {name:?}? ")).unwrap_or_default();
    format!("{meant}{}", there_are(names.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Option<&str>) {
        let known = ["setpoint", "signal", "grow_step", "shrink_share", "workers_max"];
        assert_eq!(nearest(word, known), expected, "{word:?}");
    }

    #[test]
    fn slips_of_the_hand_are_seen() {
        check("setpiont", Some("setpoint"));
        check("set_point", Some("setpoint"));
        check("grow-step", Some("grow_step"));
        check("Signal", Some("signal"));
        check("max", Some("workers_max"));
        check("colour", None);
        check("", None);
        check(&"x".repeat(60), None);
    }

    #[test]
    fn names_are_listed_as_people_do() {
        assert_eq!(listed(["a"]), "a");
        assert_eq!(listed(["a", "b", "c"]), "a, b and c");
        assert_eq!(listed([]), "nothing");
        assert_eq!(there_are(["a"]), "there is only a");
        assert_eq!(meant_or_there_are("aa", &["a", "b"]), "did you mean \"a\"? there are a and b");
    }
}
