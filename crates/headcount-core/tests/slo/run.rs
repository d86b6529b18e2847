//! One door to all stories: stages in, what came of them out.

use std::fmt::Write;
use std::time::Duration;

use headcount_core::guard::HoldPeak;
use headcount_core::{
    Autoscaler, Decision, GuardsConfig, Observation, Policy, PolicyConfig, Preset, Reason,
    Timestamp,
};

use crate::plant::{Plant, Stage};

pub(crate) const TICK: f64 = 0.2;

/// What a story may vary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) max: u32,
    pub(crate) scv: f64,
    pub(crate) seed: u64,
    /// The ceiling that the pool begins with.
    pub(crate) start: u32,
    /// Whether service times are kept.
    pub(crate) logs: bool,
    pub(crate) guards: Guards,
    /// Whether anybody moves the ceiling.
    pub(crate) governed: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            max: 1000,
            scv: 1.0,
            seed: 1,
            start: 64,
            logs: true,
            guards: Guards::Preset,
            governed: true,
        }
    }
}

/// Who is asked beside the decider.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guards {
    Preset,
    None,
    HoldPeak(Duration),
}

/// One tick of a story.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) at: f64,
    pub(crate) ceiling: u32,
    pub(crate) waiting: u64,
    /// Tasks so far that waited for longer than they may.
    pub(crate) late: u64,
    pub(crate) submitted: u64,
    pub(crate) failed: u64,
    pub(crate) decision: Decision,
}

impl Moment {
    pub(crate) fn is_bound(&self) -> bool {
        self.decision.reason() == Reason::Knee
    }

    pub(crate) fn estimate(&self, name: &str) -> Option<f64> {
        let estimates = &self.decision.proposal.estimates;
        estimates.iter().find(|e| &e.name == name).map(|estimate| estimate.value)
    }

    pub(crate) fn is_probing(&self) -> bool {
        self.estimate("knee_phase") == Some(1.0)
    }
}

/// What came of a story.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) moments: Vec<Moment>,
}

impl Setting {
    /// Quiet and wild service times, under several dice.
    pub(crate) fn everywhere(self, check: impl Fn(Self)) {
        for (scv, seed) in [(1.0, 1), (1.0, 2), (1.0, 3), (4.0, 1), (4.0, 2), (4.0, 3)] {
            check(Self { scv, seed, ..self });
        }
    }

    /// The preset with these guards.
    pub(crate) fn autoscaler(&self) -> Autoscaler {
        let preset = Preset::slo(Duration::from_millis(100)).config();
        let guards = match self.guards {
            Guards::Preset => preset.guards,
            Guards::None => GuardsConfig::default(),
            Guards::HoldPeak(window) => {
                GuardsConfig { hold_peak: Some(HoldPeak { window }), ..preset.guards }
            }
        };
        let config = PolicyConfig { workers_max: Some(self.max), guards, ..preset };
        Policy::check(&config, 8).expect("the policy is right").build()
    }

    /// Tells the story, with the ceiling that the policy begins with.
    pub(crate) fn run(&self, stages: &[Stage]) -> Run {
        self.run_with(stages, |_, _, _| {})
    }

    /// The same, with something done to the autoscaler at each tick.
    pub(crate) fn run_with(
        &self,
        stages: &[Stage],
        mut meanwhile: impl FnMut(f64, &mut Autoscaler, &mut Observation),
    ) -> Run {
        let mut autoscaler = self.autoscaler();
        let mut plant = Plant::new(self.start, self.scv, self.seed);
        let mut run = Run { moments: Vec::new() };
        let (mut end, mut tick) = (0.0, 0_u32);
        for stage in stages {
            end += stage.seconds;
            while f64::from(tick) * TICK < end {
                tick += 1;
                plant.run(stage, f64::from(tick) * TICK);
                if !self.logs {
                    plant.snapshot.service_logs = None;
                    plant.snapshot.service = None;
                }
                let at = Timestamp::from_millis(u64::from(tick) * 200);
                let mut observation = Observation::new(at, plant.snapshot);
                meanwhile(plant.now, &mut autoscaler, &mut observation);
                run.moments.push(self.tick(&mut plant, &mut autoscaler, &observation));
            }
        }
        run
    }

    fn tick(
        &self,
        plant: &mut Plant,
        autoscaler: &mut Autoscaler,
        observation: &Observation,
    ) -> Moment {
        let decision = autoscaler.tick(observation);
        if let Some(staffing) = decision.resize().filter(|_| self.governed) {
            (plant.snapshot.floor, plant.snapshot.ceiling) = (staffing.floor, staffing.ceiling);
            autoscaler.applied(&decision);
        }
        Moment {
            at: plant.now,
            ceiling: plant.snapshot.ceiling,
            waiting: plant.snapshot.queued,
            late: plant.late,
            submitted: plant.snapshot.counters.submitted,
            failed: plant.snapshot.counters.failed,
            decision,
        }
    }
}

impl Run {
    pub(crate) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Moment> {
        self.moments.iter().filter(move |m| from < m.at && m.at <= to + TICK / 2.0)
    }

    /// The moment at a second of the story.
    pub(crate) fn at(&self, second: f64) -> &Moment {
        self.between(0.0, second).last().expect("the story is as long as that")
    }

    /// The share of the tasks of a span that were late.
    pub(crate) fn late(&self, from: f64, to: f64) -> f64 {
        let (first, last) = (self.at(from.max(TICK)), self.at(to));
        (last.late - first.late) as f64 / (last.submitted - first.submitted).max(1) as f64
    }

    pub(crate) fn last(&self) -> &Moment {
        self.moments.last().expect("a story has moments")
    }

    pub(crate) fn was_bound(&self) -> bool {
        self.moments.iter().any(Moment::is_bound)
    }

    /// Seconds of a span for which something held.
    pub(crate) fn seconds(&self, from: f64, to: f64, held: impl FnMut(&&Moment) -> bool) -> f64 {
        self.between(from, to).filter(held).count() as f64 * TICK
    }

    /// The middle one of the ceilings of a span.
    pub(crate) fn ceiling(&self, from: f64, to: f64) -> u32 {
        let mut ceilings: Vec<u32> = self.between(from, to).map(|m| m.ceiling).collect();
        ceilings.sort_unstable();
        ceilings[ceilings.len() / 2]
    }

    /// The story in a line, for people: second:ceiling, its phase and what waits.
    pub(crate) fn line(&self, every: f64) -> String {
        let mut next = 0.0;
        let mut line = String::new();
        for moment in &self.moments {
            if next <= moment.at {
                next += every;
                let phase = match moment.estimate("knee_phase") {
                    Some(1.0) => "?",
                    Some(2.0) => "!",
                    _ => "",
                };
                let Moment { at, ceiling, waiting, .. } = moment;
                write!(line, " {at:.0}:{ceiling}{phase}({waiting})").expect("a string has room");
            }
        }
        line
    }
}
