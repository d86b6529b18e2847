//! The policies of a pool, which may come, go and be switched off while it works.
//!
//! Those that are enabled stand on a list that is never changed, only replaced. Whoever submits
//! takes the newest list under the lock and asks without it; while nobody is enabled, a flag says
//! so and the lock is not taken.

use std::any::Any;
use std::error::Error;
use std::fmt;
// Std's, also in the models: no other can hold a `dyn`, and users hold these.
use std::sync::Arc as StdArc;

use headcount_core::{Name, NameError};

use super::PoolPolicy;
use super::escort::Escort;
use super::hook::{Rejection, TaskView};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock};
use crate::unhurt::{Panicked, unhurt};

/// The most policies that a pool may have.
pub const POLICIES_MAX: usize = 16;

/// The policies of one pool, in the order in which they are asked.
///
/// ```
/// use headcount_pool::policy::{CircuitBreaker, Policies, TaskView};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let policies = Policies::new();
/// policies.add(Arc::new(CircuitBreaker::default())).expect("the only one of its name");
/// let breaker = policies.find_as::<CircuitBreaker>("circuit_breaker").expect("just added");
/// breaker.force_open(Duration::from_secs(30));
/// assert!(policies.enqueue(&TaskView::default()).is_err());
///
/// policies.disable("circuit_breaker").expect("it is there");
/// assert!(policies.enqueue(&TaskView::default()).is_ok());
/// assert!(!policies.any_enabled());
/// ```
pub struct Policies {
    /// Written under the lock, so that it agrees with the newest list.
    any_enabled: AtomicBool,
    roll: Mutex<Roll>,
    panics: Panics,
}

/// Who hears of a hook that panicked: the policy's name, and which hook.
pub(crate) type Witness = StdArc<dyn Fn(Name, &'static str) + Send + Sync>;

/// Hooks that panicked. They are counted, and told if there is somebody to tell.
#[derive(Clone)]
struct Panics {
    count: Arc<AtomicU64>,
    witness: Option<Witness>,
}

/// What stands under the lock.
struct Roll {
    entries: Vec<Entry>,
    asked: Arc<Asked>,
}

#[derive(Clone)]
struct Entry {
    name: Name,
    policy: StdArc<dyn PoolPolicy>,
    enabled: bool,
}

/// The list of those that are enabled. Escorts hold it for as long as their tasks last.
pub(super) struct Asked {
    pub(super) members: Vec<(Name, StdArc<dyn PoolPolicy>)>,
    panics: Panics,
}

impl Policies {
    /// No policies yet.
    #[must_use]
    pub fn new() -> Self {
        Self::telling(None)
    }

    /// None yet, and somebody who hears of hooks that panic.
    pub(crate) fn telling(witness: Option<Witness>) -> Self {
        let panics = Panics { count: Arc::new(AtomicU64::new(0)), witness };
        let asked = Asked { members: Vec::new(), panics: panics.clone() };
        let roll = Roll { entries: Vec::new(), asked: Arc::new(asked) };
        Self { any_enabled: AtomicBool::new(false), roll: Mutex::new(roll), panics }
    }

    /// Adds a policy behind the others, enabled.
    ///
    /// # Errors
    ///
    /// When there is one of this name, when its name is none, or when there are [`POLICIES_MAX`]
    /// already. The policy is handed back.
    pub fn add(&self, policy: StdArc<dyn PoolPolicy>) -> Result<(), AddError> {
        // Before the lock: it is code of the policy.
        let name = match Name::new(policy.name()) {
            Ok(name) => name,
            Err(error) => return Err(AddError { reason: AddRefusal::Name(error), policy }),
        };
        let mut roll = lock(&self.roll);
        let reason = match roll.entries.len() {
            _ if roll.position(name.as_str()).is_some() => AddRefusal::Taken(name),
            POLICIES_MAX.. => AddRefusal::Full,
            _ => {
                roll.entries.push(Entry { name, policy, enabled: true });
                self.replace_list(&mut roll);
                return Ok(());
            }
        };
        Err(AddError { reason, policy })
    }

    /// The policy of this name, enabled or not.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<StdArc<dyn PoolPolicy>> {
        let roll = lock(&self.roll);
        roll.position(name).map(|index| roll.entries[index].policy.clone())
    }

    /// The policy of this name, if it is a `T`.
    #[must_use]
    pub fn find_as<T: PoolPolicy>(&self, name: &str) -> Option<StdArc<T>> {
        let policy: StdArc<dyn Any + Send + Sync> = self.find(name)?;
        policy.downcast().ok()
    }

    /// Takes a policy out and hands it back. It still sees out the tasks that it let in.
    ///
    /// # Errors
    ///
    /// When there is none of this name.
    pub fn remove(&self, name: &str) -> Result<StdArc<dyn PoolPolicy>, UnknownPolicy> {
        self.change(name, |roll, index| roll.entries.remove(index).policy)
    }

    /// Asks a policy again, in its old place.
    ///
    /// # Errors
    ///
    /// When there is none of this name.
    pub fn enable(&self, name: &str) -> Result<(), UnknownPolicy> {
        self.switch(name, true)
    }

    /// Does not ask a policy any more. It still sees out the tasks that it let in.
    ///
    /// # Errors
    ///
    /// When there is none of this name.
    pub fn disable(&self, name: &str) -> Result<(), UnknownPolicy> {
        self.switch(name, false)
    }

    fn switch(&self, name: &str, enabled: bool) -> Result<(), UnknownPolicy> {
        let entry = self.change(name, |roll, index| {
            roll.entries[index].enabled = enabled;
            roll.entries[index].clone()
        })?;
        // After the lock: it is code of the policy.
        let _ = self.panics.call((entry.name, "on_switch"), || entry.policy.on_switch(enabled));
        Ok(())
    }

    /// The names of all policies, in the order in which they are asked.
    #[must_use]
    pub fn names(&self) -> Vec<Name> {
        lock(&self.roll).entries.iter().map(|entry| entry.name).collect()
    }

    /// Whether a policy is enabled. `None`: there is none of this name.
    #[must_use]
    pub fn is_enabled(&self, name: &str) -> Option<bool> {
        let roll = lock(&self.roll);
        roll.position(name).map(|index| roll.entries[index].enabled)
    }

    /// Whether anybody would be asked. It costs one load.
    ///
    /// It is always as new as the last change, also where two threads change the set at once: so a
    /// pool should ask here, and keep no copy.
    #[must_use]
    pub fn any_enabled(&self) -> bool {
        self.any_enabled.load(Ordering::Acquire)
    }

    /// Asks all that are enabled, in their order, whether a task may come in.
    ///
    /// # Errors
    ///
    /// When one of them rejects it. Those behind it are not asked, and those before it get back
    /// what they gave.
    pub fn enqueue(&self, task: &TaskView<'_>) -> Result<Escort, Rejection> {
        if !self.any_enabled() {
            return Ok(Escort::none());
        }
        let asked = lock(&self.roll).asked.clone();
        Escort::ask(&asked, task)
    }

    /// How often a hook panicked, or baggage as it was dropped. A pool tells of each by an
    /// [`Event::HookPanicked`](crate::Event::HookPanicked).
    #[must_use]
    pub fn hook_panics(&self) -> u64 {
        self.panics.count.load(Ordering::Relaxed)
    }

    fn change<T>(
        &self,
        name: &str,
        change: impl FnOnce(&mut Roll, usize) -> T,
    ) -> Result<T, UnknownPolicy> {
        let mut roll = lock(&self.roll);
        let Some(index) = roll.position(name) else {
            return Err(UnknownPolicy { name: name.to_owned() });
        };
        let changed = change(&mut roll, index);
        self.replace_list(&mut roll);
        Ok(changed)
    }

    /// Makes a new list. The old one goes here or with its last escort; no policy goes with it
    /// under the lock, for each stands in the new entries or in the hands of whoever removed it.
    fn replace_list(&self, roll: &mut Roll) {
        let enabled = roll.entries.iter().filter(|entry| entry.enabled);
        let members: Vec<_> = enabled.map(|entry| (entry.name, entry.policy.clone())).collect();
        self.any_enabled.store(!members.is_empty(), Ordering::Release);
        roll.asked = Arc::new(Asked { members, panics: self.panics.clone() });
    }
}

impl Roll {
    fn position(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name.as_str() == name)
    }
}

/// A hook: whose, and which.
pub(super) type HookOf = (Name, &'static str);

impl Asked {
    /// Calls code of a policy. If it panics, that is counted and told.
    pub(super) fn call<T>(&self, of: HookOf, hook: impl FnOnce() -> T) -> Result<T, Panicked> {
        self.panics.call(of, hook)
    }
}

impl Panics {
    fn call<T>(&self, of: HookOf, hook: impl FnOnce() -> T) -> Result<T, Panicked> {
        let (policy, name) = of;
        unhurt(hook).inspect_err(|Panicked| {
            self.count.fetch_add(1, Ordering::Relaxed);
            if let Some(witness) = &self.witness {
                witness(policy, name);
            }
        })
    }
}

impl Default for Policies {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("names", &self.names())
            .field("any_enabled", &self.any_enabled())
            .field("hook_panics", &self.hook_panics())
            .finish()
    }
}

/// A policy that was not added, and why.
///
/// ```
/// use headcount_pool::policy::{CircuitBreaker, Policies};
/// use std::sync::Arc;
///
/// let policies = Policies::new();
/// let breaker = Arc::new(CircuitBreaker::default());
/// policies.add(breaker.clone()).expect("the only one of its name");
/// let error = policies.add(breaker).expect_err("the second");
/// assert_eq!(
///     error.to_string(),
///     "there is a policy \"circuit_breaker\" already; remove it, or give this one another name"
/// );
/// assert_eq!(error.policy.name(), "circuit_breaker");
/// ```
pub struct AddError {
    /// Why not.
    pub reason: AddRefusal,
    /// What was to be added.
    pub policy: StdArc<dyn PoolPolicy>,
}

impl fmt::Debug for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddError").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl Error for AddError {}

/// Why a policy was not added.
///
/// ```
/// use headcount_pool::policy::{AddRefusal, Policies, PoolPolicy};
/// use std::sync::Arc;
///
/// struct Nameless;
/// impl PoolPolicy for Nameless {
///     fn name(&self) -> &str {
///         ""
///     }
/// }
/// let error = Policies::new().add(Arc::new(Nameless)).expect_err("what would it be called?");
/// assert!(matches!(error.reason, AddRefusal::Name(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddRefusal {
    /// Another policy has this name.
    Taken(Name),
    /// Its name is none.
    Name(NameError),
    /// There are [`POLICIES_MAX`] already.
    Full,
}

impl fmt::Display for AddRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(
                f,
                "there is a policy {name:?} already; remove it, or give this one another name"
            ),
            Self::Name(error) => error.fmt(f),
            Self::Full => {
                write!(f, "there are {POLICIES_MAX} policies, the most allowed; remove one first")
            }
        }
    }
}

/// There is no policy of this name.
///
/// ```
/// use headcount_pool::policy::Policies;
///
/// let error = Policies::new().disable("curfew").expect_err("there are none");
/// assert_eq!(error.to_string(), "there is no policy \"curfew\"; see which names there are");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPolicy {
    /// The name that was asked for.
    pub name: String,
}

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no policy {:?}; see which names there are", self.name)
    }
}

impl Error for UnknownPolicy {}
