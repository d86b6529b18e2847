//! How jobs come, as it is described on the command line.

use headcount_sim::load::Arrivals;

use super::described::Described;
use super::numbers::{number, rate};
use crate::command::duration::parse as span;

const FORMS: &str = "poisson:50/s, step:10/s,100/s@60s, ramp:1/s,40/s, \
    sine:20/s,swing=10/s,period=5m, onoff:40/s,on=30s,off=60s, mmpp:5/s,50/s,stay=10s or \
    selfsimilar:13/s,bias=0.7";

pub(super) fn parse(text: &str) -> Result<Arrivals, String> {
    let Described { kind, plain, named } = Described::of(text);
    let arrivals = match (kind, &plain[..], &named[..]) {
        ("poisson", [one], []) => Arrivals::Poisson { rate: rate(one)? },
        ("step", [before, after], []) => {
            let Some((after, at)) = after.split_once('@') else { return Err(refused(text)) };
            Arrivals::Step { before: rate(before)?, after: rate(after)?, at: span(at)? }
        }
        ("ramp", [from, to], []) => Arrivals::Ramp { from: rate(from)?, to: rate(to)? },
        ("sine", [mean], [("period", period), ("swing", swing)]) => {
            Arrivals::Sine { mean: rate(mean)?, swing: rate(swing)?, period: span(period)? }
        }
        ("onoff", [one], [("off", off), ("on", on)]) => {
            Arrivals::OnOff { rate: rate(one)?, on: span(on)?, off: span(off)? }
        }
        ("mmpp", rates @ [_, ..], [("stay", stay)]) => {
            let rates = rates.iter().map(|one| rate(one)).collect::<Result<_, String>>()?;
            Arrivals::Mmpp { rates, stay: span(stay)? }
        }
        ("selfsimilar", [mean], [("bias", bias)]) => {
            Arrivals::SelfSimilar { mean: rate(mean)?, bias: number(bias)? }
        }
        _ => return Err(refused(text)),
    };
    Ok(arrivals)
}

fn refused(text: &str) -> String {
    format!("{text:?} is no way for jobs to come; write {FORMS}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let told = match parse(text) {
            Ok(arrivals) => format!("{arrivals:?}"),
            Err(why) => why.split(';').next().unwrap_or_default().to_owned(),
        };
        assert_eq!(told, expected, "{text:?}");
    }

    #[test]
    fn every_form_that_is_named_can_be_read() {
        for form in FORMS.replace(" or ", ", ").split(", ") {
            assert!(parse(form.trim()).is_ok(), "{form:?}");
        }
    }

    #[test]
    fn names_stand_in_any_order() {
        let on_off = "OnOff { rate: 40.0, on: 30s, off: 60s }";
        check("onoff:40/s,on=30s,off=1m", on_off);
        check("onoff:off=60,40/s,on=30s", on_off);
        check("step:10/s,100/s@60s", "Step { before: 10.0, after: 100.0, at: 60s }");
        check("mmpp:5/s,50/s,stay=10s", "Mmpp { rates: [5.0, 50.0], stay: 10s }");
    }

    #[test]
    fn what_is_wrong_is_named() {
        check("poisson:fast", "\"fast\" is no rate");
        check("step:10/s,100/s@noon", "\"noon\" is no span of time");
        for text in ["", "poisson", "poisson:1/s,2/s", "step:1/s,2/s", "sine:1/s", "mmpp:stay=1s"] {
            check(text, &format!("{text:?} is no way for jobs to come"));
        }
    }
}
