//! Names, where they tell scalers apart.
//!
//! A state file and a trace know a scaler by its name and nothing else: two of one name would write
//! over each other, and neither a restart nor a replay could part them again. So a name is taken
//! there for as long as its scaler lives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use headcount_core::Fault;

use crate::sync::lock;

/// The names that are taken in one place, and by how many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    taken: Arc<Mutex<BTreeMap<String, u32>>>,
}

/// A name that is taken, until this is dropped.
#[derive(Debug)]
pub(super) struct TakenName {
    names: Names,
    name: String,
}

/// Whether a scaler may have the name of one that is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// Nobody else has it.
    Alone,
    /// It comes in place of another, which decides nothing from then on.
    #[cfg_attr(not(feature = "config"), expect(dead_code, reason = "only systems replace"))]
    InPlaceOfAnother,
}

impl Names {
    /// Takes a name in `place`, which is named where that is refused.
    pub(super) fn take(&self, name: &str, claim: Claim, place: &str) -> Result<TakenName, Fault> {
        let mut taken = lock(&self.taken);
        let holders = taken.entry(name.to_owned()).or_default();
        if 0 < *holders && claim == Claim::Alone {
            return Err(Fault {
                field: "name".to_owned(),
                value: format!("{name:?}"),
                allowed: format!(
                    "another scaler has this name in {place}, which tells them apart by it; give \
                     each a name of its own"
                ),
            });
        }
        *holders += 1;
        Ok(TakenName { names: self.clone(), name: name.to_owned() })
    }
}

impl Drop for TakenName {
    fn drop(&mut self) {
        let mut taken = lock(&self.names.taken);
        if let Some(holders) = taken.get_mut(&self.name) {
            *holders -= 1;
            if *holders == 0 {
                taken.remove(&self.name);
            }
        }
    }
}
