//! The settings in a file: whole or not there, also after the power went.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::config::Throttling;

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;
/// Files that are longer are not read.
const BYTES_MAX: u64 = 4 << 20;

/// All that was set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    #[serde(default)]
    version: u32,
    /// For every pool that has no settings of its own. `None`: nobody has set anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) common: Option<Throttling>,
    /// For single pools, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) pools: BTreeMap<String, Throttling>,
}

/// What the file holds; nothing where it is not there.
pub(super) fn read(path: &Path) -> Result<Written, String> {
    let said = |what: String| {
        format!("the settings in {} cannot be used: {what}; mend or remove it", path.display())
    };
    match fs::metadata(path) {
        Ok(found) if BYTES_MAX < found.len() => {
            return Err(said(format!("it has more than {BYTES_MAX} bytes")));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Written::default()),
        Ok(_) | Err(_) => {}
    }
    let text = fs::read_to_string(path).map_err(|error| said(error.to_string()))?;
    let written: Written = serde_json::from_str(&text).map_err(|error| said(error.to_string()))?;
    if written.version != VERSION {
        return Err(said(format!("its version is {}, this reads {VERSION}", written.version)));
    }
    let faults = written.common.iter().chain(written.pools.values()).flat_map(Throttling::faults);
    match faults.map(|fault| fault.to_string()).reduce(|all, fault| format!("{all}; {fault}")) {
        Some(faults) => Err(said(faults)),
        None => Ok(written),
    }
}

/// Written beside, brought to the disk, put in place by a rename.
pub(super) fn write(path: &Path, written: &Written) -> io::Result<()> {
    let written = Written { version: VERSION, ..written.clone() };
    let beside = path.with_added_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(&serde_json::to_vec_pretty(&written)?)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // The name is the directory's, so that has to reach the disk too. Where directories cannot be
    // opened this is not known to be needed.
    match path
        .parent()
        .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
    {
        Some(parent) if cfg!(unix) => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}
