//! Who plays what: the loads, regimes and policies that were asked for.

use headcount_sim::contest::{Contender, Entry, Regime};

use super::arguments::Arguments;
use super::loads::Offer;
use super::standing::family;
use crate::Stop;

/// One load in one regime, and the policies that are to play there.
#[derive(Debug)]
pub(super) struct Fixture {
    pub(super) regime: Regime,
    pub(super) entry: Entry,
    pub(super) contenders: Vec<Contender>,
}

/// All that was asked for, regime by regime.
pub(super) fn fixtures(arguments: &Arguments, offer: &Offer) -> Result<Vec<Fixture>, Stop> {
    let (regimes, loads) = (regimes(arguments), &offer.loads);
    loads_known(arguments, offer)?;

    let fields: Vec<Vec<Contender>> =
        regimes.iter().map(|regime| Contender::all(*regime, &tempos(arguments))).collect();
    let names: Vec<&str> = fields.iter().flatten().map(|one| one.name.as_str()).collect();
    let is_there = |wanted: &&String| names.iter().any(|name| is_policy(name, wanted));
    let unknown = arguments.policy.iter().filter(|wanted| !is_there(wanted));
    known("policy", unknown, names.iter().map(|name| family(name)))?;

    let mut fixtures = Vec::new();
    for (regime, field) in regimes.into_iter().zip(fields) {
        let is_wanted = |contender: &Contender| {
            let wanted = &arguments.policy;
            wanted.is_empty() || wanted.iter().any(|wanted| is_policy(&contender.name, wanted))
        };
        let contenders: Vec<Contender> = field.into_iter().filter(is_wanted).collect();
        for load in loads.iter().filter(|load| load.is_for(regime)) {
            let wanted = arguments.load.is_empty() || arguments.load.contains(&load.entry.name);
            if wanted && !contenders.is_empty() {
                let (entry, contenders) = (load.entry.clone(), contenders.clone());
                fixtures.push(Fixture { regime, entry, contenders });
            }
        }
    }
    match fixtures.is_empty() {
        true => Err(Stop::Misused(
            "none of these loads is played in these regimes; scv 1 and 4 are for A and B-knee"
                .to_owned(),
        )),
        false => Ok(fixtures),
    }
}

/// Every load that was named can be played.
fn loads_known(arguments: &Arguments, offer: &Offer) -> Result<(), Stop> {
    for wanted in &arguments.load {
        if let Some(skipped) = offer.skipped.iter().find(|skipped| skipped.is(wanted)) {
            let why = &skipped.why;
            return Err(Stop::Misused(format!("--load {wanted} cannot be played: {why}")));
        }
    }
    let names = offer.loads.iter().map(|load| load.entry.name.as_str());
    let is_there = |wanted: &&String| offer.loads.iter().any(|load| load.entry.name == **wanted);
    known("load", arguments.load.iter().filter(|wanted| !is_there(wanted)), names)
}

/// In the order of all of them, and each once.
fn regimes(arguments: &Arguments) -> Vec<Regime> {
    let wanted = |regime: &Regime| {
        arguments.regime.is_empty() || arguments.regime.iter().any(|name| name.0.contains(regime))
    };
    Regime::ALL.into_iter().filter(wanted).collect()
}

/// In order, and each once.
fn tempos(arguments: &Arguments) -> Vec<f64> {
    let mut tempos = arguments.tempos.clone();
    tempos.sort_by(f64::total_cmp);
    tempos.dedup();
    tempos
}

fn is_policy(name: &str, wanted: &str) -> bool {
    name == wanted || family(name) == wanted
}

/// The first that nobody knows is told, with those that there are.
fn known<'a>(
    kind: &str,
    mut unknown: impl Iterator<Item = &'a String>,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), Stop> {
    let Some(unknown) = unknown.next() else { return Ok(()) };
    let mut there: Vec<&str> = Vec::new();
    for name in names {
        if !there.contains(&name) {
            there.push(name);
        }
    }
    let there = there.join(", ");
    Err(Stop::Misused(format!("no {kind} is called {unknown:?} here; there are {there}")))
}
