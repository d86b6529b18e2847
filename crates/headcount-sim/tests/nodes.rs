//! One load on several nodes: what they share, and what all of them did together.

use std::num::NonZeroU32;
use std::time::Duration;

use headcount_core::{Policy, PolicyConfig, Preset, Timestamp};
use headcount_sim::load::{Arrivals, Job, Load, Sizes};
use headcount_sim::run::{Dealing, PoolSetup, Score, Setup, Simulation};
use headcount_sim::world::{Downstream, Spell};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn nodes(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).expect("there is a node")
}

fn pool(preset: &Preset, (min, max): (u32, u32), jobs: Vec<Job>) -> PoolSetup {
    let bounds =
        PolicyConfig { workers_min: Some(min), workers_max: Some(max), ..PolicyConfig::default() };
    let policy = Policy::check(&bounds.or(preset.config()), 8).expect("no fault");
    PoolSetup::new("web", policy, jobs.into())
}

/// A minute of work for some twenty workers, up and down.
fn busy() -> PoolSetup {
    let load = Load {
        arrivals: Arrivals::Sine { mean: 200.0, swing: 150.0, period: Duration::from_secs(20) },
        sizes: Sizes::Lognormal { mean: ms(100), scv: 2.0 },
        span: Duration::from_secs(60),
    };
    pool(&Preset::slo(ms(100)), (1, 64), load.jobs(3).expect("a load"))
}

fn as_one(setup: Setup) -> Score {
    let setup = Setup { checked: true, ..setup };
    Simulation::new(setup).run_as_one("web").expect("no rule is broken")
}

#[test]
fn every_job_goes_to_one_node_and_none_is_lost() {
    let pool = busy();
    for dealing in [Dealing::InTurn, Dealing::ByChance(5)] {
        let dealt = pool.dealt(nodes(3), dealing);
        let lens: Vec<usize> = dealt.iter().map(|node| node.jobs.len()).collect();
        let third = pool.jobs.len() / 3;
        assert!(lens.iter().all(|len| len.abs_diff(third) < third / 10), "{dealing:?}: {lens:?}");
        let mut all: Vec<Job> = dealt.iter().flat_map(|node| node.jobs.iter().copied()).collect();
        all.sort_by_key(|job| (job.at, job.size));
        let mut whole = pool.jobs.to_vec();
        whole.sort_by_key(|job| (job.at, job.size));
        assert_eq!(all, whole, "{dealing:?}");
        let score = as_one(Setup::on_nodes(&pool, nodes(3), dealing));
        assert_eq!(score.jobs, pool.jobs.len() as u64);
        assert_eq!(score.late + score.in_time, score.jobs, "each is in time or late: {score:?}");
    }
}

#[test]
fn what_all_nodes_did_is_the_sum_of_what_each_did() {
    let setup = Setup::on_nodes(&busy(), nodes(3), Dealing::InTurn);
    let each = Simulation::new(setup.clone()).run().expect("no rule is broken");
    let all = as_one(setup);
    let sum = |count: fn(&Score) -> u64| each.iter().map(count).sum::<u64>();
    assert_eq!(
        (all.late, all.spawns),
        (sum(|score| score.late), sum(|score| score.spawns)),
        "{each:?}"
    );
    let worker_seconds: f64 = each.iter().map(|score| score.worker_seconds).sum();
    assert!((all.worker_seconds - worker_seconds).abs() < 1e-6);
    let peaks: Vec<u64> = each.iter().map(|score| u64::from(score.peak)).collect();
    let (most, peak) = (peaks.iter().sum::<u64>(), u64::from(all.peak));
    assert!(peaks.iter().all(|one| *one < peak) && peak <= most, "{peak} of {peaks:?}");
}

#[test]
fn one_node_is_a_pool_alone() {
    let alone = Simulation::new(Setup::of(busy())).run().expect("no rule is broken");
    assert_eq!(as_one(Setup::on_nodes(&busy(), nodes(1), Dealing::InTurn)), alone[0]);
}

/// How long the last jobs waited that came a millisecond after three times eight others of 100 ms,
/// on three nodes of eight workers, which call something with that knee.
fn wait_behind(knee: f64) -> Duration {
    let job = |index: u64| Job { at: Timestamp::from_millis(index / 24), size: ms(100), class: 0 };
    let pool = pool(&Preset::gopipe(), (8, 8), (0..27).map(job).collect());
    let pool = PoolSetup { spawn_delay: Duration::ZERO, ..pool };
    let downstream = Downstream { crowding: 0.0, ..Downstream::with_knee(knee) };
    let setup = Setup::on_nodes(&pool, nodes(3), Dealing::InTurn).all_calling(downstream);
    as_one(setup).wait_p999
}

#[test]
fn a_knee_is_met_by_the_sum_of_all_nodes() {
    // None of the nodes has more than 8 under way, and all of them together 24.
    assert_eq!(wait_behind(24.0), ms(99), "at full speed");
    assert_eq!(wait_behind(12.0), ms(199), "at half of it");
}

#[test]
fn a_budget_holds_for_all_nodes_together() {
    let free = as_one(Setup::on_nodes(&busy(), nodes(3), Dealing::InTurn));
    let within = as_one(Setup::on_nodes(&busy(), nodes(3), Dealing::InTurn).all_within(18));
    assert!(18 < free.peak && within.peak <= 18, "{} and {}", free.peak, within.peak);
    assert!(free.late < within.late, "which makes some of them late");
}

#[test]
fn a_machine_that_is_sick_slows_its_own_node_only() {
    let sick = Spell { knee: 2.0, score: 20.0, ..Spell::WELL };
    let mut setup = Setup::on_nodes(&busy(), nodes(3), Dealing::InTurn);
    setup.hosts[1].spells = vec![sick];
    let each = Simulation::new(Setup { checked: true, ..setup }).run().expect("no rule is broken");
    let late: Vec<f64> = each.iter().map(Score::late_percent).collect();
    assert!(late[0] < 5.0 && 20.0 < late[1] && late[2] < 5.0, "{late:?}");
}

#[test]
fn the_same_seed_makes_the_same_run() {
    let with = |seed| as_one(Setup::on_nodes(&busy(), nodes(3), Dealing::ByChance(seed)));
    assert_eq!(with(7), with(7));
    assert_ne!(with(7), with(8));
}
