//! The signals, as a file writes them.

use headcount_core::signal::{Clamp, Window};

use super::kind::{Field, Kind, Range, Section, Tag, Tagged, Variant, Zero, none};

/// What every signal has beside its `type`, which names a source or is registered.
pub(crate) static SIGNAL: Section = Section {
    name: "signal",
    about: "Something that is read at every tick, and what is done to the reading.",
    fields: &[
        Field::of(
            "name",
            Kind::Name,
            "What deciders and guards call it by. Its type where it is left out.",
        ),
        Field::of(
            "smoothing",
            Kind::List(&Kind::Tagged(&SMOOTHING), 8),
            "What is done to the reading, in order.",
        ),
    ],
    defaults: none,
};

static SMOOTHING: Tagged = Tagged {
    name: "smoothing",
    about: "One step of what is done to a reading.",
    variants: &[
        Variant { name: "ewma", section: &EWMA },
        Variant { name: "mean", section: &MEAN },
        Variant { name: "over", section: &OVER },
        Variant { name: "rate_of_change", section: &RATE_OF_CHANGE },
        Variant { name: "clamp", section: &CLAMP },
        Variant { name: "near_median", section: &NEAR_MEDIAN },
        Variant { name: "after", section: &AFTER },
    ],
    part: None,
    tag: Tag::Outside,
    shared: &[],
};

static EWMA: Section = Section {
    name: "ewma",
    about: "A moving average.",
    fields: &[Field::needed(
        "tau",
        Kind::Span(Zero::Refused),
        "How long ago a reading counts for 1/e of one from now.",
    )],
    defaults: none,
};

static MEAN: Section = Section {
    name: "mean",
    about: "The mean of the last readings, once there are that many in a row.",
    fields: &[Field::needed("samples", Kind::Count(1, Window::SAMPLES_MAX as u64), "How many.")],
    defaults: none,
};

static OVER: Section = Section {
    name: "over",
    about: "One number for a span of time.",
    fields: &[
        Field::needed("span", Kind::Span(Zero::Refused), "How far back."),
        Field::needed("aggregate", Kind::Aggregate, "Which number."),
    ],
    defaults: none,
};

static RATE_OF_CHANGE: Section = Section {
    name: "rate_of_change",
    about: "The change in a second.",
    fields: &[],
    defaults: none,
};

static CLAMP: Section = Section {
    name: "clamp",
    about: "A fixed range.",
    fields: &[
        Field::needed("low", Kind::Measure(Range::ANY), "The least reading."),
        Field::needed("high", Kind::Measure(Range::ANY), "The greatest reading."),
    ],
    defaults: none,
};

static NEAR_MEDIAN: Section = Section {
    name: "near_median",
    about: "The neighbourhood of the median.",
    fields: &[
        Field::needed(
            "samples",
            Kind::Count(3, Clamp::SAMPLES_MAX as u64),
            "Of how many readings.",
        ),
        Field::needed("spreads", Kind::Number(Range::ABOVE_0), "How many spreads wide each way."),
    ],
    defaults: none,
};

static AFTER: Section = Section {
    name: "after",
    about: "Silence before enough readings.",
    fields: &[Field::needed("samples", Kind::Count(1, u32::MAX as u64), "How many.")],
    defaults: none,
};
