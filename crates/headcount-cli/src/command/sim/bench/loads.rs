//! The loads that are played: the one that is built in, those of a folder, those made up.

use std::fs;
use std::path::Path;

use headcount_sim::contest::{Entry, Regime, synthetic};
use headcount_sim::load::Buckets;
use headcount_sim::load::trace_file::{Arrivals, TraceFiles, TraceFolder, azure, read_jobs};

use super::passed_over::PassedOver;
use crate::Stop;
use crate::command::printable;
use crate::command::sim::files::refused;
use crate::command::sim::traces;

/// The variation of sizes where a trace has none of its own, and those that are tried besides.
const SCV: f64 = 2.0;
const SCV_BESIDES: [u8; 2] = [1, 4];

/// A load, and where it is played.
#[derive(Clone, Debug)]
pub(super) struct Offered {
    pub(super) entry: Entry,
    where_played: Where,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Everywhere,
    /// A and B-knee only: what sizes do to a policy shows in these two.
    CheapAndKnee,
}

impl Offered {
    fn everywhere(entry: Entry) -> Self {
        Self { entry, where_played: Where::Everywhere }
    }

    pub(super) fn is_for(&self, regime: Regime) -> bool {
        match self.where_played {
            Where::Everywhere => true,
            Where::CheapAndKnee => matches!(regime, Regime::Cheap | Regime::Knee),
        }
    }
}

/// What there is to play, and what of the folder is not played.
#[derive(Debug, Default)]
pub(super) struct Offer {
    pub(super) loads: Vec<Offered>,
    pub(super) skipped: Vec<Skipped>,
    /// Tables that belong to no load.
    pub(super) passed_over: Vec<PassedOver>,
}

/// A trace that cannot be played.
#[derive(Clone, Debug)]
pub(super) struct Skipped {
    pub(super) load: String,
    /// With the name of the file that is wrong.
    pub(super) why: String,
}

impl Skipped {
    /// Whether it would have made a load of this name.
    pub(super) fn is(&self, load: &str) -> bool {
        let rest = load.strip_prefix(&self.load);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" scv "))
    }
}

impl Offer {
    fn has(&self, name: &str) -> bool {
        let is_skipped = self.skipped.iter().any(|skipped| skipped.load == name);
        is_skipped || self.loads.iter().any(|offered| offered.entry.name == name)
    }

    /// The loads of a trace, or that it is skipped: others are played all the same.
    fn add(&mut self, load: String, read: Result<Vec<Offered>, Stop>) -> Result<(), Stop> {
        let why = match read {
            Ok(loads) if loads.iter().any(|offered| self.has(&offered.entry.name)) => {
                format!("{load}: another trace makes a load of this name; rename one of them")
            }
            Ok(loads) => {
                self.loads.extend(loads);
                return Ok(());
            }
            Err(Stop::Misused(why)) => why,
            Err(stop) => return Err(stop),
        };
        self.skipped.push(Skipped { load, why });
        Ok(())
    }
}

/// All loads. A trace takes the place of one that is built in or made up and has its name.
pub(super) fn offered(folder: Option<&Path>) -> Result<Offer, Stop> {
    let mut offer = Offer::default();
    if let Some(folder) = folder {
        let (found, unnamed) = found(folder)?;
        for files in &found.traces {
            let name = name(files, &found);
            let read = read(folder, files, &name);
            offer.add(name, read)?;
        }
        offer.passed_over = PassedOver::of(&found).into_iter().chain(unnamed).collect();
    }
    let ours = |entry: &Entry| !offer.has(&entry.name);
    let built_in: Vec<Entry> = [built_in()].into_iter().filter(ours).collect();
    let made_up: Vec<Entry> = synthetic().into_iter().filter(ours).collect();
    let built_in = built_in.into_iter().map(Offered::everywhere);
    let made_up = made_up.into_iter().map(Offered::everywhere);
    offer.loads = built_in.chain(offer.loads).chain(made_up).collect();
    Ok(offer)
}

fn built_in() -> Entry {
    let arrivals = Arrivals::read_with_step(azure::arrivals(), azure::STEP);
    let arrivals = arrivals.expect("what is built in can be read");
    let jobs = read_jobs(azure::jobs()).expect("what is built in can be read");
    let sizes = jobs.iter().map(|job| job.size).collect();
    Entry::with_sizes(azure::NAME, arrivals.into(), sizes)
}

/// The traces of a folder, and tables whose names are no text.
fn found(folder: &Path) -> Result<(TraceFolder, Vec<PassedOver>), Stop> {
    let unreadable = |error| refused(folder, &format!("it cannot be read: {error}"));
    let (mut names, mut unnamed) = (Vec::new(), Vec::new());
    for file in fs::read_dir(folder).map_err(unreadable)? {
        match file.map_err(unreadable)?.file_name().into_string() {
            Ok(name) => names.push(name),
            Err(name) => unnamed.extend(PassedOver::unnamed(&name)),
        }
    }
    let found = TraceFolder::of(names.iter().map(String::as_str));
    match found.traces.is_empty() {
        true => Err(refused(
            folder,
            "there is no trace in it; they are called NAME_STEPs.arrivals.csv or .csv.gz, as in \
             web_60s.arrivals.csv",
        )),
        false => Ok((found, unnamed)),
    }
}

/// What a trace is called; with its step, where there are several of its name.
fn name(files: &TraceFiles, found: &TraceFolder) -> String {
    let is_namesake = |other: &&TraceFiles| other.name == files.name;
    let name = printable::word(&files.name);
    match found.traces.iter().filter(is_namesake).count() {
        1 => name,
        _ => format!("{name} {:?}", files.step),
    }
}

/// The loads that one trace makes.
fn read(folder: &Path, files: &TraceFiles, name: &str) -> Result<Vec<Offered>, Stop> {
    let arrivals_file = folder.join(&files.arrivals);
    let arrivals = traces::arrivals(&arrivals_file, Some(files.step))?;
    let offered = match &files.jobs {
        None => without_sizes(name, &arrivals),
        Some(jobs) => {
            let jobs = traces::jobs(&folder.join(jobs))?;
            let sizes = jobs.iter().map(|job| job.size).collect();
            vec![Offered::everywhere(Entry::with_sizes(name, arrivals, sizes))]
        }
    };
    for load in &offered {
        let drawn = load.entry.load.jobs(1);
        drawn.map_err(|error| refused(&arrivals_file, &error.to_string()))?;
    }
    Ok(offered)
}

fn without_sizes(name: &str, arrivals: &Buckets) -> Vec<Offered> {
    let usual = Offered::everywhere(Entry::without_sizes(name, arrivals.clone(), SCV));
    let besides = SCV_BESIDES.map(|scv| Offered {
        entry: Entry::without_sizes(&format!("{name} scv {scv}"), arrivals.clone(), f64::from(scv)),
        where_played: Where::CheapAndKnee,
    });
    std::iter::once(usual).chain(besides).collect()
}
