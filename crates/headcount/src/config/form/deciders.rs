//! The deciders, as a file writes them.

use headcount_core::decide::{
    Aimd, AllBusy, Backlog, CompositeConfig, ForecastConfig, PidConfig, QueueDepth, ScheduleConfig,
    SloConfig, Target, Threshold, ThroughputConfig,
};
use serde_json::to_value;

use super::kind::{Field, Kind, Part, Range, Section, Tag, Tagged, Variant, Word, Zero, none};
use super::peers;

const SIGNAL: Field = Field::of("signal", Kind::Name, "The signal that it reads.");

pub(crate) static DECIDER: Tagged = Tagged {
    name: "decider",
    about: "Proposes how many workers there should be.",
    variants: &[
        Variant { name: "slo", section: &SLO },
        Variant { name: "throughput", section: &THROUGHPUT },
        Variant { name: "threshold", section: &THRESHOLD },
        Variant { name: "all_busy", section: &ALL_BUSY },
        Variant { name: "queue_depth", section: &QUEUE_DEPTH },
        Variant { name: "health_zones", section: &HEALTH_ZONES },
        Variant { name: "aimd", section: &AIMD },
        Variant { name: "pid", section: &PID },
        Variant { name: "target", section: &TARGET },
        Variant { name: "backlog", section: &BACKLOG },
        Variant { name: "schedule", section: &SCHEDULE },
        Variant { name: "forecast", section: &FORECAST },
        Variant { name: "on_demand", section: &peers::ON_DEMAND },
        Variant { name: "tracking", section: &peers::TRACKING },
        Variant { name: "horizon", section: &peers::HORIZON },
        Variant { name: "knative", section: &peers::KNATIVE },
        Variant { name: "ds2", section: &peers::DS2 },
        Variant { name: "erlang", section: &peers::ERLANG },
        Variant { name: "gradient2", section: &peers::GRADIENT2 },
        Variant { name: "vegas", section: &peers::VEGAS },
        Variant { name: "arc", section: &peers::ARC },
        Variant { name: "envoy", section: &peers::ENVOY },
        Variant { name: "hill_climb", section: &peers::HILL_CLIMB },
        Variant { name: "composite", section: &COMPOSITE },
    ],
    part: Some(Part::Decider),
    tag: Tag::Inside,
    shared: &[],
};

/// A decider as a part of a composite.
static PART: Tagged = Tagged {
    name: "part",
    about: "A decider as a part of a composite.",
    variants: DECIDER.variants,
    part: Some(Part::Decider),
    tag: Tag::Inside,
    shared: &[Field::of(
        "weight",
        Kind::Number(Range::ABOVE_0),
        "How much it counts where the parts are combined as `weighted`. 1 where it is left out.",
    )],
};

static SLO: Section = Section {
    name: "slo",
    about: "A wait budget, and a limit where more workers stop helping.",
    fields: &[
        Field::of("wait_budget", Kind::Span(Zero::Allowed), "How long a task may wait."),
        Field::of(
            "latency",
            Kind::Span(Zero::Refused),
            "How long a task may take from its submission to its end, where that was promised.",
        ),
        Field::of(
            "newest_first",
            Kind::Flag,
            "Whether the newest tasks go first while the oldest is late.",
        ),
        Field::of(
            "trust_start",
            Kind::Count(1, u32::MAX as u64),
            "The workers that are trusted before anything was measured.",
        ),
        Field::of(
            "trust_factor",
            Kind::Number(Range::FACTOR),
            "How far beyond what worked the pool may go.",
        ),
        Field::of(
            "inflation_max",
            Kind::Number(Range::FACTOR),
            "How much longer tasks may take than at rest before it looks like a knee.",
        ),
    ],
    defaults: || to_value(SloConfig::default()).unwrap_or_default(),
};

static THROUGHPUT: Section = Section {
    name: "throughput",
    about: "More workers for as long as more gets done, for a heap of work.",
    fields: &[
        Field::of("start", Kind::Count(1, u32::MAX as u64), "The workers it begins with."),
        Field::of(
            "gain_min",
            Kind::Number(Range::INNER_SHARE),
            "How much of its growth must be seen in throughput, on the logarithm.",
        ),
        Field::of(
            "blind_span",
            Kind::Span(Zero::Refused),
            "How long nothing may end, on idle processors, before it grows all the same.",
        ),
        Field::of(
            "blind_max",
            Kind::Count(0, u32::MAX as u64),
            "How far it grows while nothing has ended.",
        ),
    ],
    defaults: || to_value(ThroughputConfig::default()).unwrap_or_default(),
};

const STEP_UP: Field = Field::of("grow_step", Kind::Step, "How far to grow.");
const STEP_DOWN: Field = Field::of("shrink_step", Kind::Step, "How far to shrink.");

static THRESHOLD: Section = Section {
    name: "threshold",
    about: "Any rule grows, all rules shrink.",
    fields: &[
        Field::of(
            "grow_when_any",
            Kind::List(&Kind::Section(&RULE), Threshold::RULES_MAX),
            "The rules of which one is enough to grow.",
        ),
        Field::of(
            "shrink_when_all",
            Kind::List(&Kind::Section(&RULE), Threshold::RULES_MAX),
            "The rules of which all are needed to shrink; none at all never shrinks.",
        ),
        STEP_UP,
        STEP_DOWN,
    ],
    defaults: || to_value(Threshold::default()).unwrap_or_default(),
};

static RULE: Section = Section {
    name: "rule",
    about: "A signal, compared with a limit.",
    fields: &[
        Field::needed("signal", Kind::Name, "The signal that it reads."),
        Field::needed("comparison", Kind::Word(COMPARISONS), "How the reading must compare.")
            .or(&["operator"]),
        Field::needed(
            "limit",
            Kind::Measure(Range::ANY),
            "With what: a number, or a span of time.",
        )
        .or(&["value"]),
    ],
    defaults: none,
};

pub(crate) const COMPARISONS: &[Word] = &[
    Word { name: "above", aliases: &["gt", ">"] },
    Word { name: "at_least", aliases: &["ge", "gte", ">="] },
    Word { name: "below", aliases: &["lt", "<"] },
    Word { name: "at_most", aliases: &["le", "lte", "<="] },
];

const IDLE_MAX: Field = Field::of(
    "idle_max",
    Kind::Span(Zero::Refused),
    "How long a worker is parked before it is one too many.",
);

static ALL_BUSY: Section = Section {
    name: "all_busy",
    about: "All busy grows, idle time shrinks.",
    fields: &[IDLE_MAX],
    defaults: || to_value(AllBusy::default()).unwrap_or_default(),
};

static QUEUE_DEPTH: Section = Section {
    name: "queue_depth",
    about: "A long queue grows, idle time shrinks.",
    fields: &[
        Field::of("depth_max", Kind::Count(0, u64::MAX), "How many tasks may wait."),
        IDLE_MAX,
        STEP_UP,
        STEP_DOWN,
    ],
    defaults: || to_value(QueueDepth::default()).unwrap_or_default(),
};

static HEALTH_ZONES: Section = Section {
    name: "health_zones",
    about: "The machine's health alone names the size.",
    fields: &[],
    defaults: none,
};

const SETPOINT: Field = Field::of(
    "setpoint",
    Kind::Measure(Range::ABOVE_0),
    "What the signal should read: a number, or a span of time.",
);

static AIMD: Section = Section {
    name: "aimd",
    about: "Additive increase, multiplicative decrease.",
    fields: &[
        SIGNAL,
        SETPOINT,
        Field::of(
            "grow_step",
            Kind::Count(1, u32::MAX as u64),
            "Workers added while the signal reads more.",
        ),
        Field::of(
            "shrink_share",
            Kind::Number(Range::INNER_SHARE),
            "The share of the workers given back when it reads so much less.",
        )
        .or(&["shrink_factor"]),
    ],
    defaults: || to_value(Aimd::default()).unwrap_or_default(),
};

static PID: Section = Section {
    name: "pid",
    about: "A PID controller.",
    fields: &[
        SIGNAL,
        SETPOINT,
        Field::of(
            "kp",
            Kind::Number(Range::FROM_0),
            "The share by which the size follows a relative change of the reading.",
        ),
        Field::of(
            "ki",
            Kind::Number(Range::FROM_0),
            "The share a second by which the size follows a relative error.",
        ),
        Field::of(
            "kd",
            Kind::Number(Range::FROM_0),
            "The share by which the size follows a change of the reading's slope.",
        ),
    ],
    defaults: || to_value(PidConfig::default()).unwrap_or_default(),
};

static TARGET: Section = Section {
    name: "target",
    about: "In proportion to a set-point.",
    fields: &[
        SIGNAL,
        SETPOINT,
        Field::of(
            "tolerance",
            Kind::Number(Range::FROM_0),
            "How far from the set-point is near enough, as a share of it.",
        ),
    ],
    defaults: || to_value(Target::default()).unwrap_or_default(),
};

static BACKLOG: Section = Section {
    name: "backlog",
    about: "The load and what waits.",
    fields: &[
        Field::of("wait_max", Kind::Span(Zero::Refused), "How long a task may wait."),
        Field::of("arrivals", Kind::Name, "The signal that reads arrivals a second."),
        Field::of("service", Kind::Name, "The signal that reads seconds a task."),
    ],
    defaults: || to_value(Backlog::default()).unwrap_or_default(),
};

static SCHEDULE: Section = Section {
    name: "schedule",
    about: "The time of day.",
    fields: &[Field::of(
        "shifts",
        Kind::List(&Kind::Section(&SHIFT), ScheduleConfig::SHIFTS_MAX),
        "The shifts. Where several hold at once the largest counts.",
    )],
    defaults: || to_value(ScheduleConfig::default()).unwrap_or_default(),
};

const SECOND: Kind = Kind::Count(0, 86_399);

static SHIFT: Section = Section {
    name: "shift",
    about: "So many workers from one time of day to another.",
    fields: &[
        Field::of(
            "days",
            Kind::List(&Kind::Word(DAYS), 7),
            "The days on which it begins; every day where it is left out.",
        ),
        Field::needed("from_second", SECOND, "When it begins, in seconds since midnight."),
        Field::needed("to_second", SECOND, "When it ends; before it begins: on the next day."),
        Field::needed("workers", Kind::Count(1, u32::MAX as u64), "How many workers."),
    ],
    defaults: none,
};

const DAYS: &[Word] = &[
    Word { name: "monday", aliases: &["mon"] },
    Word { name: "tuesday", aliases: &["tue"] },
    Word { name: "wednesday", aliases: &["wed"] },
    Word { name: "thursday", aliases: &["thu"] },
    Word { name: "friday", aliases: &["fri"] },
    Word { name: "saturday", aliases: &["sat"] },
    Word { name: "sunday", aliases: &["sun"] },
];

static FORECAST: Section = Section {
    name: "forecast",
    about: "A floor for the load to come, and no ceiling.",
    fields: &[
        Field::of("bucket", Kind::Span(Zero::Refused), "Over which time arrivals are counted."),
        Field::of("season", Kind::Span(Zero::Allowed), "After which time they come again."),
        Field::of(
            "horizon",
            Kind::Span(Zero::Allowed),
            "How far ahead: as long as a worker takes to start.",
        ),
        Field::of(
            "quantile",
            Kind::Number(Range::INNER_SHARE),
            "The share of the time that the load should be no more than what is staffed for.",
        ),
        Field::of(
            "margin",
            Kind::Number(Range::FROM_0_TO_1),
            "By which share a model must be better than the last bucket.",
        ),
        Field::of("wait_budget", Kind::Span(Zero::Allowed), "How long a task may wait."),
        Field::of(
            "late_max",
            Kind::Number(Range::INNER_SHARE),
            "The share of tasks that may wait longer.",
        ),
    ],
    defaults: || to_value(ForecastConfig::default()).unwrap_or_default(),
};

static COMPOSITE: Section = Section {
    name: "composite",
    about: "Several deciders, one proposal.",
    fields: &[
        Field::of("combine", Kind::Word(COMBINES), "How the proposals become one."),
        Field::of(
            "parts",
            Kind::List(&Kind::Tagged(&PART), CompositeConfig::PARTS_MAX),
            "The parts, in order.",
        ),
    ],
    defaults: || to_value(CompositeConfig::default()).unwrap_or_default(),
};

const COMBINES: &[Word] =
    &[Word::of("max"), Word::of("min"), Word::of("first"), Word::of("weighted"), Word::of("veto")];
