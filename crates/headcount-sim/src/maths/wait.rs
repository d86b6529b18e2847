//! The share that waits longer than one would like.

use super::erlang::erlang_c;
use super::traffic::Traffic;

/// The share of jobs that wait longer than `seconds` at `servers`. `None`: they do not keep up,
/// or the wait is no span of time.
///
/// Exact where arrivals come by chance and times are exponential. Otherwise the time scale of the
/// line is stretched by how much both vary, which is where the mean wait of
/// [Allen and Cunneen](super::allen_cunneen) comes from too; the share that waits at all is left
/// as it is.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic, wait_beyond};
///
/// let traffic = Traffic::poisson(2.0, Service::exponential(1.0)?)?;
/// let late = wait_beyond(&traffic, 3, 0.5).expect("three keep up");
/// assert!((late - 4.0 / 9.0 * (-0.5_f64).exp()).abs() < 1e-15);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn wait_beyond(traffic: &Traffic, servers: u32, seconds: f64) -> Option<f64> {
    let delayed = erlang_c(traffic.load(), servers)?;
    (0.0 <= seconds).then(|| Line::at(traffic, servers, delayed).beyond(seconds))
}

/// The wait at a number of servers: none at all for some, exponential for the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The share of jobs that wait.
    pub(super) delayed: f64,
    /// The mean wait of those that do, in seconds.
    pub(super) mean: f64,
}

impl Line {
    /// The line where servers keep up and the share that must wait is already known.
    pub(super) fn at(traffic: &Traffic, servers: u32, delayed: f64) -> Self {
        let spare = f64::from(servers) - traffic.load().erlangs();
        Self { delayed, mean: traffic.service().mean() * traffic.variability() / spare }
    }

    pub(super) fn beyond(&self, seconds: f64) -> f64 {
        // Where nothing varies the mean is 0, and 0 over 0 is no number.
        let survives = if seconds <= 0.0 { 1.0 } else { (-seconds / self.mean).exp() };
        self.delayed * survives
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Service, allen_cunneen};
    use super::*;
    use proptest::prelude::*;

    fn traffic(erlangs: f64, scv: f64) -> Traffic {
        Traffic::poisson(erlangs, Service::new(1.0, scv).unwrap()).unwrap()
    }

    #[test]
    fn without_variation_nobody_waits_for_long() {
        let even = traffic(2.0, 0.0).with_arrivals_scv(0.0).unwrap();
        assert_eq!(wait_beyond(&even, 3, 0.0), erlang_c(even.load(), 3));
        assert_eq!(wait_beyond(&even, 3, 0.001), Some(0.0));
    }

    #[test]
    fn there_is_no_answer_to_nonsense() {
        let traffic = traffic(2.0, 1.0);
        assert_eq!(wait_beyond(&traffic, 2, 1.0), None);
        assert_eq!(wait_beyond(&traffic, 3, -1.0), None);
        assert_eq!(wait_beyond(&traffic, 3, f64::NAN), None);
        assert_eq!(wait_beyond(&traffic, 3, f64::INFINITY), Some(0.0));
    }

    proptest! {
        #[test]
        fn the_tail_and_the_mean_tell_the_same_story(
            erlangs in 0.1..50.0, more in 1_u32..9, scv in 0.0..5.0,
        ) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let servers = erlangs as u32 + more;
            let traffic = traffic(erlangs, scv);
            let delayed = erlang_c(traffic.load(), servers).expect("they keep up");
            // Of those who wait, one in e waits longer than their mean.
            let mean = allen_cunneen(&traffic, servers).expect("they keep up") / delayed;
            let late = wait_beyond(&traffic, servers, mean).expect("they keep up");
            prop_assert!((late / delayed - (-1.0_f64).exp()).abs() < 1e-12, "{}", late);
        }
    }
}
