//! Jobs that are submitted by the clock.

#[cfg(feature = "jobs")]
use headcount_core::jobs::JobSpec;
use headcount_core::jobs::Label;
#[cfg(feature = "jobs")]
use headcount_queue::{Missed, Schedule, ScheduleError};
use serde_json::Value as Json;

#[cfg(feature = "jobs")]
use super::types::JobQueueConfig;
use super::types::{MissedTicks, ScheduleConfig};
use crate::config::form::Found;
use crate::config::report::Finding;
use crate::config::tree::Node;

pub(super) fn schedules_of(queue: &Node, values: &Json, found: &mut Found) -> Vec<ScheduleConfig> {
    let schedules = values.get("schedules").and_then(Json::as_object);
    let mut all = Vec::new();
    for (name, schedule) in schedules.into_iter().flatten() {
        let node = queue.get("schedules").and_then(|schedules| schedules.get(name));
        let schedule = name.parse().ok().and_then(|name| schedule_of(name, schedule));
        if let (Some(node), Some(schedule)) = (node, schedule) {
            check(node, &schedule, found);
            all.push(schedule);
        }
    }
    all
}

fn schedule_of(name: Label, schedule: &Json) -> Option<ScheduleConfig> {
    let text = |name: &str| schedule.get(name).and_then(Json::as_str).map(str::to_owned);
    Some(ScheduleConfig {
        name,
        cron: text("cron")?,
        timezone: text("timezone").unwrap_or_else(|| "UTC".to_owned()),
        kind: text("kind")?.parse().ok()?,
        payload: schedule.get("payload").unwrap_or(&Json::Null).to_string(),
        missed: match text("missed").as_deref() {
            Some("once") => MissedTicks::Once,
            _ => MissedTicks::Skip,
        },
    })
}

/// What the clock of the queue has to say of it.
#[cfg(feature = "jobs")]
fn check(node: &Node, schedule: &ScheduleConfig, found: &mut Found) {
    let mut fault = |field: &str, advice: String| {
        // Where it is missing or no text, that was told and an example stands in its place.
        if let Some(node) = node.get(field).filter(|node| node.text().is_some()) {
            found.push(Finding::new(&node.at, &node.path, Some(node.shown()), advice));
        }
    };
    let job = JobSpec::new(schedule.kind.clone(), Vec::new());
    let made = Schedule::of_spec(schedule.name.as_str(), &schedule.cron, job);
    match made.map(|made| made.zone(&schedule.timezone)) {
        Ok(Ok(_)) => {}
        Ok(Err(ScheduleError::Zone(_))) => {
            let advice = "there is no such time zone here; use one like Europe/Paris, or UTC";
            fault("timezone", advice.to_owned());
        }
        Ok(Err(error)) => fault("timezone", error.to_string()),
        Err(ScheduleError::Pattern(_, why)) => {
            fault("cron", format!("{why}; minute, hour, day, month and weekday are needed"));
        }
        Err(error) => fault("cron", error.to_string()),
    }
}

/// Nobody knows clocks without the feature `jobs`; the count of fields can be seen all the same.
#[cfg(not(feature = "jobs"))]
fn check(node: &Node, schedule: &ScheduleConfig, found: &mut Found) {
    let Some(cron) = node.get("cron").filter(|cron| cron.text().is_some()) else { return };
    let fields = schedule.cron.split_whitespace().count();
    if fields != 5 && fields != 6 && !schedule.cron.starts_with('@') {
        let advice = "minute, hour, day, month and weekday are needed, such as 0 3 * * *";
        let finding = Finding::new(&cron.at, &cron.path, Some(cron.shown()), advice.to_owned());
        found.push(finding);
    }
}

#[cfg(feature = "jobs")]
impl ScheduleConfig {
    /// The schedule, whose jobs are as the queue's defaults have them.
    ///
    /// ```
    /// use headcount::config::{Config, Registry};
    ///
    /// let text = "queues: {a: {schedules: {nightly: {cron: '0 3 * * *', kind: report}}}}";
    /// let config = Config::parse("jobs.yaml", text, &Registry::new()).expect("no fault");
    /// let queue = &config.jobs.queues[0];
    /// let nightly = queue.schedules[0].schedule(queue).expect("it was checked");
    /// assert_eq!(nightly.name().as_str(), "nightly");
    /// ```
    ///
    /// # Errors
    ///
    /// When this machine does not know its time zone.
    pub fn schedule(&self, queue: &JobQueueConfig) -> Result<Schedule, ScheduleError> {
        let job = queue.job(self.kind.clone(), self.payload.clone().into_bytes());
        let missed = match self.missed {
            MissedTicks::Skip => Missed::Skip,
            MissedTicks::Once => Missed::Once,
        };
        let schedule = Schedule::of_spec(self.name.as_str(), &self.cron, job)?;
        Ok(schedule.zone(&self.timezone)?.missed(missed))
    }
}

#[cfg(all(test, feature = "jobs"))]
mod tests {
    use crate::config::{Config, Registry};

    #[track_caller]
    fn check(schedule: &str, expected: &str) {
        let text = format!("queues: {{a: {{schedules: {{b: {{kind: c, {schedule}}}}}}}}}");
        let report = Config::parse("a.yaml", &text, &Registry::new()).expect_err("a fault");
        let told = report.to_string();
        assert!(told.starts_with(expected) && !told.contains('\n'), "{told}");
    }

    #[test]
    fn a_time_that_never_comes_is_told() {
        let cron = "a.yaml:1:45: queues.a.schedules.b.cron is ";
        check("cron: '0 25 * * *'", &format!("{cron}\"0 25 * * *\"; "));
        check("cron: noon", &format!("{cron}\"noon\"; "));
    }

    #[test]
    fn a_place_without_a_clock_is_told() {
        let zone = "a.yaml:1:68: queues.a.schedules.b.timezone is \"Mars/Olympus\"";
        let advice = "there is no such time zone here; use one like Europe/Paris, or UTC";
        check("cron: '0 3 * * *', timezone: Mars/Olympus", &format!("{zone}; {advice}"));
    }
}
