//! `tidy`: the rules of this house that the compiler and clippy do not know.
//!
//! Every rule looks at a [`House`], the files of the repository in memory, and returns its faults.
//! It is a test too, so that nobody has to remember to run it.

mod fault;
mod house;

mod functions;
mod source;

mod claims;
mod decisions;
mod dependence;
mod examples;
mod links;
mod places;
mod sizes;
mod words;

use std::time::Instant;

pub(crate) use dependence::core_needs;
use fault::Fault;
use house::House;

use crate::metadata::{self, Package};
use crate::outcome::{Outcome, green_if, red, takes_nothing};
use crate::process::root;

pub(crate) fn run(arguments: &[String]) -> Outcome {
    takes_nothing("tidy", arguments)?;
    let begin = Instant::now();
    let (house, members) = match look() {
        Ok(seen) => seen,
        Err(why) => return red(&why),
    };
    for warning in sizes::warnings(&house) {
        println!("warning: {warning}");
    }
    let faults = faults(&house, &members);
    for fault in &faults {
        println!("{fault}");
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("tidy: {} files, {} faults, {seconds:.1} s", house.files.len(), faults.len());
    green_if(faults.is_empty())
}

fn look() -> Result<(House, Vec<Package>), String> {
    let house = House::read(root()).map_err(|error| format!("{}: {error}", root().display()))?;
    let members = metadata::members(&root().join("Cargo.toml"))?;
    Ok((house, members))
}

fn faults(house: &House, members: &[Package]) -> Vec<Fault> {
    let mut faults = [
        sizes::faults(house),
        words::faults(house),
        places::faults(house),
        decisions::faults(house),
        links::faults(house),
        claims::faults(house),
        examples::faults(house),
        dependence::faults(house, members),
    ]
    .concat();
    faults.sort();
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let (house, members) = look().expect("the repository can be read");
        let faults: Vec<String> = faults(&house, &members).iter().map(Fault::to_string).collect();
        assert!(faults.is_empty(), "the house is not tidy\n\n{}\n", faults.join("\n"));
    }

    #[test]
    fn the_house_is_not_empty() {
        let (house, members) = look().expect("the repository can be read");
        assert!(house.files.iter().any(|file| file.path == "xtask/src/main.rs"));
        assert!(members.iter().any(|member| member.name == "headcount-core"));
    }
}
