//! From numbers to places, and round numbers to write beside them.

/// About so many marks stand beside an axis from zero.
const MARKS: f64 = 5.0;
/// No axis has more.
const MARKS_MAX: f64 = 40.0;
/// An axis in powers of ten has at most so many of them.
const POWERS_MAX: f64 = 12.0;
/// So many of them are written beside it.
const POWERS_TOLD_MAX: f64 = 6.0;

/// An axis: what its ends mean and what lies between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// Equal distances are equal differences.
    Linear { min: f64, max: f64 },
    /// Equal distances are equal ratios. The ends are powers of ten, not always whole ones; what is
    /// below the lower one is drawn there.
    Powers { min: f64, max: f64 },
}

impl Scale {
    /// From zero to a round number above all of these.
    pub(super) fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        // A little room above the highest; one where there is nothing.
        let most = if 0.0 < most { most * 1.05 } else { 1.0 };
        let step = round_step(most, MARKS);
        Self::Linear { min: 0.0, max: (most / step).ceil() * step }
    }

    /// The whole powers of ten around all of these that are above zero.
    pub(super) fn decades(values: impl Iterator<Item = f64>) -> Self {
        let (min, max) = exponents(values);
        Self::Powers { min: min.floor().min(max.ceil() - 1.0), max: max.ceil() }
    }

    /// From the least of these that is above zero to the most, with some room, in powers of ten.
    pub(super) fn powers(values: impl Iterator<Item = f64>, room: f64) -> Self {
        let (min, max) = exponents(values);
        Self::Powers { min: min - room, max: max + room }
    }

    /// How far along the axis, from 0 to 1.
    pub(super) fn place(self, value: f64) -> f64 {
        let place = match self {
            Self::Linear { min, max } => (value - min) / (max - min),
            Self::Powers { .. } if value <= 0.0 => 0.0,
            Self::Powers { min, max } => (value.log10() - min) / (max - min),
        };
        if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) }
    }

    /// The numbers to write beside it.
    pub(super) fn marks(self) -> Vec<f64> {
        self.about(MARKS)
    }

    /// The numbers to write beside it, about so many where they are not powers of ten.
    pub(super) fn about(self, marks: f64) -> Vec<f64> {
        match self {
            Self::Linear { min, max } => round_marks(min, max, marks),
            Self::Powers { min, max } if max - min < 0.7 => {
                round_marks(10_f64.powf(min), 10_f64.powf(max), marks)
            }
            Self::Powers { min, max } => power_marks(min, max),
        }
    }
}

/// The powers of ten of the least and the most of these that are above zero.
fn exponents(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let positive = values.filter(|value| value.is_finite() && 0.0 < *value);
    let (least, most) = positive
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    match 0.0 < most {
        true => (least.log10().max(most.log10() - POWERS_MAX), most.log10()),
        false => (-1.0, 0.0),
    }
}

fn round_marks(min: f64, max: f64, marks: f64) -> Vec<f64> {
    let step = round_step(max - min, marks);
    let first = (min / step).ceil();
    // A hair more, so that the last one is not lost to rounding.
    let count = ((max / step + 1e-9).floor() - first).clamp(0.0, MARKS_MAX);
    let numbers = std::iter::successors(Some(0.0), |number| Some(number + 1.0));
    numbers.take_while(|n| *n <= count).map(|n| (first + n) * step).collect()
}

/// Powers of ten, with twice and five times of them where they are few.
fn power_marks(min: f64, max: f64) -> Vec<f64> {
    let times: &[f64] = if max - min < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let each = ((max - min) / POWERS_TOLD_MAX).ceil().max(1.0);
    let each = usize::try_from(power(each)).unwrap_or(1);
    let exponents = (power(min.floor())..=power(max)).step_by(each);
    let marks =
        exponents.flat_map(|power| times.iter().map(move |times| times * 10_f64.powi(power)));
    let within = |mark: &f64| min - 1e-9 <= mark.log10() && mark.log10() <= max + 1e-9;
    marks.filter(within).collect()
}

fn power(exponent: f64) -> i32 {
    // A float becomes the nearest number that there is; a hundred powers are beyond any axis.
    #[allow(clippy::cast_possible_truncation)]
    let power = exponent.clamp(-100.0, 100.0) as i32;
    power
}

/// 1, 2 or 5 times a power of ten, so that about so many of them make up the span.
fn round_step(span: f64, marks: f64) -> f64 {
    let rough = span / marks;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|times| rough <= times * power * 1.000_001);
    step.unwrap_or(10.0) * power
}

/// A number in few letters: 1200, 12k, 1.5M.
pub(super) fn short(value: f64) -> String {
    if !(value == 0.0 || (1e-12..1e12).contains(&value.abs())) {
        return format!("{value:.1e}");
    }
    let (value, unit) = match value.abs() {
        size if 1e9 <= size => (value / 1e9, "G"),
        size if 1e6 <= size => (value / 1e6, "M"),
        size if 1e4 <= size => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = match value.abs() {
        size if 100.0 <= size || size == 0.0 => 0,
        size if 1.0 <= size => 2,
        size => usize::try_from(power(2.0 - size.log10().floor())).unwrap_or(0),
    };
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text.as_str(),
    };
    format!("{text}{unit}")
}

/// A span in few letters: 20 ms, 1.5 s, 10 min.
pub(super) fn short_span(seconds: f64) -> String {
    let (value, unit) = match seconds.abs() {
        size if 86_400.0 * 2.0 <= size => (seconds / 86_400.0, "d"),
        size if 7_200.0 <= size => (seconds / 3_600.0, "h"),
        size if 120.0 <= size => (seconds / 60.0, "min"),
        size if 1.0 <= size || size == 0.0 => (seconds, "s"),
        size if 1e-3 <= size => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    format!("{} {unit}", short(value))
}

/// A unit of time whose round numbers suit a span: its name and its length in seconds.
pub(super) fn time_unit(span: f64) -> (&'static str, f64) {
    match span {
        span if 3.0 * 86_400.0 <= span => ("days", 86_400.0),
        span if 3.0 * 3_600.0 <= span => ("h", 3_600.0),
        span if 180.0 <= span => ("min", 60.0),
        _ => ("s", 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], expected: &str) {
        let marks = Scale::from_zero(values.iter().copied()).marks();
        let told: Vec<String> = marks.into_iter().map(short).collect();
        assert_eq!(told.join(" "), expected, "{values:?}");
    }

    #[test]
    fn marks_are_round_numbers() {
        check(&[47.0], "0 10 20 30 40 50");
        check(&[0.0021], "0 0.0005 0.001 0.0015 0.002 0.0025");
        check(&[120_000.0], "0 50k 100k 150k");
        check(&[3.0, f64::NAN, f64::INFINITY], "0 1 2 3 4");
        check(&[0.0], "0 0.2 0.4 0.6 0.8 1");
    }

    #[track_caller]
    fn check_powers(scale: Scale, expected: &str) {
        let told: Vec<String> = scale.marks().into_iter().map(short).collect();
        assert_eq!(told.join(" "), expected, "{scale:?}");
    }

    #[test]
    fn decades_hold_all_that_is_above_zero() {
        let scale = Scale::decades([0.0, 0.03, 7.0].into_iter());
        assert_eq!(scale, Scale::Powers { min: -2.0, max: 1.0 });
        let places = [0.0, 0.01, 0.1, 1.0, 10.0, 99.0, -1.0, f64::NAN].map(|v| scale.place(v));
        let thirds = places.map(|place| (place * 3.0).round());
        assert_eq!(thirds.map(short).join(" "), "0 0 1 2 3 3 0 0");
        assert_eq!(Scale::decades([].into_iter()), Scale::Powers { min: -1.0, max: 0.0 });
    }

    #[test]
    fn powers_have_as_many_marks_as_there_is_room_for() {
        check_powers(Scale::decades([0.0, 0.03, 7.0].into_iter()), "0.01 0.1 1 10");
        check_powers(Scale::decades([1.0].into_iter()), "0.1 0.2 0.5 1");
        check_powers(Scale::powers([1.0, 60.0].into_iter(), 0.1), "1 2 5 10 20 50");
        check_powers(Scale::powers([1.0, 1.3].into_iter(), 0.01), "1 1.1 1.2 1.3");
        check_powers(
            Scale::decades([1e-300, 1e3].into_iter()),
            "0.000000001 0.0000001 0.00001 0.001 0.1 10 1000",
        );
    }

    #[test]
    fn numbers_and_spans_are_short() {
        let told = [0.0, 0.05, 1.5, 250.0, 9_999.0, 12_345.0, 2e6, -3.25].map(short);
        assert_eq!(told.join(" "), "0 0.05 1.5 250 9999 12.35k 2M -3.25");
        let told = [0.0, 0.00002, 0.02, 1.5, 90.0, 600.0, 9_000.0, 300_000.0].map(short_span);
        assert_eq!(told.join(", "), "0 s, 20 µs, 20 ms, 1.5 s, 90 s, 10 min, 2.5 h, 3.47 d");
    }
}
