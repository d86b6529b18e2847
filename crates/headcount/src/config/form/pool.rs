//! A pool, as a file writes it.

use serde_json::json;

use super::deciders::DECIDER;
use super::guards::GUARDS;
use super::kind::{Field, Kind, Range, Section, Word, Zero, none};

const WORKERS_MOST: u64 = headcount_core::Policy::WORKERS_MAX as u64;

pub(crate) static POOL: Section = Section {
    name: "pool",
    about: "Workers, what waits for them, and the policy that sizes them.",
    fields: &[
        Field::of(
            "type",
            Kind::Text,
            "What the workers are: `threads`, `tasks` (async), `limiter` (permits without a pool), \
             or a type that is registered.",
        ),
        Field::of("options", Kind::Options, "What a registered type takes."),
        Field::of("workers", Kind::Section(&WORKERS), "How many workers there may be."),
        Field::of("queue", Kind::Section(&QUEUE), "The line of waiting tasks."),
        Field::of(
            "wait_budget",
            Kind::Span(Zero::Allowed),
            "How long a task may wait before a worker is hired for it. The decider's where that is \
             `slo`, else none.",
        ),
        Field::of(
            "idle",
            Kind::Span(Zero::Refused),
            "How long a worker above the floor stays without a task.",
        ),
        Field::of("stack_size", Kind::Size, "The stack of each thread. The system's by default."),
        Field::of(
            "stuck_after",
            Kind::Span(Zero::Refused),
            "How long a task runs before it is told of as stuck. Never by default.",
        ),
        Field::of(
            "replace_stuck_max",
            Kind::Count(0, WORKERS_MOST),
            "How many workers with a stuck task have others hired in their place.",
        ),
        Field::of(
            "compensate_max",
            Kind::Count(0, WORKERS_MOST),
            "How many workers in a blocking section have others work in their place.",
        ),
        Field::of("panic", Kind::Word(PANICS), "What happens when a task panics."),
        Field::of(
            "preset",
            Kind::Text,
            "The ready-made policy to begin with; `headcount presets` lists them.",
        ),
        Field::of("mode", Kind::Word(MODES), "How far the autoscaler may go by itself."),
        Field::of("tick", Kind::Span(Zero::Refused), "How often it decides."),
        Field::of(
            "samples_kept",
            Kind::Count(0, headcount_core::Policy::SAMPLES_KEPT_MAX as u64),
            "How many samples are kept for people to look back on.",
        ),
        Field::of(
            "signals",
            Kind::List(&Kind::Signal, headcount_core::SIGNALS_MAX),
            "What is read. What a decider calls by the name of a source needs no declaration.",
        ),
        Field::of("decider", Kind::Tagged(&DECIDER), "Proposes how many workers there should be."),
        Field::of("guards", Kind::Section(&GUARDS), "Limit what the decider may have."),
        Field::of("health", Kind::Section(&HEALTH), "Whether the machine's health limits it."),
        Field::of("ceiling", Kind::Section(&CEILING), "A ceiling from what the container may use."),
        Field::of("share", Kind::Section(&SHARE), "Its part of the budget across pools."),
        Field::of(
            "downstream",
            Kind::Name,
            "What its tasks call. Pools with the same one count what fails together; each bears \
             what its own `error_veto` says.",
        ),
        Field::of(
            "timezone",
            Kind::Text,
            "By which clock `schedule` goes: `UTC`, or a fixed offset such as `+02:00`. Named \
             zones and daylight saving are not known.",
        ),
    ],
    defaults: || {
        json!({
            "type": "threads",
            "idle": {"secs": 1, "nanos": 0},
            "replace_stuck_max": 0,
            "compensate_max": 64,
            "panic": "catch",
            "mode": "automatic",
            "tick": {"secs": 1, "nanos": 0},
            "samples_kept": 60,
            "decider": {"type": "slo"},
        })
    },
};

static WORKERS: Section = Section {
    name: "workers",
    about: "How many workers there may be.",
    fields: &[
        Field::of(
            "initial",
            Kind::Count(0, WORKERS_MOST),
            "How many there are to begin with. The policy's choice where it is left out.",
        ),
        Field::of("min", Kind::Count(0, WORKERS_MOST), "The fewest."),
        Field::of("max", Kind::Count(1, WORKERS_MOST), "The most. The cores by default."),
        Field::of(
            "max_allowed",
            Kind::Count(1, WORKERS_MOST),
            "The largest `max` that the policy is meant for.",
        ),
    ],
    defaults: || json!({"min": 1, "max_allowed": WORKERS_MOST}),
};

static QUEUE: Section = Section {
    name: "queue",
    about: "The line of waiting tasks.",
    fields: &[
        Field::of("len_max", Kind::Count(1, u64::MAX), "How many tasks may wait."),
        Field::of(
            "overflow",
            Kind::Overflow,
            "What happens to a task that finds the line full: `wait`, `{wait_for: 2s}`, `reject`, \
             `drop_oldest`, `drop_newest` or `caller_runs`.",
        ),
    ],
    defaults: || json!({"len_max": 65_536, "overflow": "wait"}),
};

static HEALTH: Section = Section {
    name: "health",
    about: "Whether the machine's health limits the pool.",
    fields: &[
        Field::of("enabled", Kind::Flag, "Whether it does.").or(&["enable_adaptive_scaling"]),
        Field::of(
            "min",
            Kind::Count(0, WORKERS_MOST),
            "The workers left while health is critical. The pool's fewest by default.",
        )
        .or(&["min_concurrency"]),
        Field::of(
            "max",
            Kind::Count(1, WORKERS_MOST),
            "The workers allowed while health is good. The pool's most by default.",
        )
        .or(&["max_concurrency"]),
    ],
    defaults: || json!({"enabled": false}),
};

static CEILING: Section = Section {
    name: "ceiling",
    about: "A ceiling from what the container may use.",
    fields: &[
        Field::of(
            "cpu_per_worker",
            Kind::Number(Range::ABOVE_0),
            "The cores that one worker keeps busy; as many workers as the quota has room for.",
        ),
        Field::of(
            "bytes_per_worker",
            Kind::Size,
            "The memory that one worker takes; as many workers as the limit has room for.",
        ),
    ],
    defaults: none,
};

static SHARE: Section = Section {
    name: "share",
    about: "A pool's part of the budget across pools.",
    fields: &[
        Field::of("weight", Kind::Number(Range::WEIGHT), "How much it counts beside the others."),
        Field::of(
            "min",
            Kind::Count(0, WORKERS_MOST),
            "What it gets before anybody gets more than a minimum.",
        ),
        Field::of("priority", Kind::Count(0, 255), "Higher goes first."),
    ],
    defaults: || json!({"weight": 1.0, "min": 0, "priority": 0}),
};

const PANICS: &[Word] = &[Word::of("catch"), Word::of("abort")];

const MODES: &[Word] =
    &[Word::of("off"), Word::of("manual"), Word::of("advise"), Word::of("automatic")];
