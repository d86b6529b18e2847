//! `headcount plan`: how many workers a load needs, which bounds to set, and how that comes about.
//!
//! Flags and files become a question ([`asked`]), the simulator's crate answers it, and the answer
//! is told in words ([`told`], [`told_stages`]) or as JSON ([`json`]).

mod arguments;
mod number;
mod stage;

mod arrivals_file;
mod record;
mod recorded;

mod asked;

mod json;
mod told;
mod told_stages;
mod words;

use std::io::Write;

use headcount_sim::plan::{NoPlan, Plan};

pub(crate) use arguments::Arguments;

use crate::Stop;
use asked::{Asked, Question};

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    let asked = Asked::of(arguments)?;
    let answered = match &asked.question {
        Question::Pool(question) => Plan::of(question).map(|plan| match arguments.json {
            true => json::pool(&plan, asked.rates.as_ref()),
            false => told::pool(&plan, asked.rates.as_ref()),
        }),
        Question::Stages(stages) => stages.plan().map(|plan| match arguments.json {
            true => json::stages(stages, &plan, &asked),
            false => told_stages::stages(stages, &plan, &asked),
        }),
    };
    match answered {
        Ok(text) => Ok(write!(out, "{text}")?),
        Err(NoPlan::Number(bad)) => Err(Stop::Misused(bad.to_string())),
        Err(no_plan) => {
            if arguments.json {
                write!(out, "{}", json::no_plan(&no_plan))?;
            }
            Err(Stop::Refused(told::no_plan(&no_plan)))
        }
    }
}
