//! The universal scalability law: why more workers stop bringing more throughput.
//!
//! Workers queue for what they share (contention), and agree with one another on what they share
//! (coherency). The first bends the curve, the second turns it down; where it turns is the knee.

use std::fmt;

use super::bad_number::BadNumber;
use super::least_squares::least_squares;

/// Fewer different sizes do not tell three numbers apart.
const SIZES_MIN: usize = 3;
/// Steps towards the best curve, each of which at least halves what is left of the way.
const STEPS_MAX: u32 = 100;
const HALVINGS_MAX: u32 = 30;

/// A curve of throughput by the number of workers: `X(n) = λn / (1 + σ(n-1) + κn(n-1))`.
///
/// ```
/// use headcount_sim::maths::Scalability;
///
/// let database = Scalability::new(100.0, 0.03, 0.0004)?;
/// assert_eq!(database.throughput(1.0), 100.0);
/// let knee = database.knee().expect("it turns down");
/// assert_eq!(knee.round(), 49.0);
/// assert!(database.throughput(90.0) < database.throughput(knee));
///
/// let measured = [1.0, 8.0, 30.0, 90.0].map(|n| (n, database.throughput(n)));
/// let fitted = Scalability::fit(&measured)?;
/// assert!((fitted.knee().expect("it turns down") - knee).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    alone: f64,
    contention: f64,
    coherency: f64,
}

impl Scalability {
    /// A curve of which one worker makes `alone` (λ) a second, with the share that must be done
    /// one after the other, `contention` (σ), and the price of agreement, `coherency` (κ).
    ///
    /// # Errors
    ///
    /// When one worker makes nothing, or either share is below 0.
    pub fn new(alone: f64, contention: f64, coherency: f64) -> Result<Self, BadNumber> {
        Ok(Self {
            alone: BadNumber::above_zero("the throughput of one worker", alone)?,
            contention: BadNumber::zero_or_above("the contention (sigma)", contention)?,
            coherency: BadNumber::zero_or_above("the coherency (kappa)", coherency)?,
        })
    }

    /// The curve that comes closest to measured `(workers, throughput)`, by the sum of squares of
    /// the throughput.
    ///
    /// # Errors
    ///
    /// When a point makes no sense, there are fewer than three sizes, or no such curve comes near.
    pub fn fit(points: &[(f64, f64)]) -> Result<Self, Unfit> {
        check(points)?;
        // A share below 0 would be a pool in which workers help one another; where that comes out
        // best, it is noise, and the curve without that share is the one to have.
        let candidates = [[true, true], [true, false], [false, true], [false, false]];
        let curves = candidates.iter().filter_map(|shares| Curve::nearest(points, *shares));
        let best = curves.min_by(|one, other| one.error(points).total_cmp(&other.error(points)));
        let Curve([alone, contention, coherency]) = best.ok_or(Unfit::Shapeless)?;
        Self::new(1.0 / alone, contention / alone, coherency / alone).map_err(Unfit::Point)
    }

    /// What `workers` make in a second.
    #[must_use]
    pub fn throughput(&self, workers: f64) -> f64 {
        let shared = self.contention * (workers - 1.0);
        let agreed = self.coherency * workers * (workers - 1.0);
        self.alone * workers / (1.0 + shared + agreed)
    }

    /// The number of workers beyond which more make less: `sqrt((1-σ)/κ)`, at least one. `None`:
    /// there is none, more workers never make less.
    #[must_use]
    pub fn knee(&self) -> Option<f64> {
        let knee = ((1.0 - self.contention).max(0.0) / self.coherency).sqrt();
        match self.coherency <= 0.0 {
            true => (1.0 < self.contention).then_some(1.0),
            false => Some(knee.max(1.0)),
        }
    }

    /// What one worker makes in a second, λ.
    #[must_use]
    pub fn alone(&self) -> f64 {
        self.alone
    }

    /// The share that must be done one after the other, σ.
    #[must_use]
    pub fn contention(&self) -> f64 {
        self.contention
    }

    /// The price of agreement between any two workers, κ.
    #[must_use]
    pub fn coherency(&self) -> f64 {
        self.coherency
    }
}

/// Why points have no curve.
///
/// ```
/// use headcount_sim::maths::{Scalability, Unfit};
///
/// let error = Scalability::fit(&[(1.0, 10.0), (2.0, 19.0)]).expect_err("two points");
/// assert_eq!(error, Unfit::TooFew { sizes: 2 });
/// assert_eq!(error.to_string(), "2 sizes were measured; it takes at least 3 different ones");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unfit {
    /// A number makes no sense.
    Point(BadNumber),
    /// The points are of too few different sizes.
    TooFew {
        /// How many.
        sizes: usize,
    },
    /// No curve comes near.
    Shapeless,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point(bad) => bad.fmt(f),
            Self::TooFew { sizes } => {
                write!(
                    f,
                    "{sizes} sizes were measured; it takes at least {SIZES_MIN} different ones"
                )
            }
            Self::Shapeless => write!(f, "no curve of this kind comes near the points"),
        }
    }
}

impl std::error::Error for Unfit {}

fn check(points: &[(f64, f64)]) -> Result<(), Unfit> {
    for &(workers, throughput) in points {
        BadNumber::above_zero("a number of workers", workers).map_err(Unfit::Point)?;
        BadNumber::above_zero("a throughput", throughput).map_err(Unfit::Point)?;
    }
    let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    match SIZES_MIN <= sizes.len() {
        true => Ok(()),
        false => Err(Unfit::TooFew { sizes: sizes.len() }),
    }
}

/// `n / X(n)` as a sum of three terms with factors of 0 or above: the first for the work itself,
/// the others for contention and coherency.
#[derive(Clone, Copy, Debug)]
struct Curve([f64; 3]);

impl Curve {
    /// The nearest one in which only those of contention and coherency that are asked for appear.
    fn nearest(points: &[(f64, f64)], shares: [bool; 2]) -> Option<Self> {
        let mut curve = Self::straight(points, shares)?;
        for _ in 0..STEPS_MAX {
            let Some(next) = curve.step(points, shares) else { break };
            curve = next;
        }
        curve.is_sound().then_some(curve)
    }

    /// Where to begin: `n / X` is linear in the factors. A deviation of it counts as much as it
    /// moves the throughput.
    fn straight(points: &[(f64, f64)], shares: [bool; 2]) -> Option<Self> {
        let weights: Vec<f64> = points.iter().map(|(n, x)| x * x / n).collect();
        let target: Vec<f64> = points.iter().map(|(_, x)| *x).collect();
        Self::solve(points, shares, &weights, &target)
    }

    /// A better curve (Gauss and Newton), or `None` where there is none.
    fn step(self, points: &[(f64, f64)], shares: [bool; 2]) -> Option<Self> {
        let weights: Vec<f64> = points.iter().map(|(n, _)| -n / self.ratio(*n).powi(2)).collect();
        let target: Vec<f64> = points.iter().map(|(n, x)| x - n / self.ratio(*n)).collect();
        let Self(way) = Self::solve(points, shares, &weights, &target)?;
        let before = self.error(points);
        let shorter = (0..HALVINGS_MAX).map(|halvings| 0.5_f64.powi(halvings.cast_signed()));
        let tried = shorter.map(|part| Self(std::array::from_fn(|k| self.0[k] + part * way[k])));
        tried.into_iter().find(|next| next.error(points) < before)
    }

    fn solve(
        points: &[(f64, f64)],
        shares: [bool; 2],
        weights: &[f64],
        target: &[f64],
    ) -> Option<Self> {
        let used = [true, shares[0], shares[1]];
        let term =
            |k: usize| points.iter().zip(weights).map(|((n, _), w)| w * terms(*n)[k]).collect();
        let columns: Vec<Vec<f64>> = (0..3).filter(|k| used[*k]).map(term).collect();
        let mut found = least_squares(&columns, target)?.into_iter();
        Some(Self(used.map(|is_used| if is_used { found.next().unwrap_or(0.0) } else { 0.0 })))
    }

    /// `n / X(n)`.
    fn ratio(self, workers: f64) -> f64 {
        self.0.iter().zip(terms(workers)).map(|(factor, term)| factor * term).sum()
    }

    fn error(self, points: &[(f64, f64)]) -> f64 {
        let off = |(n, x): &(f64, f64)| {
            let ratio = self.ratio(*n);
            // Beyond a pole the curve would be below 0, which is no throughput.
            if 0.0 < ratio { (x - n / ratio).powi(2) } else { f64::INFINITY }
        };
        points.iter().map(off).sum()
    }

    fn is_sound(self) -> bool {
        let [alone, contention, coherency] = self.0;
        0.0 < alone && 0.0 <= contention && 0.0 <= coherency && self.0.iter().all(|f| f.is_finite())
    }
}

fn terms(workers: f64) -> [f64; 3] {
    [1.0, workers - 1.0, workers * (workers - 1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The SPEC SDM91 benchmark of N. Gunther, "Guerrilla Capacity Planning", and the fit that
    /// the R package `usl` publishes of it.
    #[test]
    fn it_agrees_with_a_published_fit() {
        let measured = [
            (1.0, 64.9),
            (18.0, 995.9),
            (36.0, 1652.4),
            (72.0, 1853.2),
            (108.0, 1828.9),
            (144.0, 1775.0),
            (216.0, 1702.2),
        ];
        let fitted = Scalability::fit(&measured).unwrap();
        let told = format!(
            "{:.3} {:.5} {:.7} {:.2}",
            fitted.alone(),
            fitted.contention(),
            fitted.coherency(),
            fitted.knee().unwrap()
        );
        assert_eq!(told, "89.995 0.02773 0.0001044 96.52");
    }

    #[test]
    fn without_agreement_there_is_no_knee() {
        let amdahl = Scalability::new(10.0, 0.1, 0.0).unwrap();
        assert_eq!(amdahl.knee(), None);
        let fitted = Scalability::fit(&[1.0, 4.0, 16.0, 64.0].map(|n| (n, amdahl.throughput(n))));
        let fitted = fitted.unwrap();
        assert!((fitted.contention() - 0.1).abs() < 1e-6 && fitted.coherency() < 1e-9);
    }

    #[test]
    fn workers_that_help_one_another_are_taken_for_noise() {
        let fitted = Scalability::fit(&[(1.0, 1.0), (2.0, 2.1), (4.0, 4.3), (8.0, 8.9)]).unwrap();
        assert_eq!((fitted.contention(), fitted.coherency(), fitted.knee()), (0.0, 0.0, None));
    }

    #[test]
    fn a_curve_that_only_falls_turns_at_one() {
        assert_eq!(Scalability::new(10.0, 2.0, 0.1).unwrap().knee(), Some(1.0));
        assert_eq!(Scalability::new(10.0, 2.0, 0.0).unwrap().knee(), Some(1.0));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Scalability::new(0.0, 0.1, 0.1).is_err());
        let told = |points: &[(f64, f64)]| Scalability::fit(points).unwrap_err().to_string();
        assert_eq!(told(&[(1.0, f64::NAN)]), "a throughput is NaN; it must be above 0");
        assert_eq!(told(&[(0.0, 1.0)]), "a number of workers is 0; it must be above 0");
        assert!(told(&[(1.0, 1.0), (1.0, 2.0), (2.0, 2.0)]).starts_with("2 sizes"));
    }

    proptest! {
        #[test]
        fn a_curve_is_found_again(
            alone in 0.1..1e4, contention in 0.0..0.5, coherency in 1e-6..0.01,
        ) {
            let curve = Scalability::new(alone, contention, coherency).unwrap();
            let points = [1.0, 2.0, 5.0, 12.0, 30.0, 80.0, 200.0].map(|n| (n, curve.throughput(n)));
            let fitted = Scalability::fit(&points).expect("it has a curve");
            prop_assert!((fitted.alone() / alone - 1.0).abs() < 1e-4, "{:?}", fitted);
            prop_assert!((fitted.contention() - contention).abs() < 1e-4, "{:?}", fitted);
            prop_assert!((fitted.coherency() / coherency - 1.0).abs() < 1e-3, "{:?}", fitted);
        }
    }
}
