//! One of several pools, as it is written: `name=thumb,service=20ms,scv=1,workers=8,calls=1.5`.

use headcount_sim::maths::Service;
use headcount_sim::plan::Stage;

use super::number;
use crate::command::duration;

/// A longer name would break the table.
const NAME_LEN_MAX: usize = 40;

const FORM: &str = "write name=thumb,service=20ms,scv=1,workers=8,calls=1.5";

/// What was written of a stage.
#[derive(Debug, Default)]
struct Written<'a> {
    name: Option<&'a str>,
    service: Option<f64>,
    scv: Option<f64>,
    workers: Option<u32>,
    calls: Option<f64>,
}

pub(super) fn parse(text: &str) -> Result<Stage, String> {
    let mut written = Written::default();
    for part in text.split(',') {
        let (key, value) =
            part.split_once('=').ok_or_else(|| format!("{part:?} has no value; {FORM}"))?;
        written.take(key.trim(), value.trim())?;
    }
    let name = written.name.ok_or_else(|| format!("the stage {text:?} has no name; {FORM}"))?;
    let mean = written.service.ok_or_else(|| format!("stage {name} has no service; {FORM}"))?;
    let service = Service::new(mean, written.scv.unwrap_or(1.0));
    let service = service.map_err(|bad| format!("stage {name}: {bad}"))?;
    Ok(Stage {
        workers: written.workers,
        calls: written.calls.unwrap_or(1.0),
        ..Stage::new(name, service)
    })
}

impl<'a> Written<'a> {
    fn take(&mut self, key: &str, value: &'a str) -> Result<(), String> {
        match key {
            "name" if value.is_empty() || NAME_LEN_MAX < value.chars().count() => {
                Err(format!("the name {value:?} has not 1 to {NAME_LEN_MAX} letters"))
            }
            "name" => put(&mut self.name, key, value),
            "service" => put(&mut self.service, key, duration::parse(value)?.as_secs_f64()),
            "scv" => put(&mut self.scv, key, number::plain(value)?),
            "calls" => put(&mut self.calls, key, number::plain(value)?),
            "workers" => {
                let workers = value.parse().ok().filter(|workers| 0 < *workers);
                let wrong = || format!("workers={value} is no number of workers; write workers=8");
                put(&mut self.workers, key, workers.ok_or_else(wrong)?)
            }
            _ => Err(format!("{key:?} is no part of a stage; {FORM}")),
        }
    }
}

fn put<T>(place: &mut Option<T>, key: &str, value: T) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{key} is given twice; give it once")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let told = match parse(text) {
            Ok(Stage { name, service, calls, workers }) => {
                format!("{name} {} {} {calls} {workers:?}", service.mean(), service.scv())
            }
            Err(why) => why.split(';').next().unwrap_or_default().to_owned(),
        };
        assert_eq!(told, expected, "{text:?}");
    }

    #[test]
    fn stages_are_read_with_what_is_known_of_them() {
        check("name=a,service=20ms", "a 0.02 1 1 None");
        check("calls=1.5, workers=8, scv=0.5, service=1s, name=b c", "b c 1 0.5 1.5 Some(8)");
    }

    #[test]
    fn what_is_wrong_is_said() {
        check("", "\"\" has no value");
        check("service=20ms", "the stage \"service=20ms\" has no name");
        check("name=a", "stage a has no service");
        check("name=a,service=0", "stage a: the mean of the service time is 0");
        check("name=a,service=soon", "\"soon\" is no span of time");
        check("name=a,service=1s,speed=3", "\"speed\" is no part of a stage");
        check("name=a,name=b,service=1s", "name is given twice");
        check("name=a,service=1s,workers=0", "workers=0 is no number of workers");
        check("name=,service=1s", "the name \"\" has not 1 to 40 letters");
    }
}
