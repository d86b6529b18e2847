//! The combination of columns that comes closest to a target.

/// A column of which less than this share is its own says nothing that the others do not say.
const OWN_SHARE_MIN: f64 = 1e-10;

/// The factors with which `columns` add up to something as near to `target` as can be, by the sum
/// of squares. `None`: a column is a combination of the others, so that any factor is as good.
///
/// The columns are made perpendicular one after the other: sums of products, as in the textbook,
/// would lose half of the digits.
pub(super) fn least_squares(columns: &[Vec<f64>], target: &[f64]) -> Option<Vec<f64>> {
    let mut axes: Vec<Vec<f64>> = Vec::new();
    let mut shadows: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let (axis, shadow) = perpendicular(column, &axes)?;
        axes.push(axis);
        shadows.push(shadow);
    }
    let mut rest = target.to_vec();
    let parts: Vec<f64> = axes.iter().map(|axis| take_shadow(&mut rest, axis)).collect();
    let mut factors = vec![0.0; columns.len()];
    for row in (0..columns.len()).rev() {
        let later: f64 = (row + 1..columns.len()).map(|k| shadows[k][row] * factors[k]).sum();
        factors[row] = (parts[row] - later) / shadows[row][row];
    }
    Some(factors)
}

/// The direction of `column` that is in none of `axes`, and its shadow on each of them and on
/// that direction.
fn perpendicular(column: &[f64], axes: &[Vec<f64>]) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut own = column.to_vec();
    let mut shadow: Vec<f64> = axes.iter().map(|axis| take_shadow(&mut own, axis)).collect();
    let length = product(&own, &own).sqrt();
    let is_its_own = OWN_SHARE_MIN * product(column, column).sqrt() < length;
    shadow.push(length);
    is_its_own.then(|| (own.iter().map(|value| value / length).collect(), shadow))
}

/// Takes from `vector` what lies along `axis`, and says how much that was.
fn take_shadow(vector: &mut [f64], axis: &[f64]) -> f64 {
    let shadow = product(vector, axis);
    vector.iter_mut().zip(axis).for_each(|(value, along)| *value -= shadow * along);
    shadow
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(columns: &[&[f64]], target: &[f64], expected: Option<&[f64]>) {
        let columns: Vec<Vec<f64>> = columns.iter().map(|column| column.to_vec()).collect();
        let found = least_squares(&columns, target);
        match (&found, expected) {
            (Some(found), Some(expected)) => {
                let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
                assert!(found.iter().zip(expected).all(is_near), "{found:?}, not {expected:?}");
            }
            (found, expected) => assert_eq!(found.as_deref(), expected),
        }
    }

    #[test]
    fn a_line_through_points_is_found() {
        check(&[&[1.0; 3], &[0.0, 1.0, 2.0]], &[5.0, 7.0, 9.0], Some(&[5.0, 2.0]));
        check(&[&[1.0; 4]], &[1.0, 2.0, 3.0, 6.0], Some(&[3.0]));
        check(&[&[1.0; 3], &[0.0, 1.0, 2.0]], &[0.0, 3.0, 0.0], Some(&[1.0, 0.0]));
    }

    #[test]
    fn columns_of_very_different_size_do_not_lose_digits() {
        let (small, large) = ([1.0, 2.0, 3.0, 4.0], [1e9, 4e9, 9e9, 16e9]);
        let target: Vec<f64> = small.iter().zip(large).map(|(a, b)| 3.0 * a + 1e-9 * b).collect();
        check(&[&small, &large], &target, Some(&[3.0, 1e-9]));
    }

    #[test]
    fn a_column_that_says_nothing_new_has_no_factor() {
        check(&[&[1.0, 2.0], &[2.0, 4.0]], &[1.0, 1.0], None);
        check(&[&[0.0, 0.0]], &[1.0, 1.0], None);
    }
}
