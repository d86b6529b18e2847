//! How long jobs take, as it is described on the command line.

use headcount_sim::load::Sizes;

use super::described::Described;
use super::numbers::{number, share};
use crate::command::duration::parse as span;

const FORMS: &str = "lognormal:100ms,scv=2, exp:100ms, const:100ms, bimodal:1ms,30s,long=3% or \
    pareto:100ms,shape=2.5";

pub(super) fn parse(text: &str) -> Result<Sizes, String> {
    let Described { kind, plain, named } = Described::of(text);
    let sizes = match (kind, &plain[..], &named[..]) {
        ("lognormal", [mean], [("scv", scv)]) => {
            Sizes::Lognormal { mean: span(mean)?, scv: number(scv)? }
        }
        ("exp", [mean], []) => Sizes::Exponential { mean: span(mean)? },
        ("const", [all], []) => Sizes::Constant(span(all)?),
        ("bimodal", [short, long], [("long", long_share)]) => {
            let (short, long) = (span(short)?, span(long)?);
            Sizes::Bimodal { short, long, long_share: share(long_share)? }
        }
        ("pareto", [mean], [("shape", shape)]) => {
            Sizes::Pareto { mean: span(mean)?, shape: number(shape)? }
        }
        _ => return Err(format!("{text:?} is no size of jobs; write {FORMS}")),
    };
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_that_is_named_can_be_read() {
        for form in FORMS.replace(" or ", ", ").split(", ") {
            assert!(parse(form.trim()).is_ok(), "{form:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let told = |text: &str| parse(text).err().unwrap_or_default();
        assert!(told("exp:soon").starts_with("\"soon\" is no span of time"));
        assert!(told("bimodal:1ms,1s,long=300%").starts_with("\"300%\" is no share"));
        for text in ["", "exp", "exp:1s,scv=2", "lognormal:1s", "normal:1s"] {
            assert!(told(text).starts_with(&format!("{text:?} is no size of jobs")), "{text:?}");
        }
    }
}
