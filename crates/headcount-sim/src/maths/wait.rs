//! The share that waits longer than one would like.

use super::bursts;
use super::erlang::erlang_c;
use super::traffic::Traffic;

/// The share of jobs that wait longer than `seconds` at `servers`. `None`: they do not keep up,
/// or the wait is no span of time.
///
/// Exact where arrivals come by chance and times are exponential. Otherwise the time scale of the
/// line is stretched by how much both vary, which is where the mean wait of
/// [Allen and Cunneen](super::allen_cunneen) comes from too. In bursts more jobs wait at all, as
/// Whitt has it, and they stretch the line for as much as
/// [servers are busy](Traffic::variability_at); how many wait of arrivals that are more even than
/// chance is left as it is by chance, which errs on the safe side.
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

/// The mean wait of all jobs at `servers`, in seconds. `None`: they do not keep up.
///
/// It is that of [Allen and Cunneen](super::allen_cunneen) where arrivals are no burstier than
/// chance. Where they are, that is too little: it takes as many to wait as by chance.
///
/// ```
/// use headcount_sim::maths::{Service, Traffic, allen_cunneen, wait_mean};
///
/// let traffic = Traffic::poisson(10.0, Service::new(1.0, 0.5)?)?;
/// assert_eq!(wait_mean(&traffic, 14), allen_cunneen(&traffic, 14));
/// let bursty = traffic.with_arrivals_scv(4.0)?;
/// let by_chance = allen_cunneen(&bursty, 14).expect("14 keep up");
/// assert!(1.2 * by_chance < wait_mean(&bursty, 14).expect("14 keep up"));
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn wait_mean(traffic: &Traffic, servers: u32) -> Option<f64> {
    let delayed = bursts::delayed(traffic, servers, erlang_c(traffic.load(), servers)?);
    let spare = f64::from(servers) - traffic.load().erlangs();
    Some(delayed * traffic.service().mean() / spare * traffic.variability_at(servers))
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
    /// The line where servers keep up and Erlang's C of them is already known.
    pub(super) fn at(traffic: &Traffic, servers: u32, erlang_c: f64) -> Self {
        let spare = f64::from(servers) - traffic.load().erlangs();
        Self {
            delayed: bursts::delayed(traffic, servers, erlang_c),
            mean: traffic.service().mean() * traffic.variability_at(servers) / spare,
        }
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
