//! The whole file.

use serde_json::json;

use super::health::HEALTH_RULES;
use super::kind::{Field, Kind, Section, Zero, none};
use super::pool::POOL;
use super::queues::{QUEUES, STORE};

pub(crate) static FILE: Section = Section {
    name: "file",
    about: "Pools, and what they share.",
    fields: &[
        Field::of("service", Kind::Name, "What the whole is called."),
        Field::of("defaults", Kind::Section(&POOL), "What holds for every pool that is silent."),
        Field::of("budget", Kind::Section(&BUDGET), "What all pools may have together.")
            .or(&["coordination"]),
        Field::of("health", Kind::Section(&HEALTH), "How the machine's health is measured."),
        Field::of("trace", Kind::Section(&TRACE), "Where runs are recorded. Nowhere by default."),
        Field::of("state", Kind::Section(&STATE), "Where memory outlives the process."),
        Field::of("store", Kind::Section(&STORE), "Where durable jobs are kept."),
        Field::of("queues", Kind::Map(&QUEUES), "Queues of durable jobs, by name."),
    ],
    defaults: || json!({"service": "headcount"}),
};

static BUDGET: Section = Section {
    name: "budget",
    about: "What all pools may have together.",
    fields: &[Field::of(
        "workers_max",
        Kind::Count(1, u32::MAX as u64),
        "The most workers over all pools. No limit by default.",
    )
    .or(&["global_max"])],
    defaults: none,
};

static HEALTH: Section = Section {
    name: "machine_health",
    about: "How the machine's health is measured.",
    fields: &[
        Field::of("interval", Kind::Span(Zero::Refused), "How often it is measured."),
        Field::of("rules", Kind::Section(&HEALTH_RULES), "How readings become a score."),
    ],
    defaults: || json!({"interval": {"secs": 5, "nanos": 0}}),
};

static TRACE: Section = Section {
    name: "trace",
    about: "Where runs are recorded.",
    fields: &[
        Field::needed("path", Kind::Path, "The file."),
        Field::of("bytes_max", Kind::Size, "How large it grows before another one is begun."),
        Field::of("files_max", Kind::Count(1, 10_000), "How many are kept."),
    ],
    defaults: || json!({"bytes_max": 64 << 20, "files_max": 8}),
};

static STATE: Section = Section {
    name: "state",
    about: "Where memory outlives the process.",
    fields: &[Field::needed("path", Kind::Path, "The file.")],
    defaults: none,
};
