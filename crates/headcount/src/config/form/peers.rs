//! The deciders of other systems, as a file writes them.

use headcount_core::decide::{
    ArcConfig, Ds2Config, EnvoyConfig, ErlangConfig, Gradient2Config, HillClimbConfig,
    HorizonConfig, KnativeConfig, OnDemand, TrackingConfig, VegasConfig,
};
use serde_json::to_value;

use super::kind::{Field, Kind, Range, Section, Word, Zero};

const LOADS: &[Word] = &[Word::of("utilization"), Word::of("pending")];

pub(super) static ON_DEMAND: Section = Section {
    name: "on_demand",
    about: "A worker for every task that finds none idle, as ants and pond have it.",
    fields: &[Field::of(
        "idle_time",
        Kind::Span(Zero::Allowed),
        "How long a worker above the minimum stays idle before it goes.",
    )],
    defaults: || to_value(OnDemand::default()).unwrap_or_default(),
};

pub(super) static TRACKING: Section = Section {
    name: "tracking",
    about: "So much load for each worker, every so often, as HPA, KEDA and Celery have it.",
    fields: &[
        Field::of(
            "load",
            Kind::Word(LOADS),
            "What is looked at: the mean share of busy workers, or the tasks that wait or run.",
        ),
        Field::of(
            "setpoint",
            Kind::Number(Range::ABOVE_0),
            "How much of it each worker should have.",
        ),
        Field::of(
            "tolerance",
            Kind::Number(Range::FROM_0),
            "How far from the set-point is near enough, as a share of it.",
        ),
        Field::of("period", Kind::Span(Zero::Refused), "How often it is looked at."),
    ],
    defaults: || to_value(TrackingConfig::default()).unwrap_or_default(),
};

pub(super) static HORIZON: Section = Section {
    name: "horizon",
    about: "One more or fewer every few seconds, as Laravel Horizon has it.",
    fields: &[
        Field::of("shift", Kind::Count(1, u32::MAX as u64), "Workers more or fewer at once."),
        Field::of("period", Kind::Span(Zero::Refused), "How often."),
    ],
    defaults: || to_value(HorizonConfig::default()).unwrap_or_default(),
};

pub(super) static KNATIVE: Section = Section {
    name: "knative",
    about: "A calm average of tasks for each worker and, in panic, a quick one, as Knative has it.",
    fields: &[
        Field::of("setpoint", Kind::Number(Range::ABOVE_0), "Tasks for each worker."),
        Field::of("stable_window", Kind::Span(Zero::Refused), "The calm window."),
        Field::of("panic_window", Kind::Span(Zero::Refused), "The quick window."),
        Field::of(
            "panic_factor",
            Kind::Number(Range::FACTOR),
            "How many times the ready workers the quick window must ask for.",
        ),
        Field::of(
            "grow_factor_max",
            Kind::Number(Range::FACTOR),
            "How many times as many workers at once.",
        ),
        Field::of(
            "shrink_factor_max",
            Kind::Number(Range::FACTOR),
            "By how much a shrink divides at most.",
        ),
        Field::of("period", Kind::Span(Zero::Refused), "How often it decides."),
    ],
    defaults: || to_value(KnativeConfig::default()).unwrap_or_default(),
};

pub(super) static DS2: Section = Section {
    name: "ds2",
    about: "The load over the rate of a busy worker, and what waits, as DS2 and Flink have it.",
    fields: &[
        Field::of("utilization", Kind::Number(Range::SHARE), "How busy workers should be."),
        Field::of(
            "band",
            Kind::Number(Range::FROM_0),
            "How far from that is near enough; less than `utilization`.",
        ),
        Field::of(
            "catch_up",
            Kind::Span(Zero::Refused),
            "Within which time to catch up with what waits.",
        ),
        Field::of(
            "restart",
            Kind::Span(Zero::Allowed),
            "For how long tasks pile up while a change is made.",
        ),
        Field::of("window", Kind::Span(Zero::Refused), "How long to measure."),
        Field::of(
            "settling",
            Kind::Span(Zero::Allowed),
            "How long to wait after a change before measuring.",
        ),
        Field::of("period", Kind::Span(Zero::Refused), "How often it decides."),
        Field::of(
            "gain_min",
            Kind::Number(Range::FROM_0_TO_1),
            "The share of the expected capacity that a growth must bring.",
        ),
    ],
    defaults: || to_value(Ds2Config::default()).unwrap_or_default(),
};

pub(super) static ERLANG: Section = Section {
    name: "erlang",
    about: "The fewest workers for a wait budget, by Erlang's formula.",
    fields: &[
        Field::of("wait_budget", Kind::Span(Zero::Allowed), "How long a task may wait."),
        Field::of(
            "late_max",
            Kind::Number(Range::INNER_SHARE),
            "The share of tasks that may wait longer.",
        ),
        Field::of(
            "window",
            Kind::Span(Zero::Refused),
            "Over which time arrivals and service times are measured.",
        ),
    ],
    defaults: || to_value(ErlangConfig::default()).unwrap_or_default(),
};

pub(super) static GRADIENT2: Section = Section {
    name: "gradient2",
    about: "A limit by long and short means of service times, as Netflix's Gradient2 has it.",
    fields: &[
        Field::of("start", Kind::Count(1, u32::MAX as u64), "The workers it begins with."),
        Field::of("limit_min", Kind::Count(1, u32::MAX as u64), "The lowest limit."),
        Field::of("limit_max", Kind::Count(1, u32::MAX as u64), "The highest limit."),
        Field::of(
            "queue_size",
            Kind::Count(0, u32::MAX as u64),
            "Workers added in a window, before smoothing.",
        ),
        Field::of(
            "smoothing",
            Kind::Number(Range::SHARE),
            "How much of a new limit counts at once.",
        ),
        Field::of(
            "tolerance",
            Kind::Number(Range::FROM_1),
            "How many times the long mean is no reason to shrink.",
        ),
        Field::of(
            "long_windows",
            Kind::Count(1, u32::MAX as u64),
            "How many windows the long mean spans.",
        ),
        Field::of("window", Kind::Span(Zero::Refused), "How long a window is."),
        Field::of(
            "samples_min",
            Kind::Count(1, u32::MAX as u64),
            "How many tasks must end in it; with fewer it is thrown away.",
        ),
    ],
    defaults: || to_value(Gradient2Config::default()).unwrap_or_default(),
};

pub(super) static VEGAS: Section = Section {
    name: "vegas",
    about: "A limit by the quickest service time, as Netflix's Vegas has it.",
    fields: &[
        Field::of("start", Kind::Count(1, u32::MAX as u64), "The workers it begins with."),
        Field::of("limit_max", Kind::Count(1, u32::MAX as u64), "The highest limit."),
        Field::of(
            "alpha",
            Kind::Count(1, u32::MAX as u64),
            "Below so many queued tasks it grows, times the logarithm of the limit.",
        ),
        Field::of(
            "beta",
            Kind::Count(1, u32::MAX as u64),
            "Above so many queued tasks it shrinks; no less than `alpha`.",
        ),
        Field::of(
            "probe_windows",
            Kind::Count(1, u32::MAX as u64),
            "After how many windows the quickest one is forgotten, for each worker.",
        ),
        Field::of("window", Kind::Span(Zero::Refused), "How long a window is."),
        Field::of(
            "samples_min",
            Kind::Count(1, u32::MAX as u64),
            "How many tasks must end in it; with fewer it is thrown away.",
        ),
    ],
    defaults: || to_value(VegasConfig::default()).unwrap_or_default(),
};

pub(super) static ARC: Section = Section {
    name: "arc",
    about: "A limit by usual service times, as Vector has it.",
    fields: &[
        Field::of("start", Kind::Count(1, u32::MAX as u64), "The workers it begins with."),
        Field::of("limit_max", Kind::Count(1, u32::MAX as u64), "The highest limit."),
        Field::of(
            "decrease_ratio",
            Kind::Number(Range::INNER_SHARE),
            "What is left of a limit that is lowered.",
        ),
        Field::of(
            "ewma_alpha",
            Kind::Number(Range::INNER_SHARE),
            "How much the newest service time counts in the moving average.",
        ),
        Field::of(
            "deviations_max",
            Kind::Number(Range::FROM_0),
            "How many deviations longer than usual are too long.",
        ),
    ],
    defaults: || to_value(ArcConfig::default()).unwrap_or_default(),
};

pub(super) static ENVOY: Section = Section {
    name: "envoy",
    about: "A limit by a best service time that is measured every so often, as Envoy has it.",
    fields: &[
        Field::of(
            "limit_min",
            Kind::Count(1, u32::MAX as u64),
            "The limit while the best time is measured, and the lowest one.",
        ),
        Field::of("limit_max", Kind::Count(1, u32::MAX as u64), "The highest limit."),
        Field::of(
            "buffer",
            Kind::Number(Range::FROM_0),
            "How much longer than the best time is as good, as a share.",
        ),
        Field::of("period", Kind::Span(Zero::Refused), "How often the limit is updated."),
        Field::of(
            "probe_period",
            Kind::Span(Zero::Refused),
            "How often the best time is measured.",
        ),
        Field::of(
            "probe_samples",
            Kind::Count(1, u32::MAX as u64),
            "How many tasks it is measured by.",
        ),
    ],
    defaults: || to_value(EnvoyConfig::default()).unwrap_or_default(),
};

pub(super) static HILL_CLIMB: Section = Section {
    name: "hill_climb",
    about: "A wave in the number of workers, and what throughput answers, as .NET has it.",
    fields: &[
        Field::of(
            "change_max",
            Kind::Number(Range::ABOVE_0),
            "Workers more or fewer within `change_span`, at most.",
        ),
        Field::of("change_span", Kind::Span(Zero::Refused), "In what time."),
        Field::of(
            "starved_after",
            Kind::Span(Zero::Refused),
            "How long nobody may take a task that waits before there is one more.",
        ),
    ],
    defaults: || to_value(HillClimbConfig::default()).unwrap_or_default(),
};
