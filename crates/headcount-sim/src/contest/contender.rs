//! Who takes part: ours with one setting, the others at every tempo of the grid.

use std::time::Duration;

use headcount_core::decide::{DeciderConfig, ErlangConfig};
use headcount_core::guard::HealthBrake;
use headcount_core::roster::RosterConfig;
use headcount_core::{Policy, PolicyConfig, Preset};

use super::entry::Entry;
use super::regime::Regime;
use crate::Promise;
use crate::run::PoolSetup;

/// What the times of other systems' policies are divided by: as they are, and made for workers that
/// come quicker than theirs.
pub const TEMPOS: [f64; 4] = [1.0, 5.0, 15.0, 60.0];

/// How much of a promised latency the one peer that goes by a wait may spend waiting: a twentieth.
const WAIT_PART: u32 = 20;

/// One that takes part.
///
/// ```
/// use headcount_sim::contest::{Contender, Regime, TEMPOS};
///
/// let all = Contender::all(Regime::Knee, &TEMPOS);
/// let names: Vec<&str> = all.iter().map(|contender| contender.name.as_str()).collect();
/// assert!(names.contains(&"slo") && names.contains(&"told") && names.contains(&"hpa/15"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// What it is called; a number behind a stroke is its tempo.
    pub name: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// Ours, which is told the wait that is allowed.
    Slo,
    /// Ours with the brake that goes by the machine's health.
    SloWithBrake,
    /// A preset at a tempo.
    Peer(Preset, f64),
    /// The same in a pool that drops jobs whose time is over, as ours does.
    PeerWithDeadlines(Preset),
    /// Hires on demand up to the true knee.
    Told,
    /// The same in a pool that serves the newest first where the oldest are late, as ours does.
    ToldNewestFirst,
    /// A fixed number of workers, the best in hindsight.
    Static,
}

/// The policies of other systems.
fn peers() -> Vec<Preset> {
    vec![
        Preset::on_demand(),
        Preset::pond(),
        Preset::hpa(),
        Preset::keda(),
        Preset::knative(),
        Preset::celery(),
        Preset::horizon(),
        Preset::ds2(),
        Preset::erlang(),
        Preset::gradient2(),
        Preset::vegas(),
        Preset::arc(),
        Preset::envoy(),
        Preset::hill_climb(),
        Preset::thread_system(),
        Preset::gopipe(),
        Preset::spool(),
    ]
}

impl Contender {
    /// Everybody who takes part in a regime, ours first.
    #[must_use]
    pub fn all(regime: Regime, tempos: &[f64]) -> Vec<Self> {
        let mut all = vec![Self::new("slo", Kind::Slo)];
        if regime == Regime::SickHost {
            all.push(Self::new("slo+health", Kind::SloWithBrake));
        }
        if regime.has_knee() {
            all.push(Self::new("told", Kind::Told));
            all.push(Self::new("told+newest", Kind::ToldNewestFirst));
        }
        all.push(Self::new("static", Kind::Static));
        if regime == Regime::Overload {
            let preset = Preset::on_demand();
            all.push(Self::new("on_demand+deadlines", Kind::PeerWithDeadlines(preset)));
        }
        for peer in peers() {
            // The first tempo is its own. Without a time in it there is only one.
            let changes = |tempo: f64| {
                let quick = peer.config().with_times_divided_by(tempo);
                tempo <= 1.0 || quick != peer.config()
            };
            for tempo in tempos.iter().copied().filter(|tempo| changes(*tempo)) {
                let name = match tempo <= 1.0 {
                    true => peer.name().to_owned(),
                    false => format!("{}/{tempo}", peer.name()),
                };
                all.push(Self { name, kind: Kind::Peer(peer.clone(), tempo) });
            }
        }
        all
    }

    fn new(name: &str, kind: Kind) -> Self {
        Self { name: name.to_owned(), kind }
    }

    /// Whether it is a fixed number of workers.
    pub(super) fn is_static(&self) -> bool {
        self.kind == Kind::Static
    }

    /// Whether it is told what no live pool knows.
    pub(super) fn knows_knee(&self) -> bool {
        matches!(self.kind, Kind::Told | Kind::ToldNewestFirst)
    }

    /// The policy, within these bounds.
    fn policy(&self, promise: Promise, max: u32) -> PolicyConfig {
        let wait_of_peers = match promise {
            Promise::Wait(wait) => wait,
            Promise::Latency(latency) => latency / WAIT_PART,
        };
        let written = match &self.kind {
            Kind::Slo => slo(promise).config(),
            Kind::SloWithBrake => {
                let mut config = slo(promise).config();
                config.guards.health = Some(HealthBrake::default());
                config
            }
            Kind::Peer(preset, tempo) => {
                promised(preset.config().with_times_divided_by(*tempo), wait_of_peers)
            }
            Kind::PeerWithDeadlines(preset) => preset.config(),
            Kind::Told | Kind::ToldNewestFirst => PolicyConfig {
                tick: Some(Duration::from_millis(100)),
                ..Preset::on_demand().config()
            },
            Kind::Static => {
                let decider = Preset::gopipe().config().decider;
                return PolicyConfig {
                    workers_min: Some(max),
                    workers_max: Some(max),
                    decider,
                    ..PolicyConfig::default()
                };
            }
        };
        let bounds = PolicyConfig {
            workers_min: Some(1),
            workers_max: Some(max),
            ..PolicyConfig::default()
        };
        bounds.or(written)
    }

    /// The pool that it sizes; `fixed` workers where it is a fixed number.
    pub(super) fn pool(&self, regime: Regime, entry: &Entry, fixed: Option<u32>) -> PoolSetup {
        let promise = regime.promise(entry);
        let max = fixed.unwrap_or_else(|| regime.workers_max(entry));
        let policy = Policy::check(&self.policy(promise, max), max);
        let policy = policy.expect("presets within bounds from 1 are right");
        let (spawn_delay, spawn_cost) = regime.spawn(entry);
        let mut pool = PoolSetup::new(&self.name, policy, Vec::new().into());
        if pool.policy.idle_time().is_none() {
            // To keep a worker for as long as another one costs is never worse than twice the best.
            let idle_time = RosterConfig::break_even(spawn_cost, 1.0);
            pool.roster = RosterConfig { idle_time, ..pool.roster };
        }
        pool.expire_after = match (&self.kind, regime, promise) {
            (Kind::Slo | Kind::PeerWithDeadlines(_), Regime::Overload, Promise::Wait(wait)) => {
                Some(wait)
            }
            _ => None,
        };
        if self.kind == Kind::ToldNewestFirst {
            pool.newest_first_after = newest_first_after(promise);
        }
        PoolSetup {
            promise,
            spawn_delay,
            spawn_cost,
            knows_knee: self.knows_knee(),
            // A look is worth it where something can have happened since the last one.
            tick_min: entry.service() / 20,
            ..pool
        }
    }
}

/// Ours, told what was promised.
fn slo(promise: Promise) -> Preset {
    match promise {
        Promise::Wait(wait) => Preset::slo(wait),
        Promise::Latency(latency) => Preset::slo_latency(latency),
    }
}

/// When ours serves the newest first.
fn newest_first_after(promise: Promise) -> Option<Duration> {
    let policy = Policy::check(&slo(promise).config(), 1);
    policy.expect("the preset is right").newest_first_after()
}

/// Tells the one peer that goes by a wait how long it may be.
fn promised(mut config: PolicyConfig, wait: Duration) -> PolicyConfig {
    if let Some(DeciderConfig::Erlang(erlang)) = &mut config.decider {
        *erlang = ErlangConfig { wait_budget: wait, ..*erlang };
    }
    config
}
