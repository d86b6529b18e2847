//! Scalers as pools that can be seen and steered through the admin API.
//!
//! Whoever serves registers its scalers in a [`ScalerPools`] and hands that to an
//! [`Ops`](headcount_ops::Ops); everything else of that crate is here under the same name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headcount_core::health::Zone;
use headcount_core::{Decision, ManualTarget, PolicyConfig, Timestamp};

pub use headcount_ops::*;

use crate::sync::lock;
use crate::{PolicyError, Scaler};

/// Scalers by name, as the admin API sees and steers them.
///
/// Clones are the same. It holds a handle of each scaler, so one stays at work until it is
/// [removed](Self::remove) here too.
///
/// ```
/// use headcount::ops::{Pools, Scale, ScalerPools};
/// use headcount::{Preset, Scaler, ThreadPool};
///
/// let pool = ThreadPool::builder().workers(1..=8).build()?;
/// let scaler = Scaler::of(pool.handle()).name("thumbs").policy(Preset::gopipe()).start()?;
/// let pools = ScalerPools::new();
/// pools.add(&scaler);
///
/// let scale = Scale { workers: Some(4), ..Scale::default() };
/// let shown = pools.scale("thumbs", &scale)?;
/// assert_eq!((shown.ceiling, shown.state.as_str()), (4, "held"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScalerPools {
    members: Arc<Mutex<BTreeMap<String, Member>>>,
}

#[derive(Clone, Debug)]
struct Member {
    scaler: Scaler,
    /// Why it is held, where somebody said so.
    reason: Option<String>,
    /// The fewest workers of its own policy, before anybody throttled it.
    workers_min: u32,
}

impl ScalerPools {
    /// None so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows this scaler under its name, in place of another of that name.
    pub fn add(&self, scaler: &Scaler) {
        let workers_min = scaler.policy().workers_min.unwrap_or(1);
        let member = Member { scaler: scaler.clone(), reason: None, workers_min };
        lock(&self.members).insert(scaler.name().to_owned(), member);
    }

    /// Shows it no more.
    pub fn remove(&self, name: &str) {
        // Dropped when the lock is free again: it may be the last handle, and stop the scaler.
        let removed = lock(&self.members).remove(name);
        drop(removed);
    }

    fn member(&self, name: &str) -> Result<Member, PoolsError> {
        lock(&self.members).get(name).cloned().ok_or(PoolsError::Unknown)
    }
}

impl Pools for ScalerPools {
    fn pools(&self) -> Vec<PoolView> {
        let members: Vec<Member> = lock(&self.members).values().cloned().collect();
        members.iter().map(Member::view).collect()
    }

    fn pool(&self, name: &str) -> Result<PoolView, PoolsError> {
        self.member(name).map(|member| member.view())
    }

    fn why(&self, name: &str) -> Result<String, PoolsError> {
        let decision = self.member(name)?.scaler.decision();
        Ok(decision.map_or_else(
            || "nothing was decided yet".to_owned(),
            |decision| decision.explain_fully().to_string(),
        ))
    }

    fn decisions(&self, name: &str, most: usize) -> Result<Vec<DecisionView>, PoolsError> {
        let scaler = self.member(name)?.scaler;
        let (now, decisions) = (now(&scaler), scaler.decisions());
        Ok(decisions.iter().rev().take(most).map(|decision| shown(decision, now)).collect())
    }

    fn scale(&self, name: &str, scale: &Scale) -> Result<PoolView, PoolsError> {
        let member = self.member(name)?;
        match scale.workers {
            Some(workers) => member.scaler.hold_at(workers, scale.span),
            None => member.scaler.release(),
        }
        if let Some(member) = lock(&self.members).get_mut(name) {
            member.reason = scale.reason.clone().filter(|_| scale.workers.is_some());
        }
        self.pool(name)
    }

    fn policy(&self, name: &str) -> Result<String, PoolsError> {
        let policy = self.member(name)?.scaler.policy();
        serde_json::to_string(&policy).map_err(|error| PoolsError::Refused(vec![error.to_string()]))
    }

    fn set_policy(&self, name: &str, policy: &str) -> Result<(), PoolsError> {
        let scaler = self.member(name)?.scaler;
        let policy: PolicyConfig = serde_json::from_str(policy).map_err(|error| {
            PoolsError::Refused(vec![format!("the policy is not understood: {error}")])
        })?;
        scaler.set_policy(policy).map_err(|error| refused(&error))
    }

    fn throttle(&self, name: &str, throttling: &Throttling) -> Result<(), PoolsError> {
        let member = self.member(name)?;
        let mut policy = member.scaler.policy();
        match throttling.enable_adaptive_scaling {
            true => {
                policy.workers_min = Some(throttling.min_concurrency);
                policy.workers_max = Some(throttling.max_concurrency);
                policy.guards.health = Some(policy.guards.health.unwrap_or_default());
            }
            false => {
                let most = throttling.worker_concurrency;
                policy.workers_min = Some(member.workers_min.min(most));
                policy.workers_max = Some(most);
                policy.guards.health = None;
            }
        }
        member.scaler.set_policy(policy).map_err(|error| refused(&error))
    }
}

impl Member {
    fn view(&self) -> PoolView {
        let scaler = &self.scaler;
        let (pool, policy, stats) = (scaler.snapshot(), scaler.policy(), scaler.stats());
        let (now, held) = (now(scaler), scaler.held());
        let state = match () {
            () if pool.draining => "draining".to_owned(),
            () if !scaler.is_active() => "stopped".to_owned(),
            () if held.is_some() => "held".to_owned(),
            () => scaler.mode().to_string(),
        };
        PoolView {
            name: scaler.name().to_owned(),
            state,
            live: pool.live,
            busy: pool.busy,
            demand: pool.pending(),
            target: pool.ceiling,
            floor: pool.floor,
            ceiling: pool.ceiling,
            min: policy.workers_min.unwrap_or(pool.floor),
            max: policy.workers_max.unwrap_or(pool.ceiling),
            held: held.map(|held| self.held(held, now)),
            throttled_by_health: scaler.is_throttled_by_health(),
            health: health(scaler, now),
            decision: scaler.decision().map(|decision| decision.explain().to_string()),
            decided_ms_ago: scaler.last_tick_age().map(millis),
            totals: PoolTotals {
                grows: stats.grows,
                shrinks: stats.shrinks,
                decisions: stats.evaluations,
                suppressed: stats.suppressed,
                throttled: scaler.throttled(),
                panics: scaler.panics(),
            },
        }
    }

    fn held(&self, held: ManualTarget, now: Timestamp) -> Held {
        let left_ms = held.until.map(|until| millis(until.since(now)));
        Held { workers: held.workers, left_ms, reason: self.reason.clone() }
    }
}

fn health(scaler: &Scaler, now: Timestamp) -> Option<PoolHealth> {
    let health = scaler.observation()?.health?;
    let zone = Zone::of(health.score).to_string();
    let measured_ms_ago = millis(now.since(health.measured_at));
    Some(PoolHealth { score: health.score, zone, measured_ms_ago })
}

fn shown(decision: &Decision, now: Timestamp) -> DecisionView {
    DecisionView {
        ms_ago: millis(now.since(decision.at)),
        from: decision.from.ceiling,
        to: decision.to.ceiling,
        applied: decision.resize().is_some(),
        why: decision.explain().to_string(),
    }
}

/// The time by the scaler's own clock, as far as it has looked at all.
fn now(scaler: &Scaler) -> Timestamp {
    let looked_at = scaler.observation().map_or(Timestamp::ORIGIN, |observation| observation.at);
    looked_at + scaler.last_tick_age().unwrap_or_default()
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn refused(error: &PolicyError) -> PoolsError {
    PoolsError::Refused(error.faults().iter().map(ToString::to_string).collect())
}
