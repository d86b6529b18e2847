//! The simulator against what is known exactly: Erlang C, Pollaczek and Khinchine.
//!
//! Each point is run from several seeds; the means of the runs are independent, so their mean lies
//! within Student's interval of the exact value. The seeds are fixed, so nothing here is by chance.

use std::sync::Arc;
use std::time::Duration;

use headcount_core::{Policy, PolicyConfig, Preset, Timestamp};
use headcount_sim::load::{Arrivals, Job, Load, Sizes};
use headcount_sim::maths::{
    Service, Traffic, allen_cunneen, erlang_c, mmc, pollaczek_khinchine, wait_beyond,
};
use headcount_sim::run::{Books, PoolSetup, Setup, Simulation};

/// Runs of each point.
const RUNS: u64 = 8;
/// Student's t of 99 % at seven degrees of freedom.
const STUDENT: f64 = 3.499;
/// Mean size of a job, in seconds.
const MEAN: f64 = 0.1;

/// A pool of `servers`, no more and no fewer, at a load of `rho` each.
fn run(servers: u32, rho: f64, sizes: Sizes, jobs: f64, seed: u64) -> Books {
    let rate = f64::from(servers) * rho / MEAN;
    let span = Duration::from_secs_f64(jobs / rate);
    let load = Load { arrivals: Arrivals::Poisson { rate }, sizes, span };
    run_jobs(servers, load.jobs(seed).expect("a load").into())
}

fn run_jobs(servers: u32, jobs: Arc<[Job]>) -> Books {
    let fixed = PolicyConfig {
        workers_min: Some(servers),
        workers_max: Some(servers),
        tick: Some(Duration::from_secs(60)),
        ..PolicyConfig::default()
    };
    let policy = Policy::check(&fixed.or(Preset::gopipe().config()), 8).expect("no fault");
    let pool = PoolSetup::new("fixed", policy, jobs);
    let pool = PoolSetup { spawn_delay: Duration::ZERO, ..pool };
    let ended = Simulation::new(Setup::of(pool)).run_with_books().expect("no rule is broken");
    ended.into_iter().next().expect("one pool").1
}

fn mean_wait(books: &Books) -> f64 {
    books.waits.iter().map(Duration::as_secs_f64).sum::<f64>() / books.waits.len() as f64
}

fn share_beyond(books: &Books, wait: Duration) -> f64 {
    let beyond = books.waits.iter().filter(|waited| wait < **waited).count();
    beyond as f64 / books.waits.len() as f64
}

/// Mean of the runs and half the width of its interval.
fn interval(runs: &[f64]) -> (f64, f64) {
    let (n, mean) = (runs.len() as f64, runs.iter().sum::<f64>() / runs.len() as f64);
    let variance = runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, STUDENT * (variance / n).sqrt())
}

#[track_caller]
fn agrees(what: &str, runs: &[f64], exact: f64) {
    let (mean, half) = interval(runs);
    assert!((mean - exact).abs() <= half, "{what}: {mean:.5} +- {half:.5}, exactly {exact:.5}");
    assert!(half < 0.25 * exact, "{what}: an interval of {half:.5} around {mean:.5} says nothing");
}

#[track_caller]
fn check_mmc(servers: u32, rho: f64, jobs: f64) {
    let sizes = || Sizes::Exponential { mean: Duration::from_secs_f64(MEAN) };
    let books: Vec<Books> = (1..=RUNS).map(|seed| run(servers, rho, sizes(), jobs, seed)).collect();
    let service = Service::exponential(MEAN).expect("a service");
    let traffic = Traffic::poisson(f64::from(servers) * rho / MEAN, service).expect("a load");
    let runs = |measure: &dyn Fn(&Books) -> f64| books.iter().map(measure).collect::<Vec<_>>();

    let waiting = runs(&|books| share_beyond(books, Duration::ZERO));
    let exact = erlang_c(traffic.load(), servers).expect("they keep up");
    agrees(&format!("P(wait) at {servers} x {rho}"), &waiting, exact);

    let exact = mmc(&traffic, servers).expect("they keep up");
    agrees(&format!("mean wait at {servers} x {rho}"), &runs(&mean_wait), exact);

    let long = MEAN / f64::from(servers);
    let beyond = runs(&|books| share_beyond(books, Duration::from_secs_f64(long)));
    let exact = wait_beyond(&traffic, servers, long).expect("they keep up");
    agrees(&format!("P(wait > {long}) at {servers} x {rho}"), &beyond, exact);
}

#[test]
fn one_server_waits_as_erlang_says() {
    check_mmc(1, 0.3, 20_000.0);
    check_mmc(1, 0.7, 40_000.0);
    check_mmc(1, 0.9, 80_000.0);
}

#[test]
fn a_few_servers_wait_as_erlang_says() {
    check_mmc(2, 0.5, 30_000.0);
    check_mmc(3, 0.8, 40_000.0);
    check_mmc(5, 0.6, 40_000.0);
    check_mmc(8, 0.9, 80_000.0);
    check_mmc(10, 0.7, 50_000.0);
}

#[test]
fn many_servers_wait_as_erlang_says() {
    check_mmc(20, 0.85, 60_000.0);
    check_mmc(40, 0.9, 80_000.0);
    check_mmc(64, 0.95, 120_000.0);
    check_mmc(100, 0.95, 150_000.0);
}

#[test]
fn even_arrivals_wait_about_as_allen_and_cunneen_say() {
    let (servers, rho) = (5_u32, 0.9);
    let gap = MEAN / (f64::from(servers) * rho);
    let sizes = Sizes::Exponential { mean: Duration::from_secs_f64(MEAN) };
    let span = Duration::from_secs_f64(100_000.0 * gap);
    let load = Load { arrivals: Arrivals::Poisson { rate: 1.0 / gap }, sizes, span };
    let drawn = load.jobs(1).expect("a load").into_iter().enumerate();
    let evenly = |index| Timestamp::ORIGIN + Duration::from_secs_f64(gap * index as f64);
    let jobs = drawn.map(|(index, job)| Job { at: evenly(index), ..job }).collect();
    let service = Service::exponential(MEAN).expect("a service");
    let traffic = Traffic::poisson(1.0 / gap, service).and_then(|any| any.with_arrivals_scv(0.0));
    let about = allen_cunneen(&traffic.expect("a load"), servers).expect("they keep up");
    let mean = mean_wait(&run_jobs(servers, jobs));
    assert!((mean / about - 1.0).abs() < 0.25, "{mean} and {about}");
}

#[track_caller]
fn check_mg1(sizes: &Sizes, scv: f64, rho: f64) {
    let runs: Vec<f64> =
        (1..=RUNS).map(|seed| mean_wait(&run(1, rho, sizes.clone(), 60_000.0, seed))).collect();
    let service = Service::new(MEAN, scv).expect("a service");
    let traffic = Traffic::poisson(rho / MEAN, service).expect("a load");
    let exact = pollaczek_khinchine(&traffic).expect("it keeps up");
    agrees(&format!("{sizes:?} at {rho}"), &runs, exact);
}

#[test]
fn one_server_and_any_jobs_wait_as_pollaczek_and_khinchine_say() {
    let mean = Duration::from_secs_f64(MEAN);
    for rho in [0.5, 0.8] {
        check_mg1(&Sizes::Constant(mean), 0.0, rho);
        check_mg1(&Sizes::Exponential { mean }, 1.0, rho);
        check_mg1(&Sizes::Lognormal { mean, scv: 4.0 }, 4.0, rho);
        // Nine in ten take 50 ms and one takes 550 ms: a mean of 100 ms.
        let (short, long) = (mean / 2, mean * 11 / 2);
        check_mg1(&Sizes::Bimodal { short, long, long_share: 0.1 }, 2.25, rho);
    }
}

#[test]
fn many_servers_and_any_jobs_wait_about_as_allen_and_cunneen_say() {
    let mean = Duration::from_secs_f64(MEAN);
    let lognormal = |scv| Sizes::Lognormal { mean, scv };
    for (servers, sizes, scv) in [
        (4, Sizes::Constant(mean), 0.0),
        (10, Sizes::Constant(mean), 0.0),
        (4, lognormal(0.5), 0.5),
        (10, lognormal(3.0), 3.0),
    ] {
        let runs: Vec<f64> = (1..=RUNS)
            .map(|seed| mean_wait(&run(servers, 0.85, sizes.clone(), 50_000.0, seed)))
            .collect();
        let service = Service::new(MEAN, scv).expect("a service");
        let rate = f64::from(servers) * 0.85 / MEAN;
        let traffic = Traffic::poisson(rate, service).expect("a load");
        let about = allen_cunneen(&traffic, servers).expect("they keep up");
        let (mean, _) = interval(&runs);
        // An approximation: some percent for jobs that vary little, a quarter at most.
        assert!((mean / about - 1.0).abs() < 0.25, "{servers}, {sizes:?}: {mean} and {about}");
    }
}
