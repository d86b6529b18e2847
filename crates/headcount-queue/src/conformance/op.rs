//! Random operations: few names, so that they meet, and times that lie close together.

use std::fmt;
use std::time::Duration;

use headcount_core::jobs::port::{Command, Ending, NewJob, Which};
use headcount_core::jobs::{
    Dependence, JobId, JobSpec, Order, Priority, Rate, Rules, Start, State, Unique, UniqueSpan,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::select;

/// One call, or time that passes.
///
/// ```
/// use headcount_queue::conformance::Op;
///
/// assert_eq!(format!("{:?}", Op::Advance(250)), "Advance(250)");
/// ```
#[derive(Clone, Debug)]
pub enum Op {
    /// Jobs are submitted.
    Enqueue(Vec<Draft>),
    /// A holder asks for at most so many, for so many seconds.
    Lease(u8, u8, u8),
    /// A holder renews for so many seconds, and notes how far some jobs are.
    Extend(u8, u8, Vec<(Pick, u8)>),
    /// Jobs are settled by whoever holds the first of them.
    Settle(Vec<(Pick, Ending)>),
    /// The same, and the holder asks for at most so many in the same breath.
    Turn(Vec<(Pick, Ending)>, u8),
    /// A sweep with this limit.
    Sweep(usize),
    /// An operator wants something.
    Steer(Command),
    /// So many milliseconds pass.
    Advance(u64),
}

/// A job of those that were handed out, the last one first, and under which fence.
///
/// ```
/// use headcount_queue::conformance::Pick;
///
/// let last = Pick { back: 0, wrong: false };
/// assert_eq!(last, Pick { back: 0, ..last });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// How many were handed out after it.
    pub back: u8,
    /// Whether a fence is named under which it never was held.
    pub wrong: bool,
}

/// A job to be submitted, in small numbers.
///
/// ```
/// use headcount_queue::conformance::Draft;
///
/// let draft = Draft { number: 3, tenant: Some("b"), ..Draft::default() };
/// assert_eq!(format!("{draft:?}"), "#3 tenant b");
/// assert_eq!(draft.job().id.as_u128(), 3);
/// ```
#[derive(Clone, Default)]
#[allow(missing_docs, reason = "they are the fields of a spec, said in small numbers")]
pub struct Draft {
    pub number: u8,
    pub priority: Option<u8>,
    pub tenant: Option<&'static str>,
    pub key: Option<&'static str>,
    pub delay_ms: u64,
    pub unique: Option<(&'static str, UniqueSpan)>,
    pub after: Vec<u8>,
    pub at_end: bool,
    pub keep_ms: u64,
    pub crashes_max: Option<u32>,
}

impl Draft {
    /// The job itself.
    ///
    /// # Panics
    ///
    /// When a name is none.
    #[must_use]
    pub fn job(&self) -> NewJob {
        let kind = "kind".parse().expect("a fine name");
        let mut spec = JobSpec::new(kind, vec![self.number]);
        spec.priority = self.priority.map(Priority::new).unwrap_or_default();
        spec.tenant = self.tenant.map(|name| name.parse().expect("a fine name"));
        spec.key = self.key.map(|key| key.parse().expect("a fine key"));
        if 0 < self.delay_ms {
            spec.start = Start::After(Duration::from_millis(self.delay_ms));
        }
        let unique = self.unique.as_ref();
        spec.unique =
            unique.map(|(key, span)| Unique { key: key.parse().expect("a fine key"), span: *span });
        spec.after = self.after.iter().map(|number| id(*number)).collect();
        if self.at_end {
            spec.dependence = Dependence::End;
        }
        spec.keep = Duration::from_millis(self.keep_ms);
        spec.crashes_max = self.crashes_max.unwrap_or(spec.crashes_max);
        NewJob { id: id(self.number), spec }
    }
}

/// Only what is special about it, so that a failing sequence can be read.
impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)?;
        let mut say = |word: &str, what: Option<String>| match what {
            Some(what) => write!(f, " {word} {what}"),
            None => Ok(()),
        };
        let time = |ms: u64| (0 < ms).then(|| format!("{ms} ms"));
        say("priority", self.priority.map(|number| number.to_string()))?;
        say("tenant", self.tenant.map(str::to_owned))?;
        say("key", self.key.map(str::to_owned))?;
        say("delay", time(self.delay_ms))?;
        say("unique", self.unique.map(|(key, span)| format!("{key} {span:?}")))?;
        say("after", (!self.after.is_empty()).then(|| format!("{:?}", self.after)))?;
        say("at_end", self.at_end.then(String::new))?;
        say("keep", time(self.keep_ms))?;
        say("crashes_max", self.crashes_max.map(|max| max.to_string()))
    }
}

fn id(number: u8) -> JobId {
    JobId::from_u128(u128::from(number))
}

/// How many different jobs there are: few, so that submits repeat and jobs meet.
const NUMBERS: u8 = 24;

fn number() -> impl Strategy<Value = u8> {
    1..=NUMBERS
}

fn moment_ms() -> impl Strategy<Value = u64> {
    select(&[0, 0, 0, 1, 250, 1000, 4000][..])
}

fn draft() -> impl Strategy<Value = Draft> {
    let span = prop_oneof![
        3 => Just(UniqueSpan::UntilEnded),
        1 => Just(UniqueSpan::For(Duration::from_millis(1000))),
        1 => (0_u64..3).prop_map(UniqueSpan::Above),
    ];
    let names = (
        number(),
        option::weighted(0.3, select(&[0, 2, 9][..])),
        option::weighted(0.5, select(&["a", "b", "c"][..])),
        option::weighted(0.4, select(&["k", "l"][..])),
        option::weighted(0.2, (select(&["u", "v"][..]), span)),
    );
    let rest = (
        moment_ms(),
        prop_oneof![3 => Just(Vec::new()), 1 => vec(number(), 1..4)],
        any::<bool>(),
        moment_ms(),
        option::weighted(0.3, 1_u32..3),
    );
    (names, rest).prop_map(|((number, priority, tenant, key, unique), rest)| {
        let (delay_ms, after, at_end, keep_ms, crashes_max) = rest;
        let at_end = at_end && !after.is_empty();
        let draft = Draft { number, priority, tenant, key, unique, ..Draft::default() };
        Draft { delay_ms, after, at_end, keep_ms, crashes_max, ..draft }
    })
}

fn pick() -> impl Strategy<Value = Pick> {
    (0_u8..8, proptest::bool::weighted(0.1)).prop_map(|(back, wrong)| Pick { back, wrong })
}

fn ending() -> impl Strategy<Value = Ending> {
    let checkpoint = || option::weighted(0.3, vec(any::<u8>(), 1..3));
    let after = || moment_ms().prop_map(Duration::from_millis);
    prop_oneof![
        3 => option::weighted(0.5, vec(any::<u8>(), 1..3))
            .prop_map(|result| Ending::Done { result }),
        2 => after().prop_map(|after| Ending::Retry { after, error: "no luck".to_owned() }),
        1 => Just(Ending::Dead { error: "no use".to_owned() }),
        3 => checkpoint().prop_map(|checkpoint| Ending::Release { checkpoint }),
        1 => (after(), checkpoint())
            .prop_map(|(after, checkpoint)| Ending::Snooze { after, checkpoint }),
        1 => Just(Ending::Cancelled),
    ]
}

fn rules() -> impl Strategy<Value = Rules> {
    let rate = Rate { jobs: 3, per: Duration::from_secs(1) };
    let weighted = Order::Weighted([2, 0, 1, 0, 0, 1, 0, 0, 0, 1]);
    let limits = (
        option::weighted(0.3, 1_u32..5),
        option::weighted(0.7, 1_u32..3),
        option::weighted(0.2, Just(rate)),
        select(vec![Order::Strict, weighted]),
        option::weighted(0.5, 1_u32..4),
    );
    let keeping = (select(&[3, 8, 1000][..]), 0_u64..4, 0_u64..4, moment_ms());
    (limits, keeping).prop_map(|((running_max, key_running_max, rate, order, weight), keeping)| {
        let weight = weight.map(|weight| ("a".parse().expect("a fine name"), weight));
        let (waiting_max, dead_max, done_max, dead_keep_ms) = keeping;
        Rules {
            running_max,
            key_running_max,
            rate,
            order,
            tenant_weights: weight.into_iter().collect(),
            waiting_max,
            dead_max,
            dead_keep: Duration::from_millis(dead_keep_ms + 500),
            done_max,
        }
    })
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        2 => vec(number().prop_map(id), 1..5).prop_map(Which::Ids),
        1 => select(&State::ALL[..]).prop_map(Which::In),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        1 => Just(Command::Pause),
        3 => Just(Command::Resume),
        4 => rules().prop_map(|rules| Command::Rules(Box::new(rules))),
        1 => Just(Command::Purge),
        3 => which().prop_map(Command::Revive),
        4 => which().prop_map(Command::Cancel),
        2 => which().prop_map(Command::Delete),
    ]
}

fn op() -> BoxedStrategy<Op> {
    let holder = || 1_u8..4;
    let ttl = || select(&[0_u8, 1, 3, 3, 8][..]);
    prop_oneof![
        6 => vec(draft(), 1..6).prop_map(Op::Enqueue),
        6 => (holder(), 0_u8..6, ttl()).prop_map(|(holder, max, ttl)| Op::Lease(holder, max, ttl)),
        2 => (holder(), ttl(), vec((pick(), 0_u8..=100), 0..3))
            .prop_map(|(holder, ttl, notes)| Op::Extend(holder, ttl, notes)),
        6 => vec((pick(), ending()), 1..5).prop_map(Op::Settle),
        2 => (vec((pick(), ending()), 1..5), 0_u8..6)
            .prop_map(|(picks, max)| Op::Turn(picks, max)),
        4 => (vec((pick(), Just(Ending::Done { result: None })), 1..5), 0_u8..6)
            .prop_map(|(picks, max)| Op::Turn(picks, max)),
        3 => select(&[0_usize, 1, 2, 100, 100, 100][..]).prop_map(Op::Sweep),
        3 => command().prop_map(Op::Steer),
        4 => select(&[1_u64, 250, 1000, 4000, 9000][..]).prop_map(Op::Advance),
    ]
    .boxed()
}

/// Sequences of up to so many operations.
pub fn sequences(len_max: usize) -> BoxedStrategy<Vec<Op>> {
    vec(op(), 1..=len_max.max(1)).boxed()
}
