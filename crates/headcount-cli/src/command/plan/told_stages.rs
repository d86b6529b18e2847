//! The answer for several pools in words.

use headcount_sim::plan::{Narrowest, StagePlan, Stages, StagesPlan};

use super::asked::Asked;
use super::told::{Text, caution, record};
use super::words::{bytes, number, promise, rate, share, span, workers};

pub(super) fn stages(work: &Stages, plan: &StagesPlan, asked: &Asked) -> String {
    let mut text = Text::default();
    let counted = match plan.stages.len() {
        1 => "1 stage".to_owned(),
        many => format!("{many} stages"),
    };
    let keep = match plan.workers() {
        1 => format!("1 worker in {counted} keeps"),
        many => format!("{many} workers in {counted} keep"),
    };
    text.line(format_args!(
        "{keep} {} for all but {} of the jobs.",
        promise(&work.slo),
        share(work.slo.share())
    ));
    bottleneck(&mut text, work, plan);
    if let Some(memory) = asked.bytes(plan.workers()) {
        text.line(format_args!("All of them take {} of memory.", bytes(memory)));
    }
    table(&mut text, plan);
    text.head("How it comes about");
    if let Some(rates) = &asked.rates {
        record(&mut text, rates, &work.slo);
    }
    let first = &plan.stages[0];
    text.item(
        "each visit",
        format_args!(
            "waits at most {} for all but {}: its part of the promise",
            span(first.slo.limit()),
            share(first.slo.share())
        ),
    );
    for stage in &plan.stages {
        arithmetic(&mut text, work, stage);
    }
    for stage in &plan.stages {
        if let Some(caution) = caution(&stage.traffic) {
            text.line(format_args!("\n{}: {caution}", stage.stage.name));
        }
    }
    text.0
}

fn bottleneck(text: &mut Text, work: &Stages, plan: &StagesPlan) {
    let narrowest = &plan.stages[plan.narrowest.stage()];
    let name = &narrowest.stage.name;
    let demand = span(narrowest.stage.demand());
    match (plan.narrowest, narrowest.carries) {
        (Narrowest::Capacity(_), Some(carries)) => {
            let has = narrowest.stage.workers.unwrap_or(0);
            let (has, carry) = (workers(has), if has == 1 { "carries" } else { "carry" });
            let verdict = if carries <= work.rate { "less than comes" } else { "then it is full" };
            text.line(format_args!(
                "The bottleneck is {name}: its {has} at {demand} a job {carry} {}, {verdict}.",
                rate(carries)
            ));
        }
        _ => text.line(format_args!(
            "The bottleneck is {name}: each job takes {demand} of its workers, more than of any \
             other."
        )),
    }
}

fn table(text: &mut Text, plan: &StagesPlan) {
    let names = plan.stages.iter().map(|stage| stage.stage.name.chars().count());
    let width = names.max().unwrap_or(0).max("stage".len());
    text.line(format_args!(
        "\n{:<width$}  {:>9}  {:>8}  {:>6}  {:>7}  {:>6}  today",
        "stage", "rate", "load", "needs", "doubled", "busy"
    ));
    for one in &plan.stages {
        text.line(format_args!(
            "{:<width$}  {:>9}  {:>8}  {:>6}  {:>7}  {:>6}  {}",
            one.stage.name,
            rate(one.traffic.rate()),
            number(one.traffic.load().erlangs()),
            one.at.workers,
            one.doubled.map_or("-".to_owned(), |workers| workers.to_string()),
            share(one.at.utilization),
            today(one)
        ));
    }
}

fn today(one: &StagePlan) -> String {
    match one.present.map(|present| (present.workers, present.standing)) {
        None => "-".to_owned(),
        Some((count, None)) => format!("{count}, does not keep up"),
        Some((count, Some(standing))) if standing.late <= one.slo.share() => {
            format!("{count}, enough")
        }
        Some((count, Some(standing))) => format!("{count}, {} late", share(standing.late)),
    }
}

fn arithmetic(text: &mut Text, work: &Stages, one: &StagePlan) {
    let (traffic, at) = (&one.traffic, &one.at);
    text.item(
        &one.stage.name,
        format_args!(
            "R = {} x {} x {} = {}; v = {}; Erlang C({}, R){} = {}; late {}",
            rate(work.rate),
            number(one.stage.calls),
            span(one.stage.service.mean()),
            number(traffic.load().erlangs()),
            number(traffic.variability_at(at.workers)),
            at.workers,
            if traffic.arrivals_scv() <= 1.0 { "" } else { " x Q(x / z) / Q(x)" },
            share(at.delayed),
            share(at.late)
        ),
    );
}
