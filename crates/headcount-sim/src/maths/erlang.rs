//! Erlang's two formulas, by the recursion that holds at any size.
//!
//! The textbook forms divide `R^c / c!` by sums of the like and overflow at 171 servers. The
//! recursion on B stays between 0 and 1 at every step, and C follows from B.

use super::load::Load;

/// So many roots of the load below it the recursion may begin: what it began with counts for less
/// than `exp(-1800)` when it arrives at the load.
const ROOTS: f64 = 60.0;

/// Erlang B: the share of arrivals that find all `servers` busy, where they do not wait but go.
///
/// ```
/// use headcount_sim::maths::{Load, erlang_b};
///
/// let blocked = erlang_b(Load::new(5.0)?, 10);
/// assert!((blocked - 0.018_385).abs() < 1e-6);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn erlang_b(load: Load, servers: u32) -> f64 {
    Blocking::at(load, servers).share
}

/// Erlang C: the share of arrivals that must wait, where those who find all `servers` busy do.
/// `None`: the servers do not keep up, so in the end everybody waits for ever.
///
/// ```
/// use headcount_sim::maths::{Load, erlang_c};
///
/// let load = Load::new(5.0)?;
/// assert!((erlang_c(load, 10).expect("10 keep up with 5") - 0.036_105).abs() < 1e-6);
/// assert_eq!(erlang_c(load, 5), None);
/// # Ok::<(), headcount_sim::maths::BadNumber>(())
/// ```
#[must_use]
pub fn erlang_c(load: Load, servers: u32) -> Option<f64> {
    load.utilization(servers)?;
    Blocking::at(load, servers).delayed()
}

/// Erlang B, one server after the other: whoever looks for a number of servers needs each once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocking {
    load: Load,
    servers: u32,
    share: f64,
}

impl Blocking {
    /// With no server at all, everybody is turned away.
    fn of(load: Load) -> Self {
        Self { load, servers: 0, share: 1.0 }
    }

    /// With so few servers that none of them is ever free, and so near to the load that those who
    /// keep up with it are soon counted. Each step to the load takes a part of the one before it,
    /// so that it does not matter that the share it begins with is about right only.
    pub(super) fn below(load: Load) -> Self {
        let from = (load.erlangs() - ROOTS * load.erlangs().sqrt()).floor();
        if from < 1.0 || f64::from(u32::MAX) <= from {
            return Self::of(load);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just checked")]
        let servers = from as u32;
        Self { load, servers, share: 1.0 - from / load.erlangs() }
    }

    /// With that many.
    fn at(load: Load, servers: u32) -> Self {
        let mut blocking = match load.erlangs() <= f64::from(servers) {
            true => Self::below(load),
            false => Self::of(load),
        };
        while blocking.servers < servers {
            // Once nobody is turned away, more servers change nothing.
            if blocking.share <= 0.0 {
                return Self { servers, ..blocking };
            }
            blocking.add_server();
        }
        blocking
    }

    pub(super) fn servers(&self) -> u32 {
        self.servers
    }

    pub(super) fn add_server(&mut self) {
        self.servers += 1;
        let crowd = self.load.erlangs() * self.share;
        self.share = crowd / (f64::from(self.servers) + crowd);
    }

    /// Erlang C for the servers so far. `None`: they do not keep up.
    pub(super) fn delayed(&self) -> Option<f64> {
        let utilization = self.load.utilization(self.servers)?;
        Some(self.share / (1.0 - utilization * (1.0 - self.share)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn load(erlangs: f64) -> Load {
        Load::new(erlangs).unwrap()
    }

    #[track_caller]
    fn near(found: f64, expected: f64, error: f64) {
        assert!((found - expected).abs() <= error, "{found}, not {expected}");
    }

    /// The usual tables print the load, to three digits, that so many servers carry at a loss.
    #[test]
    fn erlang_b_agrees_with_the_published_tables() {
        for (servers, erlangs, blocked) in [
            (2, 0.153, 0.01),
            (5, 1.361, 0.01),
            (10, 4.461, 0.01),
            (20, 12.031, 0.01),
            (50, 37.901, 0.01),
            (100, 84.064, 0.01),
            (10, 5.084, 0.02),
            (30, 24.802, 0.05),
        ] {
            let [less, more] = [-0.0005, 0.0005].map(|off| erlang_b(load(erlangs + off), servers));
            assert!(less < blocked && blocked < more, "{servers}: {less} to {more}");
        }
    }

    #[test]
    fn erlang_b_is_exact_where_it_can_be_written_down() {
        near(erlang_b(load(1.0), 1), 1.0 / 2.0, 1e-15);
        near(erlang_b(load(1.0), 2), 1.0 / 5.0, 1e-15);
        near(erlang_b(load(2.0), 3), 4.0 / 19.0, 1e-15);
        assert_eq!(erlang_b(load(7.0), 0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(erlang_b(load(0.0), 3).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn erlang_c_is_exact_where_it_can_be_written_down() {
        near(erlang_c(load(0.75), 1).unwrap(), 0.75, 1e-15);
        near(erlang_c(load(1.0), 2).unwrap(), 1.0 / 3.0, 1e-15);
        near(erlang_c(load(2.0), 3).unwrap(), 4.0 / 9.0, 1e-15);
        near(erlang_c(load(4.0), 5).unwrap(), 128.0 / 231.0, 1e-15);
    }

    #[test]
    fn a_million_servers_are_no_more_trouble_than_ten() {
        let servers = 1_000_000;
        // One root of the load to spare is the case that square-root staffing promises 0.223 for.
        near(erlang_c(load(999_000.5), servers).unwrap(), 0.2234, 2e-4);
        near(erlang_b(load(1e6), servers), (2.0 / (std::f64::consts::PI * 1e6)).sqrt(), 1e-6);
        assert_eq!(erlang_c(load(1e6), servers), None);
        assert_eq!(erlang_c(load(1.0), servers), Some(0.0));
    }

    /// From the first server to the last one, none left out.
    fn step_by_step(load: Load, servers: u32) -> Blocking {
        let mut blocking = Blocking::of(load);
        (0..servers).for_each(|_| blocking.add_server());
        blocking
    }

    #[test]
    fn servers_that_change_nothing_are_not_counted_one_by_one() {
        // Four billion steps each, were it not so.
        for erlangs in [0.0, 1e-9, 1.0, 1000.0] {
            assert_eq!(erlang_c(load(erlangs), u32::MAX), Some(0.0));
            assert_eq!(erlang_b(load(erlangs), u32::MAX).to_bits(), 0.0_f64.to_bits());
        }
        let far = Blocking::below(load(4e9));
        assert!(f64::from(far.servers()) < 4e9 && 3.99e9 < f64::from(far.servers()));
        assert!(
            erlang_c(load(4e9), 4_000_063_245).is_some_and(|some| (some - 0.2234).abs() < 1e-3)
        );
    }

    #[test]
    fn what_is_left_out_changes_no_digit() {
        for (erlangs, least, most) in [(3700.0, 3700, 400_u32), (250_000.5, 250_001, 20_000)] {
            for servers in (0..60).map(|k| least + k * most / 60) {
                let short = Blocking::at(load(erlangs), servers).share;
                let long = step_by_step(load(erlangs), servers).share;
                assert_eq!(short.to_bits(), long.to_bits(), "{erlangs} {servers}");
            }
        }
    }

    proptest! {
        #[test]
        fn fewer_steps_change_no_digit(erlangs in 0.0..20_000.0, more in -100_i32..2000) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let servers = (erlangs as i32 + more).max(0) as u32;
            let short = Blocking::at(load(erlangs), servers).share;
            prop_assert_eq!(short.to_bits(), step_by_step(load(erlangs), servers).share.to_bits());
        }

        #[test]
        fn more_servers_turn_fewer_away(erlangs in 0.0..500.0, servers in 1_u32..600) {
            let [few, many] = [servers - 1, servers].map(|some| erlang_b(load(erlangs), some));
            prop_assert!(0.0 <= many && many <= few && few <= 1.0);
        }

        #[test]
        fn who_waits_is_in_the_way_of_others(erlangs in 0.0..500.0, servers in 1_u32..600) {
            let load = load(erlangs);
            match erlang_c(load, servers) {
                Some(delayed) => {
                    prop_assert!(erlang_b(load, servers) <= delayed && delayed <= 1.0);
                    prop_assert!(erlang_c(load, servers + 1).expect("one more") <= delayed);
                }
                None => prop_assert!(f64::from(servers) <= erlangs),
            }
        }
    }
}
