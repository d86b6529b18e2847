//! The guards, as a file writes them.

use headcount_core::guard::{
    Cooldown, ErrorVeto, FlapDamper, HealthBrake, HoldPeak, MemoryLimit, StepLimit, WarmUp,
};
use serde_json::to_value;

use super::kind::{Field, Kind, Part, Range, Section, Tag, Tagged, Zero, none};

pub(crate) static GUARDS: Section = Section {
    name: "guards",
    about: "Limit what the decider may have.",
    fields: &[
        Field::of("step", Kind::Section(&STEP), "Limits how far one decision goes."),
        Field::of("cooldown", Kind::Section(&COOLDOWN), "Keeps changes apart in time."),
        Field::of("hold_peak", Kind::Section(&HOLD_PEAK), "Keeps the highest recent proposal."),
        Field::of(
            "warm_up",
            Kind::Section(&WARM_UP),
            "Lets a new pool come to itself. Ten ticks where it is left out.",
        ),
        Field::of("error_veto", Kind::Section(&ERROR_VETO), "Refuses growth while tasks fail."),
        Field::of(
            "flap_damper",
            Kind::Section(&FLAP_DAMPER),
            "Makes a pool that keeps turning around wait.",
        ),
        Field::of(
            "health",
            Kind::Section(&HEALTH_BRAKE),
            "Brings the pool down while the machine is unwell; `health.enabled` is the short way.",
        ),
        Field::of("memory", Kind::Section(&MEMORY), "Keeps the workers within memory."),
        Field::of(
            "registered",
            Kind::List(&Kind::Tagged(&GUARD), 5),
            "Guards of your own, by the names they are registered by.",
        ),
    ],
    defaults: none,
};

/// Users' own guards; those there are have a field each.
static GUARD: Tagged = Tagged {
    name: "guard",
    about: "A guard of your own.",
    variants: &[],
    part: Some(Part::Guard),
    tag: Tag::Inside,
    shared: &[],
};

const WORKERS: Kind = Kind::Count(1, u32::MAX as u64);

static STEP: Section = Section {
    name: "step",
    about: "Limits how far one decision goes; where two limits are set the wider one counts.",
    fields: &[
        Field::of("grow_max", WORKERS, "Workers added at once."),
        Field::of(
            "grow_share_max",
            Kind::Number(Range::ABOVE_0),
            "Workers added at once, as a share of the ceiling in force.",
        ),
        Field::of("shrink_max", WORKERS, "Workers given up at once."),
        Field::of(
            "shrink_share_max",
            Kind::Number(Range::ABOVE_0),
            "Workers given up at once, as a share of the ceiling in force.",
        ),
    ],
    defaults: || to_value(StepLimit::default()).unwrap_or_default(),
};

pub(crate) static COOLDOWN: Section = Section {
    name: "cooldown",
    about: "Keeps changes apart in time.",
    fields: &[
        Field::of("grow", Kind::Span(Zero::Allowed), "From one growth to the next.").or(&["up"]),
        Field::of("shrink", Kind::Span(Zero::Allowed), "From one shrink to the next.")
            .or(&["down"]),
        Field::of("grow_after_shrink", Kind::Span(Zero::Allowed), "From a shrink to a growth."),
        Field::of("shrink_after_grow", Kind::Span(Zero::Allowed), "From a growth to a shrink."),
        Field::of(
            "skip_when_critical",
            Kind::Flag,
            "Whether a shrink skips its cooldown while health is critical.",
        ),
    ],
    defaults: || to_value(Cooldown::default()).unwrap_or_default(),
};

static HOLD_PEAK: Section = Section {
    name: "hold_peak",
    about: "Keeps the highest proposal of the recent window.",
    fields: &[Field::of("window", Kind::Span(Zero::Allowed), "How far back a proposal counts.")],
    defaults: || to_value(HoldPeak::default()).unwrap_or_default(),
};

static WARM_UP: Section = Section {
    name: "warm_up",
    about: "Holds every shrink for a while after the first tick.",
    fields: &[Field::of("span", Kind::Span(Zero::Allowed), "For how long.")],
    defaults: || to_value(WarmUp::default()).unwrap_or_default(),
};

static ERROR_VETO: Section = Section {
    name: "error_veto",
    about: "Refuses growth while too many tasks fail.",
    fields: &[
        Field::of("signal", Kind::Name, "The signal that reads the share of tasks that fail."),
        Field::of(
            "rate_max",
            Kind::Number(Range::SHARE),
            "The share from which growth is refused.",
        ),
    ],
    defaults: || to_value(ErrorVeto::default()).unwrap_or_default(),
};

static FLAP_DAMPER: Section = Section {
    name: "flap_damper",
    about: "Makes a pool that keeps turning around wait longer before it shrinks.",
    fields: &[
        Field::of("window", Kind::Span(Zero::Refused), "How far back reversals count."),
        Field::of(
            "reversals_max",
            Kind::Count(0, u32::MAX as u64),
            "How many reversals are no flapping yet.",
        ),
        Field::of(
            "hold",
            Kind::Span(Zero::Refused),
            "How long a shrink waits at the first reversal too many.",
        ),
        Field::of("hold_max", Kind::Span(Zero::Refused), "The longest wait."),
    ],
    defaults: || to_value(FlapDamper::default()).unwrap_or_default(),
};

static HEALTH_BRAKE: Section = Section {
    name: "health_brake",
    about: "Limits the pool by the zone of the machine's health.",
    fields: &[
        Field::of(
            "recovery_share",
            Kind::Number(Range::ABOVE_0),
            "How much the pool may grow after each rest, as a share.",
        ),
        Field::of(
            "recovery_rest",
            Kind::Span(Zero::Allowed),
            "How long the pool rests after the brake, and between steps up.",
        ),
    ],
    defaults: || to_value(HealthBrake::default()).unwrap_or_default(),
};

static MEMORY: Section = Section {
    name: "memory_limit",
    about: "Limits the pool to the workers that memory has room for.",
    fields: &[
        Field::of("bytes_per_worker", Kind::Size, "What one worker takes, its task included."),
        Field::of(
            "use_max",
            Kind::Number(Range::SHARE),
            "The share of the memory limit that may be used.",
        ),
    ],
    defaults: || to_value(MemoryLimit::default()).unwrap_or_default(),
};
