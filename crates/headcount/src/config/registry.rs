//! Parts of users' own, by the names that a file calls them by.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use headcount_core::Resizable;
use headcount_core::decide::Decider;
use headcount_core::guard::Guard;
use headcount_core::signal::{Signal, Source};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::form::{Kind, POOL, Part, duration};

/// What a file says to a part of somebody's own.
///
/// ```
/// use headcount::config::Options;
/// use std::time::Duration;
///
/// let options = Options::from_iter([("topic", "mail".into()), ("every", "1m30s".into())]);
/// assert_eq!(options.text("topic"), Ok("mail"));
/// assert_eq!(options.span("every"), Ok(Duration::from_secs(90)));
/// let sentence = options.count("lag_max").expect_err("nobody wrote it");
/// assert_eq!(sentence, "lag_max is missing; a whole number is needed");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(Map<String, Json>);

impl Options {
    pub(crate) fn new(options: Map<String, Json>) -> Self {
        Self(options)
    }

    pub(crate) fn map(&self) -> &Map<String, Json> {
        &self.0
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `name` was written.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The text called `name`.
    ///
    /// # Errors
    ///
    /// A sentence that says what is needed, to be handed on.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        self.get(name, Json::as_str, "a text is needed")
    }

    /// The number called `name`.
    ///
    /// # Errors
    ///
    /// A sentence that says what is needed, to be handed on.
    pub fn number(&self, name: &str) -> Result<f64, String> {
        self.get(name, Json::as_f64, "a number is needed")
    }

    /// The whole number called `name`.
    ///
    /// # Errors
    ///
    /// A sentence that says what is needed, to be handed on.
    pub fn count(&self, name: &str) -> Result<u64, String> {
        self.get(name, Json::as_u64, "a whole number is needed")
    }

    /// The span of time called `name`.
    ///
    /// # Errors
    ///
    /// A sentence that says what is needed, to be handed on.
    pub fn span(&self, name: &str) -> Result<Duration, String> {
        let needed = "a span of time is needed, such as 3s";
        self.get(name, |value| value.as_str().and_then(duration), needed)
    }

    /// All of them, as a type of one's own.
    ///
    /// # Errors
    ///
    /// What `serde` has to say of it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_value(Json::Object(self.0.clone())).map_err(|error| error.to_string())
    }

    fn get<'a, T>(
        &'a self,
        name: &str,
        read: impl Fn(&'a Json) -> Option<T>,
        needed: &str,
    ) -> Result<T, String> {
        let Some(value) = self.0.get(name) else {
            return Err(format!("{name} is missing; {needed}"));
        };
        read(value).ok_or_else(|| format!("{name} is {value}; {needed}"))
    }
}

impl<K: Into<String>> FromIterator<(K, Json)> for Options {
    fn from_iter<I: IntoIterator<Item = (K, Json)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

/// A part of somebody's own, as a file names it.
///
/// ```
/// use headcount::config::{Config, Options, Plug, PoolKind, Registry};
/// use headcount::Limiter;
/// use std::sync::Arc;
///
/// let registry = Registry::new().resizable("connections", |_| Ok(Arc::new(Limiter::new(4))));
/// let text = "pools:\n  db:\n    type: connections\n    options: {url: local}\n";
/// let config = Config::parse("pools.yaml", text, &registry).expect("no fault");
/// let PoolKind::Registered(Plug { name, options }) = &config.pools[0].kind else {
///     panic!("it is registered");
/// };
/// assert_eq!((name.as_str(), options.text("url")), ("connections", Ok("local")));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plug {
    /// The name that it is registered by.
    pub name: String,
    /// What the file says to it.
    pub options: Options,
}

type Make<T> = Arc<dyn Fn(&Options) -> Result<T, String> + Send + Sync>;

/// Signals, deciders, guards and things to resize, by the names that a file calls them by.
///
/// A maker is called when a file is checked and again when the part is built, so it should do
/// nothing that lasts; only the maker of something to resize is not called before it is built. Its
/// error is a sentence that says what would be right, and is reported with the line of the part.
///
/// ```
/// use headcount::config::{Config, Registry};
/// use headcount_core::signal::Signal;
/// use headcount_core::Observation;
///
/// /// How many messages wait in a topic.
/// #[derive(Clone, Debug)]
/// struct Lag(String);
///
/// impl Signal for Lag {
///     fn name(&self) -> &str {
///         "lag"
///     }
///     fn read(&mut self, _: &Observation) -> Option<f64> {
///         Some(self.0.len() as f64)
///     }
/// }
///
/// let registry = Registry::new().signal("lag", |options| Ok(Lag(options.text("topic")?.into())));
/// let text = "
/// pools:
///   mail:
///     signals: [{type: lag}]
///     decider: {type: target, signal: lag, setpoint: 100}
/// ";
/// let report = Config::parse("mail.yaml", text, &registry).expect_err("it takes a topic");
/// let line = "mail.yaml:4:15: pools.mail.signals[0] is a signal of type \"lag\"; \
///             topic is missing; a text is needed";
/// assert_eq!(report.to_string(), line);
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    signals: BTreeMap<String, Make<Box<dyn Signal>>>,
    deciders: BTreeMap<String, Make<Box<dyn Decider>>>,
    guards: BTreeMap<String, Make<Arc<dyn Guard>>>,
    resizables: BTreeMap<String, Make<Arc<dyn Resizable>>>,
}

impl Registry {
    /// One in which nothing is registered.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a file have `signals: [{type: name}]`.
    ///
    /// # Panics
    ///
    /// When a source has this name already.
    #[must_use]
    pub fn signal<S: Signal + 'static>(
        mut self,
        name: &str,
        make: impl Fn(&Options) -> Result<S, String> + Send + Sync + 'static,
    ) -> Self {
        assert!(Source::named(name).is_none(), "there is a source called {name:?} already");
        let make = move |options: &Options| Ok(Box::new(make(options)?) as Box<dyn Signal>);
        self.signals.insert(name.to_owned(), Arc::new(make));
        self
    }

    /// Lets a file have `decider: {type: name}`.
    ///
    /// # Panics
    ///
    /// When there is a decider of this name already.
    #[must_use]
    pub fn decider<D: Decider + 'static>(
        mut self,
        name: &str,
        make: impl Fn(&Options) -> Result<D, String> + Send + Sync + 'static,
    ) -> Self {
        assert!(!builtin_deciders().contains(&name), "there is a decider called {name:?} already");
        let make = move |options: &Options| Ok(Box::new(make(options)?) as Box<dyn Decider>);
        self.deciders.insert(name.to_owned(), Arc::new(make));
        self
    }

    /// Lets a file have `guards: {registered: [{type: name}]}`.
    #[must_use]
    pub fn guard<G: Guard + 'static>(
        mut self,
        name: &str,
        make: impl Fn(&Options) -> Result<G, String> + Send + Sync + 'static,
    ) -> Self {
        let make = move |options: &Options| Ok(Arc::new(make(options)?) as Arc<dyn Guard>);
        self.guards.insert(name.to_owned(), Arc::new(make));
        self
    }

    /// Lets a pool have `type: name`.
    ///
    /// # Panics
    ///
    /// When there is a type of pool of this name already.
    #[must_use]
    pub fn resizable<R: Resizable + 'static>(
        mut self,
        name: &str,
        make: impl Fn(&Options) -> Result<Arc<R>, String> + Send + Sync + 'static,
    ) -> Self {
        assert!(!BUILTIN_POOLS.contains(&name), "there is a pool type {name:?} already");
        let make = move |options: &Options| Ok(make(options)? as Arc<dyn Resizable>);
        self.resizables.insert(name.to_owned(), Arc::new(make));
        self
    }

    /// The names that are registered for `part`.
    pub(crate) fn names(&self, part: Part) -> Vec<String> {
        match part {
            Part::Signal => self.signals.keys().cloned().collect(),
            Part::Decider => self.deciders.keys().cloned().collect(),
            Part::Guard => self.guards.keys().cloned().collect(),
            Part::Resizable => self.resizables.keys().cloned().collect(),
        }
    }

    /// Whether a part can be made of these options.
    pub(crate) fn try_out(&self, part: Part, name: &str, options: &Options) -> Result<(), String> {
        match part {
            Part::Signal => made(&self.signals, "signal", name, options).map(drop),
            Part::Decider => made(&self.deciders, "decider", name, options).map(drop),
            Part::Guard => made(&self.guards, "guard", name, options).map(drop),
            // To make one is to open connections or to start threads.
            Part::Resizable => Ok(()),
        }
    }

    pub(crate) fn make_signal(&self, plug: &Plug) -> Result<Box<dyn Signal>, String> {
        made(&self.signals, "signal", &plug.name, &plug.options)
    }

    pub(crate) fn make_decider(&self, plug: &Plug) -> Result<Box<dyn Decider>, String> {
        made(&self.deciders, "decider", &plug.name, &plug.options)
    }

    pub(crate) fn make_guard(&self, plug: &Plug) -> Result<Arc<dyn Guard>, String> {
        made(&self.guards, "guard", &plug.name, &plug.options)
    }

    pub(crate) fn make_resizable(&self, plug: &Plug) -> Result<Arc<dyn Resizable>, String> {
        made(&self.resizables, "pool type", &plug.name, &plug.options)
    }
}

/// The types of pool that need no registration.
pub(crate) const BUILTIN_POOLS: [&str; 4] = ["threads", "tasks", "limiter", "ants"];

fn builtin_deciders() -> Vec<&'static str> {
    match POOL.field("decider").map(|field| &field.kind) {
        Some(Kind::Tagged(tagged)) => tagged.variants.iter().map(|variant| variant.name).collect(),
        _ => Vec::new(),
    }
}

fn made<T>(
    makers: &BTreeMap<String, Make<T>>,
    what: &str,
    name: &str,
    options: &Options,
) -> Result<T, String> {
    let maker = makers.get(name).ok_or_else(|| format!("no {what} is registered as {name:?}"))?;
    maker(options)
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("signals", &self.signals.keys())
            .field("deciders", &self.deciders.keys())
            .field("guards", &self.guards.keys())
            .field("resizables", &self.resizables.keys())
            .finish()
    }
}
