//! Fewer points that look the same.

/// The most points of a line; a screen shows no more.
pub const POINTS_MAX: usize = 2_000;

/// Leaves out points between the highest and the lowest of each stretch, so that no peak is lost.
///
/// The first and the last stay, and the order too. What is no number is left out.
pub(super) fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut points = points;
    points.retain(|(x, y)| x.is_finite() && y.is_finite());
    if points.len() <= POINTS_MAX {
        return points;
    }
    let [first, inner @ .., last] = points.as_slice() else { return points };
    let stretches = (POINTS_MAX - 2) / 2;
    let mut kept = vec![*first];
    for stretch in inner.chunks(inner.len().div_ceil(stretches)) {
        let (low, high) = extremes(stretch);
        kept.push(stretch[low.min(high)]);
        if low != high {
            kept.push(stretch[low.max(high)]);
        }
    }
    kept.push(*last);
    kept
}

/// Where the lowest and the highest are.
fn extremes(stretch: &[(f64, f64)]) -> (usize, usize) {
    let (mut low, mut high) = (0, 0);
    for (index, (_, y)) in stretch.iter().enumerate() {
        if *y < stretch[low].1 {
            low = index;
        }
        if stretch[high].1 < *y {
            high = index;
        }
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(len: u32) -> Vec<(f64, f64)> {
        (0..len).map(|n| (f64::from(n), f64::from(n * 7_919 % 1_000))).collect()
    }

    #[test]
    fn few_points_all_stay() {
        assert_eq!(thinned(wave(2_000)), wave(2_000));
        assert_eq!(thinned(Vec::new()), []);
        assert_eq!(thinned(vec![(0.0, f64::NAN), (1.0, 2.0), (f64::INFINITY, 1.0)]), [(1.0, 2.0)]);
    }

    #[test]
    fn many_points_become_few_and_keep_their_peaks() {
        for len in [2_001, 2_002, 3_999, 100_000] {
            let mut points = wave(len);
            points[1_234].1 = 1e6;
            points[777].1 = -1e6;
            let kept = thinned(points.clone());
            assert!(POINTS_MAX / 3 < kept.len() && kept.len() <= POINTS_MAX, "{}", kept.len());
            assert!(kept.contains(&points[1_234]) && kept.contains(&points[777]));
            assert_eq!((kept[0], kept.last()), (points[0], points.last()));
            assert!(kept.is_sorted_by(|a, b| a.0 < b.0), "in order");
        }
    }
}
