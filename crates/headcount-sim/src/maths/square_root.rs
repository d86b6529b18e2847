//! Square-root staffing: what large pools need to spare.
//!
//! The spare workers that keep the share of waiting jobs the same grow with the root of the load,
//! not with the load (Halfin and Whitt).

use super::bad_number::BadNumber;
use super::load::Load;
use super::normal;

/// More roots to spare than this leave nobody waiting.
const BETA_MAX: f64 = 30.0;
/// How often the span in which the answer lies is halved.
const HALVINGS: u32 = 60;

/// The workers for `load`, with `beta` times its root to spare.
///
/// ```
/// use headcount_sim::maths::{Load, square_root_staffing};
///
/// assert_eq!(square_root_staffing(Load::new(100.0)?, 1.0), Ok(110));
/// assert_eq!(square_root_staffing(Load::new(10_000.0)?, 1.0), Ok(10_100));
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
///
/// # Errors
///
/// When beta is below 0 or not a number, or the workers are too many to count.
pub fn square_root_staffing(load: Load, beta: f64) -> Result<u32, BadNumber> {
    let beta = BadNumber::zero_or_above("the spare (beta)", beta)?;
    let workers = (load.erlangs() + beta * load.erlangs().sqrt()).ceil();
    match workers <= f64::from(u32::MAX) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just checked")]
        true => Ok(workers as u32),
        false => {
            let what = "the number of workers";
            Err(BadNumber { what, value: workers, must: "be below 2^32" })
        }
    }
}

/// The share of jobs that wait in a large pool with `beta` times the root of the load to spare:
/// `1 / (1 + βΦ(β)/φ(β))`.
///
/// ```
/// let delayed = headcount_sim::maths::halfin_whitt(1.0)?;
/// assert_eq!((delayed * 1000.0).round() / 1000.0, 0.223);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
///
/// # Errors
///
/// When beta is below 0 or not a number.
pub fn halfin_whitt(beta: f64) -> Result<f64, BadNumber> {
    BadNumber::zero_or_above("the spare (beta)", beta).map(delayed)
}

/// The other way round: the `beta` at which this share of the jobs waits.
///
/// ```
/// use headcount_sim::maths::{halfin_whitt, halfin_whitt_beta};
///
/// let beta = halfin_whitt_beta(0.01)?;
/// assert!((halfin_whitt(beta)? - 0.01).abs() < 1e-12);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
///
/// # Errors
///
/// When the share is not between 0 and 1.
pub fn halfin_whitt_beta(delayed_share: f64) -> Result<f64, BadNumber> {
    let share = BadNumber::share("the share that waits", delayed_share)?;
    let (mut few, mut many) = (0.0, BETA_MAX);
    for _ in 0..HALVINGS {
        let beta = f64::midpoint(few, many);
        match delayed(beta) <= share {
            true => many = beta,
            false => few = beta,
        }
    }
    Ok(many)
}

fn delayed(beta: f64) -> f64 {
    let density = normal::density(beta);
    density / (density + beta * normal::below(beta))
}

#[cfg(test)]
mod tests {
    use super::super::erlang_c;
    use super::*;

    #[test]
    fn it_agrees_with_the_published_values() {
        let shown = |beta| format!("{:.3}", halfin_whitt(beta).unwrap());
        assert_eq!(
            [0.0, 0.5, 1.0, 1.5, 2.0, 2.5].map(shown),
            ["1.000", "0.505", "0.223", "0.085", "0.027", "0.007"]
        );
    }

    #[test]
    fn it_is_where_erlang_c_goes_as_pools_grow() {
        for beta in [0.5, 1.0, 2.0] {
            let off = |erlangs: f64| {
                let load = Load::new(erlangs).unwrap();
                let servers = square_root_staffing(load, beta).unwrap();
                let exact_beta = (f64::from(servers) - erlangs) / erlangs.sqrt();
                let exact = erlang_c(load, servers).unwrap();
                (exact / halfin_whitt(exact_beta).unwrap() - 1.0).abs()
            };
            assert!(off(10_000.0) < off(100.0) / 9.0 && off(1e6) < 0.003, "{beta}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let load = Load::new(4e9).unwrap();
        assert!(square_root_staffing(load, 1e6).is_err());
        assert!(square_root_staffing(load, -1.0).is_err() && halfin_whitt(f64::NAN).is_err());
        assert!(halfin_whitt_beta(0.0).is_err() && halfin_whitt_beta(1.0).is_err());
    }
}
