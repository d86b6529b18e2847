//! Pools of database connections, which workers can run out of like memory.

use std::fmt;
use std::sync::Arc;

use headcount_core::Name;

/// A pool of database connections that can say how much of it is in use.
///
/// A closure is one. It is asked once in every cycle of a [`Sampler`](super::Sampler), from its
/// thread.
///
/// ```
/// use headcount::probes::DbPool;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let in_use = Arc::new(AtomicU32::new(0));
/// let counted = Arc::clone(&in_use);
/// let pool = move || Some(f64::from(counted.load(Ordering::Relaxed)) / 20.0);
/// in_use.store(15, Ordering::Relaxed);
/// assert_eq!(pool.use_share(), Some(0.75));
/// ```
pub trait DbPool: Send + Sync {
    /// The share of the connections that is in use, 0 to 1. `None`: not known.
    fn use_share(&self) -> Option<f64>;
}

impl<F> DbPool for F
where
    F: Fn() -> Option<f64> + Send + Sync,
{
    fn use_share(&self) -> Option<f64> {
        self()
    }
}

/// A pool of database connections was not taken in: there are as many as can be watched.
///
/// ```
/// use headcount::probes::DbPoolsFull;
/// use headcount::Name;
///
/// let error = DbPoolsFull(Name::new("orders").expect("a name"));
/// assert_eq!(error.to_string(), "database pool orders is not watched; at most 32 can be");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DbPoolsFull(
    /// The name under which it would have been watched.
    pub Name,
);

impl fmt::Display for DbPoolsFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database pool {} is not watched; at most {WATCHED_MAX} can be", self.0)
    }
}

impl std::error::Error for DbPoolsFull {}

/// So many pools are watched at most.
pub(super) const WATCHED_MAX: usize = 32;

/// The pools that are watched, by name.
#[derive(Clone, Default)]
pub(super) struct Watched {
    pools: Vec<(Name, Arc<dyn DbPool>)>,
}

impl Watched {
    /// Adds a pool, and gives back the one that had its name.
    pub(super) fn add(
        &mut self,
        name: Name,
        pool: Arc<dyn DbPool>,
    ) -> Result<Option<Arc<dyn DbPool>>, DbPoolsFull> {
        let replaced = self.remove(name);
        if WATCHED_MAX <= self.pools.len() {
            return Err(DbPoolsFull(name));
        }
        self.pools.push((name, pool));
        Ok(replaced)
    }

    pub(super) fn remove(&mut self, name: Name) -> Option<Arc<dyn DbPool>> {
        let place = self.pools.iter().position(|(known, _)| *known == name)?;
        Some(self.pools.swap_remove(place).1)
    }

    /// The pool that is used the most, and how much of it. `None`: no pool says.
    pub(super) fn fullest(&self) -> Option<(Name, f64)> {
        let told = self.pools.iter().filter_map(|(name, pool)| {
            let share = pool.use_share().filter(|share| share.is_finite())?;
            Some((*name, share.clamp(0.0, 1.0)))
        });
        told.reduce(|a, b| if a.1 < b.1 { b } else { a })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn check(pools: &[(&str, Option<f64>)], fullest: Option<(&str, f64)>) {
        let mut watched = Watched::default();
        for (text, share) in pools {
            let share = *share;
            watched.add(name(text), Arc::new(move || share)).unwrap();
        }
        assert_eq!(watched.fullest(), fullest.map(|(text, share)| (name(text), share)));
    }

    #[test]
    fn the_fullest_counts() {
        check(&[], None);
        check(&[("a", Some(0.2)), ("b", Some(0.9)), ("c", Some(0.5))], Some(("b", 0.9)));
        check(&[("a", None), ("b", Some(f64::NAN))], None);
        check(&[("a", None), ("b", Some(0.0))], Some(("b", 0.0)));
        check(&[("a", Some(7.0)), ("b", Some(-1.0))], Some(("a", 1.0)));
    }

    #[test]
    fn a_name_is_watched_once() {
        check(&[("a", Some(0.9)), ("a", Some(0.1))], Some(("a", 0.1)));
    }

    #[test]
    fn there_is_a_limit_and_a_way_to_make_room() {
        let mut watched = Watched::default();
        for number in 0..WATCHED_MAX {
            watched.add(name(&format!("p{number}")), Arc::new(|| Some(0.5))).unwrap();
        }
        let full = watched.add(name("more"), Arc::new(|| None)).err();
        assert_eq!(full, Some(DbPoolsFull(name("more"))));
        let replaced = watched.add(name("p3"), Arc::new(|| Some(0.7))).unwrap();
        assert_eq!(replaced.and_then(|pool| pool.use_share()), Some(0.5));
        assert!(watched.remove(name("p3")).is_some());
        assert!(watched.remove(name("p3")).is_none());
        assert!(watched.add(name("more"), Arc::new(|| None)).is_ok());
    }
}
