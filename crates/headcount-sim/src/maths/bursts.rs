//! Who waits at all where arrivals come in bursts.
//!
//! Erlang's C takes arrivals for chance. In a burst all servers are busy more often, and the more
//! there are to spare, the more often than chance alone would have it: the number that is busy is
//! spread more widely. Whitt ("Approximations for the GI/G/m queue", 1993) scales C by what lies
//! beyond the servers under the wider bell curve, over what lies beyond them under the plain one.
//! Of his two curves this is the one for busy servers: the mean of both, as he has it, came out
//! further off what was simulated.

use super::load::Load;
use super::normal;
use super::traffic::Traffic;

/// Below this Erlang's C is worked out anew as a logarithm, before its digits are gone.
const TINY: f64 = 1e-200;

/// The share that waits at all, where those of arrivals by chance are `erlang_c`. Arrivals that are
/// more even than chance are taken for chance, which errs on the safe side.
pub(super) fn delayed(traffic: &Traffic, servers: u32, erlang_c: f64) -> f64 {
    let load = traffic.load().erlangs();
    if traffic.arrivals_scv() <= 1.0 || load <= 0.0 {
        return erlang_c;
    }
    let busy = load / f64::from(servers);
    let spare = (1.0 - busy) * f64::from(servers).sqrt();
    let (narrow, wide) = (normal::above_ln(spare), normal::above_ln(spare / traffic.width()));
    let delayed = logarithm(traffic.load(), servers, erlang_c) + wide - narrow;
    // Bursts make nobody wait less; only the rounding does.
    delayed.exp().min(1.0).max(erlang_c)
}

/// The logarithm of Erlang's C, where that may be too small for a number: then nearly nobody is
/// turned away, and B is what Poisson says of exactly so many servers busy, by Stirling's formula.
fn logarithm(load: Load, servers: u32, erlang_c: f64) -> f64 {
    if TINY < erlang_c {
        return erlang_c.ln();
    }
    let (load, servers) = (load.erlangs(), f64::from(servers));
    let root = 0.5 * (2.0 * std::f64::consts::PI * servers).ln() + 1.0 / (12.0 * servers);
    let erlang_b = servers * (load / servers).ln() + servers - load - root;
    erlang_b - (1.0 - load / servers).ln()
}

#[cfg(test)]
mod tests {
    use super::super::{Service, Slo, erlang_c, wait_beyond, wait_mean, workers_needed};
    use super::*;
    use proptest::prelude::*;

    fn traffic(erlangs: f64, arrivals_scv: f64, service_scv: f64) -> Traffic {
        let service = Service::new(1.0, service_scv).unwrap();
        Traffic::poisson(erlangs, service).unwrap().with_arrivals_scv(arrivals_scv).unwrap()
    }

    /// What share waits longer than `wait` mean services was simulated by another program: gaps of
    /// two exponential phases with balanced means, lognormal services, four million jobs.
    #[track_caller]
    fn check((erlangs, scv, service_scv): (f64, f64, f64), known: &[(u32, f64, f64)]) {
        let traffic = traffic(erlangs, scv, service_scv);
        for (servers, wait, simulated) in known {
            let told = wait_beyond(&traffic, *servers, *wait).expect("they keep up");
            let times = told / simulated;
            assert!((0.5..3.5).contains(&times), "{told}, not {simulated}: {traffic:?}, {servers}");
        }
    }

    #[test]
    fn as_many_are_late_in_bursts_as_were_simulated() {
        check((100.0, 9.0, 0.5), &[(122, 0.2, 0.112), (139, 0.2, 0.00999)]);
        check((10.0, 9.0, 0.5), &[(18, 0.5, 0.0457), (21, 0.5, 0.00456)]);
        check((10.0, 9.0, 1.0), &[(19, 0.0, 0.173), (25, 0.0, 0.0162), (21, 0.5, 0.00656)]);
        check((10.0, 4.0, 0.5), &[(18, 0.2, 0.0424), (21, 0.2, 0.00671)]);
        check((10.0, 4.0, 1.0), &[(19, 0.0, 0.0667), (24, 0.0, 0.00549), (17, 0.5, 0.0205)]);
        check((10.0, 2.0, 1.0), &[(16, 0.5, 0.0113), (17, 0.5, 0.00466)]);
    }

    #[test]
    fn what_is_too_small_for_a_number_has_a_logarithm() {
        for (erlangs, servers) in [(10.0, 220_u32), (1000.0, 2150), (1e6, 1_033_000)] {
            let load = Load::new(erlangs).unwrap();
            let exact = erlang_c(load, servers).unwrap();
            assert!(0.0 < exact && exact < TINY, "{exact:e}");
            let (exact, found) = (exact.ln(), logarithm(load, servers, 0.0));
            assert!((found / exact - 1.0).abs() < 1e-6, "{found}, not {exact}");
        }
        // Where C is nothing, bursts as large as these still make some wait: a bell curve that is
        // wider by the root of 50 has 8e-9 beyond 40 roots of the load.
        let late = wait_beyond(&traffic(1e6, 99.0, 1.0), 1_040_000, 0.0).expect("they keep up");
        assert!((1e-10..1e-7).contains(&late), "{late}");
    }

    #[test]
    fn arrivals_by_chance_are_as_erlang_says_to_the_last_digit() {
        for (erlangs, servers) in [(0.5, 1), (9.0, 12), (95.0, 100), (1000.0, 1050)] {
            for service_scv in [0.0, 1.0, 4.0] {
                let traffic = traffic(erlangs, 1.0, service_scv);
                assert_eq!(wait_beyond(&traffic, servers, 0.0), erlang_c(traffic.load(), servers));
            }
        }
    }

    proptest! {
        #[test]
        fn another_server_never_makes_more_wait(
            erlangs in 0.01..300.0, scv in 1.0..30.0, service_scv in 0.0..9.0, more in 1_u32..90,
            wait in 0.0..2.0,
        ) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let servers = erlangs as u32 + more;
            let traffic = traffic(erlangs, scv, service_scv);
            let late = |servers| wait_beyond(&traffic, servers, wait).expect("they keep up");
            prop_assert!(late(servers + 1) <= late(servers) * (1.0 + 1e-9));
            let busier = traffic.with_rate(erlangs * 0.999).unwrap();
            let fewer = wait_beyond(&busier, servers, wait).expect("they keep up");
            prop_assert!(fewer <= late(servers) * (1.0 + 1e-9));
            prop_assert!(late(servers) <= 1.0);
        }

        #[test]
        fn burstier_arrivals_never_make_fewer_wait(
            erlangs in 0.1..100.0, scv in 1.0..20.0, service_scv in 0.0..9.0, limit in 0.0..1.0,
        ) {
            let slo = Slo::wait(limit, 0.01).unwrap();
            let [few, many] = [scv, scv + 1.0].map(|scv| traffic(erlangs, scv, service_scv));
            let needed = workers_needed(&few, &slo).expect("it can be kept");
            prop_assert!(needed <= workers_needed(&many, &slo).expect("it can be kept"));
            prop_assert!(wait_mean(&few, needed) <= wait_mean(&many, needed));
        }
    }
}
