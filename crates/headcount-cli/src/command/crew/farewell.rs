//! The last words of a process that ran jobs.

use headcount::jobs::Drained;

use super::log::say;
use crate::Stop;

/// Says what became of the jobs that were held, and whether the store knows of all of it.
pub(crate) fn farewell(drained: Drained) -> Result<(), Stop> {
    say(&told(drained));
    match drained.is_clean() {
        true => Ok(()),
        false => Err(Stop::Told),
    }
}

fn told(drained: Drained) -> String {
    let Drained { finished, handed_back, stopped, unsettled } = drained;
    let stopped = match stopped {
        0 => String::new(),
        _ => format!(", {stopped} stopped and given back"),
    };
    let unsettled = match unsettled {
        0 => String::new(),
        _ => format!("; the store has not heard of {unsettled}, they run again elsewhere"),
    };
    format!(
        "ended; {finished} jobs finished, {handed_back} given back unstarted{stopped}{unsettled}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_store_does_not_know_is_told() {
        let clean = Drained { finished: 2, handed_back: 1, ..Drained::default() };
        assert_eq!(told(clean), "ended; 2 jobs finished, 1 given back unstarted");
        let torn = Drained { stopped: 3, unsettled: 4, ..clean };
        assert!(told(torn).contains("3 stopped and given back; the store has not heard of 4"));
        assert!(farewell(torn).is_err());
    }
}
