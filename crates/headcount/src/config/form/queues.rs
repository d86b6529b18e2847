//! A store of durable jobs and its queues, as a file writes them.

use headcount_core::jobs::{Priority, Retry, Rules};
use serde_json::json;

use super::kind::{Entries, Field, Keys, Kind, Section, Word, Zero, none};
use super::pool::POOL;

/// How many queues a file may have, and how many kinds or schedules a queue.
const QUEUES_MAX: usize = 256;
/// How many words a command may have, and how many variables or headers a handler.
const WORDS_MAX: usize = 256;

pub(crate) static STORE: Section = Section {
    name: "store",
    about: "Where durable jobs are kept.",
    fields: &[
        Field::of("path", Kind::Path, "The directory of a store of this machine alone."),
        Field::of(
            "url",
            Kind::Text,
            "The Redis that several machines share, such as `redis://host:6379/0`.",
        ),
        Field::of(
            "durability",
            Kind::Word(DURABILITIES),
            "When what a store in a directory has taken is on the disk: before it answers \
             (`synced`), or at the latest an `interval` later.",
        ),
        Field::of(
            "interval",
            Kind::Span(Zero::Refused),
            "How much time may be lost when the machine loses power. `10ms` where durability is \
             `interval`.",
        ),
    ],
    defaults: none,
};

pub(crate) static QUEUES: Entries = Entries {
    what: "queue",
    keys: Keys::Labels,
    inner: &Kind::Section(&QUEUE),
    len_max: QUEUES_MAX,
};

pub(crate) static QUEUE: Section = Section {
    name: "job_queue",
    about: "A queue of durable jobs, and what runs them.",
    fields: &[
        Field::of("rules", Kind::Section(&RULES), "What holds for the queue on all machines."),
        Field::of(
            "pool",
            Kind::Section(&POOL),
            "The workers of this process, as any pool; by default its `type` is `tasks`, and it \
             has 64 workers at most.",
        ),
        Field::of("handlers", Kind::Map(&HANDLERS), "What runs jobs, by their kind."),
        Field::of("schedules", Kind::Map(&SCHEDULES), "Jobs that are submitted by the clock."),
        Field::of("retry", Kind::Section(&RETRY), "When a job that failed is tried again."),
        Field::of(
            "crashes_max",
            Kind::Count(1, u32::MAX as u64),
            "How many lost workers put a job aside.",
        ),
        Field::of(
            "timeout",
            Kind::Span(Zero::Refused),
            "How long a job may run. As long as it likes by default.",
        ),
        Field::of(
            "keep",
            Kind::Span(Zero::Allowed),
            "How long a job is kept, with its result, once it is done.",
        ),
    ],
    defaults: || json!({"crashes_max": 3, "keep": {"secs": 0, "nanos": 0}}),
};

static RULES: Section = Section {
    name: "rules",
    about: "What holds for the queue on all machines. Kept in its store.",
    fields: &[
        Field::of(
            "running_max",
            Kind::Count(1, u32::MAX as u64),
            "How many jobs may run at once, over all machines. No limit by default.",
        ),
        Field::of(
            "key_running_max",
            Kind::Count(1, u32::MAX as u64),
            "How many jobs with one key may run at once. No limit by default.",
        ),
        Field::of(
            "rate",
            Kind::Section(&RATE),
            "How many jobs may start in a span of time, over all machines. No limit by default.",
        ),
        Field::of(
            "order",
            Kind::Either { word: "strict", wrapped: "weighted", section: &WEIGHTED },
            "How jobs of different priority are taken: the most urgent first (`strict`), or by \
             shares.",
        ),
        Field::of(
            "tenant_weights",
            Kind::Map(&TENANT_WEIGHTS),
            "How many jobs in a row a tenant has taken when it is its turn. 1 for each by default.",
        ),
        Field::of(
            "waiting_max",
            Kind::Count(1, u64::MAX),
            "How many jobs may be in the queue that have not ended; more are refused.",
        ),
        Field::of(
            "dead_max",
            Kind::Count(0, u64::MAX),
            "How many jobs that died, were quarantined or cancelled are kept.",
        ),
        Field::of("dead_keep", Kind::Span(Zero::Allowed), "How long they are kept at most."),
        Field::of("done_max", Kind::Count(0, u64::MAX), "How many jobs that are done are kept."),
    ],
    defaults: || serde_json::to_value(Rules::default()).unwrap_or_default(),
};

static RATE: Section = Section {
    name: "job_rate",
    about: "How many jobs may start in a span of time.",
    fields: &[
        Field::needed("jobs", Kind::Count(1, u32::MAX as u64), "How many jobs."),
        Field::needed("per", Kind::Span(Zero::Refused), "In which time, at most a day."),
    ],
    defaults: none,
};

static WEIGHTED: Section = Section {
    name: "weighted",
    about: "Each priority has its share of turns.",
    fields: &[Field::needed(
        "weights",
        Kind::List(&Kind::Count(0, Rules::WEIGHT_MAX as u64), Priority::COUNT),
        "Turns for each of the ten priorities, the most urgent first.",
    )],
    defaults: none,
};

static TENANT_WEIGHTS: Entries = Entries {
    what: "tenant",
    keys: Keys::Labels,
    inner: &Kind::Count(1, Rules::WEIGHT_MAX as u64),
    len_max: Rules::TENANTS_MAX,
};

static HANDLERS: Entries = Entries {
    what: "kind",
    keys: Keys::Labels,
    inner: &Kind::Section(&HANDLER),
    len_max: QUEUES_MAX,
};

static HANDLER: Section = Section {
    name: "handler",
    about: "What runs jobs of one kind: a program, or a service that is called.",
    fields: &[
        Field::of(
            "exec",
            Kind::List(&Kind::Line, WORDS_MAX),
            "A program and its arguments; no shell. The payload comes on its standard input, its \
             exit code decides.",
        ),
        Field::of("http", Kind::Text, "The payload is sent there with POST; the status decides."),
        Field::of(
            "timeout",
            Kind::Span(Zero::Refused),
            "How long one try may take. A minute for `http`; no limit for `exec`.",
        ),
        Field::of("dir", Kind::Path, "The working directory of a program."),
        Field::of("env", Kind::Map(&VARIABLES), "Variables of a program, beside the inherited."),
        Field::of(
            "dead_codes",
            Kind::List(&Kind::Count(1, 255), WORDS_MAX),
            "Exit codes that end a job for good, beside 65.",
        ),
        Field::of(
            "snooze",
            Kind::Span(Zero::Refused),
            "When a job is tried again whose program exited with 75.",
        ),
        Field::of(
            "grace",
            Kind::Span(Zero::Allowed),
            "How long a program may take to end after SIGTERM, before SIGKILL.",
        ),
        Field::of("headers", Kind::Map(&HEADERS), "Headers of a request."),
    ],
    defaults: || {
        json!({
            "snooze": {"secs": 30, "nanos": 0},
            "grace": {"secs": 5, "nanos": 0},
        })
    },
};

static VARIABLES: Entries =
    Entries { what: "variable", keys: Keys::Variables, inner: &Kind::Line, len_max: WORDS_MAX };

static HEADERS: Entries =
    Entries { what: "header", keys: Keys::Headers, inner: &Kind::Line, len_max: WORDS_MAX };

static SCHEDULES: Entries = Entries {
    what: "schedule",
    keys: Keys::Labels,
    inner: &Kind::Section(&SCHEDULE),
    len_max: QUEUES_MAX,
};

static SCHEDULE: Section = Section {
    name: "job_schedule",
    about: "A job that is submitted by the clock, once for all machines.",
    fields: &[
        Field::needed("cron", Kind::Text, "When, such as `0 3 * * *`."),
        Field::of("timezone", Kind::Text, "By which clock, such as `Europe/Berlin`."),
        Field::needed("kind", Kind::Label, "The kind of the job."),
        Field::of("payload", Kind::Options, "What its handler is given. `null` by default."),
        Field::of(
            "missed",
            Kind::Word(MISSED),
            "What becomes of times at which no process was there: nothing (`skip`), or the last of \
             a day is made up for (`once`).",
        ),
    ],
    defaults: || json!({"timezone": "UTC", "missed": "skip"}),
};

static RETRY: Section = Section {
    name: "retry",
    about: "When a job that failed is tried again.",
    fields: &[
        Field::of(
            "attempts_max",
            Kind::Count(1, u32::MAX as u64),
            "How often its handler may fail in all.",
        ),
        Field::of("backoff", Kind::Section(&BACKOFF), "How long it waits before the next try."),
        Field::of(
            "budget",
            Kind::Span(Zero::Refused),
            "No try begins later than this after it was submitted. No limit by default.",
        ),
    ],
    defaults: || json!({"attempts_max": Retry::default().attempts_max}),
};

static BACKOFF: Section = Section {
    name: "backoff",
    about: "How long a job waits before the next try: doubled from `base` to `max`, or `fixed`.",
    fields: &[
        Field::of("base", Kind::Span(Zero::Refused), "After the first failure. `1s` by default."),
        Field::of("max", Kind::Span(Zero::Refused), "Never longer than this. `1h` by default."),
        Field::of("fixed", Kind::Span(Zero::Allowed), "Always the same."),
    ],
    defaults: none,
};

const DURABILITIES: &[Word] = &[Word::of("synced"), Word::of("interval")];

const MISSED: &[Word] = &[Word::of("skip"), Word::of("once")];
