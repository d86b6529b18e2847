//! The answer as JSON: seconds, bytes, shares between 0 and 1, `null` where there is no number.

use headcount_sim::maths::{Measured, Slo, Traffic};
use headcount_sim::plan::{
    Change, Floor, Narrowest, NoPlan, Plan, Present, Rates, StagePlan, Stages, StagesPlan, Standing,
};
use serde_json::{Value, json};

use super::asked::Asked;
use super::told;

pub(super) fn pool(plan: &Plan, rates: Option<&Rates>) -> String {
    let question = &plan.question;
    let what_ifs = plan
        .what_ifs
        .iter()
        .map(|what_if| json!({"change": change(what_if.change), "workers": what_if.workers.ok()}));
    written(&json!({
        "workers": plan.at.workers,
        "caution": told::caution(&question.traffic),
        "traffic": traffic(&question.traffic),
        "slo": slo(&question.slo),
        "quiet_rate": question.quiet_rate,
        "spawn_s": question.spawn,
        "at": standing(&plan.at),
        "one_less_late": plan.one_less,
        "bounds": {
            "floor": plan.bounds.floor,
            "floor_is_for": floor(plan.bounds.floor_is_for),
            "initial": plan.bounds.initial,
            "ceiling": plan.bounds.ceiling,
        },
        "headroom": plan.headroom(),
        "doubling": {"rate": plan.doubling.rate, "workers": plan.doubling.workers},
        "what_ifs": what_ifs.collect::<Vec<Value>>(),
        "memory_bytes": plan.memory.map(|memory| json!({
            "floor": memory.floor, "initial": memory.initial, "ceiling": memory.ceiling,
        })),
        "present": plan.present.as_ref().map(present),
        "record": rates.map(record),
    }))
}

pub(super) fn stages(work: &Stages, plan: &StagesPlan, asked: &Asked) -> String {
    let by = match plan.narrowest {
        Narrowest::Capacity(_) => "capacity",
        Narrowest::Demand(_) => "demand",
    };
    written(&json!({
        "workers": plan.workers(),
        "rate": work.rate,
        "slo": slo(&work.slo),
        "memory_bytes": asked.bytes(plan.workers()),
        "bottleneck": {"stage": plan.stages[plan.narrowest.stage()].stage.name, "by": by},
        "stages": plan.stages.iter().map(stage).collect::<Vec<Value>>(),
        "record": asked.rates.as_ref().map(record),
    }))
}

pub(super) fn no_plan(why: &NoPlan) -> String {
    let (late_at_best, limit_least) = match why {
        NoPlan::ServiceAlone { late, limit_least, .. } => (Some(late), Some(limit_least)),
        _ => (None, None),
    };
    written(&json!({
        "workers": null,
        "why": told::no_plan(why),
        "late_at_best": late_at_best,
        "limit_least_s": limit_least,
    }))
}

fn stage(one: &StagePlan) -> Value {
    json!({
        "name": one.stage.name,
        "calls": one.stage.calls,
        "workers": one.at.workers,
        "caution": told::caution(&one.traffic),
        "traffic": traffic(&one.traffic),
        "slo": slo(&one.slo),
        "at": standing(&one.at),
        "doubled": one.doubled,
        "present": one.present.as_ref().map(present),
        "carries": one.carries,
    })
}

fn traffic(traffic: &Traffic) -> Value {
    json!({
        "rate": traffic.rate(),
        "arrivals_scv": traffic.arrivals_scv(),
        "service_mean_s": traffic.service().mean(),
        "service_scv": traffic.service().scv(),
        "load": traffic.load().erlangs(),
        "variability": traffic.variability(),
    })
}

fn slo(slo: &Slo) -> Value {
    let measured = match slo.measured() {
        Measured::Wait => "wait",
        Measured::Latency => "latency",
    };
    json!({"measured": measured, "limit_s": slo.limit(), "late": slo.share()})
}

fn standing(standing: &Standing) -> Value {
    json!({
        "workers": standing.workers,
        "utilization": standing.utilization,
        "spare_roots": standing.spare_roots,
        "delayed": standing.delayed,
        "late": standing.late,
        "wait_mean_s": standing.wait_mean,
        "waiting": standing.waiting,
        "rate_max": standing.rate_max,
    })
}

fn present(present: &Present) -> Value {
    json!({"workers": present.workers, "at": present.standing.as_ref().map(standing)})
}

fn record(rates: &Rates) -> Value {
    json!({
        "arrivals": rates.arrivals,
        "span_s": rates.span,
        "rate_mean": rates.mean,
        "rate_quietest": rates.quietest,
        "rate_busiest": rates.busiest,
        "busiest_from_s": rates.busiest_from,
        "rate_exceeded_by_few": rates.exceeded_by_few,
        "rate_planned": rates.planned,
        "window_s": rates.window,
        "dispersion": rates.dispersion,
    })
}

fn floor(floor: Floor) -> &'static str {
    match floor {
        Floor::Presence => "presence",
        Floor::QuietLoad => "quiet_load",
        Floor::BusyLoad => "busy_load",
    }
}

fn change(change: Change) -> &'static str {
    match change {
        Change::ServiceLonger => "service_longer",
        Change::ServiceVaries => "service_varies",
        Change::ArrivalsBurst => "arrivals_burst",
        Change::All => "all",
    }
}

fn written(value: &Value) -> String {
    format!("{value:#}\n")
}
