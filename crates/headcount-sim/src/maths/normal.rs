//! The normal distribution, which the standard library does not have.

/// Where the series has enough digits and beyond which the fraction converges quickly.
const SERIES_MAX: f64 = 3.0;
/// The last terms of both. The series needs 50 at the edge, the fraction 60.
const TERMS_MAX: u32 = 200;

/// Where to look for the inverse, and how often that span is halved.
const EDGE: f64 = 38.0;
const HALVINGS: u32 = 60;

/// How far from the middle all but one in a hundred lie below.
pub(super) const Z_99: f64 = 2.326_347_874_040_841;

/// The bell curve at `x`.
pub(super) fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The share that lies below `x`.
pub(super) fn below(x: f64) -> f64 {
    match x {
        _ if x < -SERIES_MAX => tail(-x),
        _ if x <= SERIES_MAX => 0.5 + density(x) * series(x),
        _ => 1.0 - tail(x),
    }
}

/// The share that lies above `x`. Not `1 - below(x)`, which has no digits left far out.
pub(super) fn above(x: f64) -> f64 {
    below(-x)
}

/// The logarithm of the share that lies above `x`, which has digits where the share has none.
pub(super) fn above_ln(x: f64) -> f64 {
    match x {
        _ if x <= SERIES_MAX => above(x).ln(),
        _ => -0.5 * x * x - 0.5 * (2.0 * std::f64::consts::PI).ln() - fraction(x).ln(),
    }
}

/// Where `share` lies above. Beyond 38 deviations nothing is left that could be counted.
pub(super) fn above_inverse(share: f64) -> f64 {
    let (mut low, mut high) = (-EDGE, EDGE);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match share < above(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// `x + x³/3 + x⁵/15 + x⁷/105 + ...`: the area from 0 to `x`, over the density at `x`.
fn series(x: f64) -> f64 {
    let (mut sum, mut term) = (x, x);
    for k in 1..TERMS_MAX {
        term *= x * x / f64::from(2 * k + 1);
        let before = sum;
        sum += term;
        if sum.to_bits() == before.to_bits() {
            break;
        }
    }
    sum
}

/// The area beyond `x`, as `density / (x + 1/(x + 2/(x + 3/...)))`.
fn tail(x: f64) -> f64 {
    density(x) / fraction(x)
}

fn fraction(x: f64) -> f64 {
    (1..TERMS_MAX).rev().fold(x, |below, k| x + f64::from(k) / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(x: f64, expected: f64) {
        let found = below(x);
        assert!((found / expected - 1.0).abs() < 1e-12, "{found:e} below {x}, not {expected:e}");
    }

    #[test]
    fn it_agrees_with_the_tables() {
        check(0.0, 0.5);
        check(1.0, 0.841_344_746_068_542_9);
        check(-1.0, 0.158_655_253_931_457_05);
        check(-3.0, 1.349_898_031_630_094_5e-3);
        check(-3.000_001, 1.349_893_599_788_331_9e-3);
        check(-6.0, 9.865_876_450_376_946e-10);
        check(-20.0, 2.753_624_118_606_233_7e-89);
        check(8.0, 1.0);
        check(Z_99, 0.99);
    }

    #[test]
    fn the_logarithm_goes_on_where_the_share_is_nothing() {
        for x in [-7.0, 0.0, 2.9, 3.1, 20.0] {
            assert!((above_ln(x) - above(x).ln()).abs() < 1e-12 * (1.0 + x * x), "{x}");
        }
        // -x²/2 - ln(x) - ln(2 pi)/2, less a ten thousandth.
        assert!((above_ln(100.0) + 5_005.524_209).abs() < 1e-4, "{}", above_ln(100.0));
    }

    #[test]
    fn the_inverse_finds_the_way_back() {
        for x in [-Z_99, 0.0, 1.0, Z_99, 6.0, 20.0] {
            assert!((above_inverse(above(x)) - x).abs() < 1e-9, "{x}");
        }
    }

    #[test]
    fn above_and_below_are_all() {
        for x in [-7.0, -3.5, -0.1, 0.0, 2.9, 3.1, 12.0] {
            assert!((above(x) + below(x) - 1.0).abs() < 1e-15, "{x}");
        }
    }
}
