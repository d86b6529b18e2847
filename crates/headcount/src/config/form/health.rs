//! The rules of health, as a file writes them.

use headcount_core::health::{Exhausted, HealthRules, Weights};
use serde_json::to_value;

use super::kind::{Field, Kind, Range, Section, none};

pub(crate) static HEALTH_RULES: Section = Section {
    name: "health_rules",
    about: "How the readings of the machine become a score.",
    fields: &[
        Field::of(
            "scoring",
            Kind::Word(&[super::kind::Word::of("smooth"), super::kind::Word::of("stepped")]),
            "How a reading between its thresholds is scored.",
        ),
        Field::of("weights", Kind::Section(&WEIGHTS), "How much each resource counts."),
        Field::of("io_wait", SHARES, "Thresholds of the share of time spent waiting for disks."),
        Field::of("load_per_core", LOADS, "Thresholds of the load of each core."),
        Field::of("db_pool", SHARES, "Thresholds of the share of database connections in use."),
        Field::of("memory", SHARES, "Thresholds of the share of memory in use."),
        Field::of("io_pressure", SHARES, "Thresholds of the share of time stalled for disks."),
        Field::of("cpu_pressure", SHARES, "Thresholds of the share of time stalled for a core."),
        Field::of("memory_pressure", SHARES, "Thresholds of the share of time stalled for memory."),
        Field::of(
            "exhaustion",
            Kind::Either { word: "ignored", wrapped: "limits", section: &EXHAUSTED },
            "Where one reading makes the machine critical, or `ignored`.",
        ),
    ],
    defaults: || to_value(HealthRules::default()).unwrap_or_default(),
};

const SHARES: Kind = Kind::Section(&SHARE_THRESHOLDS);
const LOADS: Kind = Kind::Section(&LOAD_THRESHOLDS);

static WEIGHTS: Section = Section {
    name: "weights",
    about: "How much each resource counts; only their proportions matter.",
    fields: &[
        Field::of("io", Kind::Number(Range::FROM_0), "Of I/O."),
        Field::of("cpu", Kind::Number(Range::FROM_0), "Of the processors."),
        Field::of("db_pool", Kind::Number(Range::FROM_0), "Of the database connections."),
        Field::of("memory", Kind::Number(Range::FROM_0), "Of memory."),
    ],
    defaults: || to_value(Weights::default()).unwrap_or_default(),
};

static SHARE_THRESHOLDS: Section = Section {
    name: "share_thresholds",
    about: "Where a share begins to count, and where it counts in full.",
    fields: &[
        Field::needed("low", Kind::Number(Range::FROM_0_TO_1), "Below this nothing is wrong."),
        Field::needed("high", Kind::Number(Range::FROM_0_TO_1), "Above this it counts in full."),
    ],
    defaults: none,
};

static LOAD_THRESHOLDS: Section = Section {
    name: "load_thresholds",
    about: "Where a load begins to count, and where it counts in full.",
    fields: &[
        Field::needed("low", Kind::Number(Range::FROM_0), "Below this nothing is wrong."),
        Field::needed("high", Kind::Number(Range::FROM_0), "Above this it counts in full."),
    ],
    defaults: none,
};

static EXHAUSTED: Section = Section {
    name: "exhausted",
    about: "Where a single reading makes the machine critical.",
    fields: &[
        Field::of("io_wait", Kind::Number(Range::FROM_0_TO_1), "I/O wait."),
        Field::of("load_per_core", Kind::Number(Range::FROM_0), "Load for each core."),
        Field::of("db_pool", Kind::Number(Range::FROM_0_TO_1), "Database connections in use."),
        Field::of("memory", Kind::Number(Range::FROM_0_TO_1), "Memory in use."),
        Field::of("memory_pressure", Kind::Number(Range::FROM_0_TO_1), "Time stalled for memory."),
    ],
    defaults: || to_value(Exhausted::default()).unwrap_or_default(),
};
