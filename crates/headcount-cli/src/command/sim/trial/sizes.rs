//! How long jobs take, as it is described on the command line.

use headcount_sim::load::Sizes;

use super::described::Described;
use super::numbers::{number, share};
use crate::command::duration::parse as span;

const FORMS: &str = "lognormal:100ms,scv=2, exp:100ms, const:100ms, bimodal:1ms,30s,long=3%, \
    pareto:100ms,shape=2.5 or classes:3=exp:10ms+1=const:2s";

pub(super) fn parse(text: &str) -> Result<Sizes, String> {
    if let Some(classes) = text.strip_prefix("classes:") {
        let classes = classes.split('+').map(|class| weighed(class, text));
        return Ok(Sizes::Classes(classes.collect::<Result<_, String>>()?));
    }
    let Described { kind, plain, named } = Described::of(text);
    let sizes = match (kind, &plain[..], &named[..]) {
        ("lognormal", [mean], [("scv", scv)]) => {
            Sizes::Lognormal { mean: span(mean)?, scv: number(scv)? }
        }
        ("exp", [mean], []) => Sizes::Exponential { mean: span(mean)? },
        ("const", [all], []) => Sizes::Constant(span(all)?),
        ("bimodal", [short, long], [("long", long_share)]) => {
            let (short, long) = (span(short)?, span(long)?);
            if long < short {
                return Err(format!(
                    "{text:?} has long jobs ({long:?}) that are shorter than the short ones \
                     ({short:?}); write the short ones first"
                ));
            }
            Sizes::Bimodal { short, long, long_share: share(long_share)? }
        }
        ("pareto", [mean], [("shape", shape)]) => {
            Sizes::Pareto { mean: span(mean)?, shape: number(shape)? }
        }
        _ => return Err(refused(text)),
    };
    Ok(sizes)
}

/// One of several classes: its weight, and its sizes.
fn weighed(class: &str, text: &str) -> Result<(f64, Sizes), String> {
    let Some((weight, sizes)) = class.split_once('=') else { return Err(refused(text)) };
    match parse(sizes)? {
        Sizes::Classes(_) => Err(refused(text)),
        sizes => match number(weight)? {
            heavy if 0.0 < heavy => Ok((heavy, sizes)),
            _ => Err(format!(
                "the weight of {class:?} is {weight}, so that no job is of this class; make it \
                 larger, or leave the class out"
            )),
        },
    }
}

fn refused(text: &str) -> String {
    format!("{text:?} is no size of jobs; write {FORMS}")
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
    fn classes_have_weights() {
        let second = |n| std::time::Duration::from_secs(n);
        let (exp, long) = (Sizes::Exponential { mean: second(1) }, second(9));
        let bimodal = Sizes::Bimodal { short: second(1), long, long_share: 0.5 };
        let expected = Sizes::Classes(vec![(3.0, exp), (0.5, bimodal)]);
        assert_eq!(parse("classes:3=exp:1s+0.5=bimodal:1s,9s,long=50%"), Ok(expected));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let told = |text: &str| parse(text).err().unwrap_or_default();
        assert!(told("exp:soon").starts_with("\"soon\" is no span of time"));
        assert!(told("bimodal:1ms,1s,long=300%").starts_with("\"300%\" is no share"));
        assert!(told("classes:x=exp:1s").starts_with("\"x\" is no number"));
        assert!(told("classes:1=exp").starts_with("\"exp\" is no size of jobs"));
        let weightless = "the weight of \"0=exp:1s\" is 0, so that no job is of this class";
        assert!(told("classes:0=exp:1s").starts_with(weightless));
        assert!(told("classes:1=exp:2s+0=exp:1s").starts_with(weightless));
        let crossed = "has long jobs (1ms) that are shorter than the short ones (30s)";
        assert!(told("bimodal:30s,1ms,long=3%").contains(crossed));
        let nested = "classes:1=classes:1=exp:1s";
        for text in ["", "classes:", nested, "exp", "exp:1s,scv=2", "lognormal:1s", "normal:1s"] {
            assert!(told(text).starts_with(&format!("{text:?} is no size of jobs")), "{text:?}");
        }
    }
}
