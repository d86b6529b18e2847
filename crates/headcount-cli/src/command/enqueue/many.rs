//! Many jobs from lines, in batches. Every line is submitted or told by its number.

use std::io::{self, Write};

use serde_json::Value;

use super::arguments::Arguments;
use super::lines::{Line, Lines};
use super::submission::{Form, Ids};
use super::{deadline, end_of, print, submit};
use crate::Stop;
use crate::command::crew::say;
use crate::command::reach::{Remote, Unanswered};

/// The most bytes of payloads in one batch, unless one payload alone has more.
const BATCH_BYTES_MAX: usize = 1 << 20;
/// How many lines in a row may be refused before the rest is not tried.
const REFUSED_MAX: u32 = 10;

/// Submits a job for each line.
pub(super) async fn submit_lines(
    arguments: &Arguments,
    remote: &Remote,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let mut many = Many::new(arguments, remote);
    let fed = many.feed(Lines::new(io::stdin().lock()), out).await;
    many.summary();
    fed?;
    if let Some(span) = arguments.wait {
        let until = deadline(span);
        let mut worst = 0;
        for taken in &many.taken {
            worst = worst.max(end_of(arguments, remote, taken, (until, out)).await?);
        }
        if worst != 0 {
            return Err(Stop::Ended(worst));
        }
    }
    if many.bad == 0 { Ok(()) } else { Err(Stop::Told) }
}

struct Many<'a> {
    arguments: &'a Arguments,
    remote: &'a Remote,
    form: Form,
    ids: Ids,
    /// Jobs with the numbers of their lines, not yet submitted.
    batch: Vec<(u64, Value)>,
    batch_bytes: usize,
    /// What those that are waited for count as.
    taken: Vec<Value>,
    submitted: u64,
    existing: u64,
    bad: u64,
    refused_in_a_row: u32,
}

impl<'a> Many<'a> {
    fn new(arguments: &'a Arguments, remote: &'a Remote) -> Self {
        Self {
            arguments,
            remote,
            form: Form::of(arguments),
            ids: Ids::default(),
            batch: Vec::new(),
            batch_bytes: 0,
            taken: Vec::new(),
            submitted: 0,
            existing: 0,
            bad: 0,
            refused_in_a_row: 0,
        }
    }

    async fn feed(
        &mut self,
        mut lines: Lines<impl io::BufRead>,
        out: &mut impl Write,
    ) -> Result<(), Stop> {
        while let Some(Line { number, len, payload }) = lines.next()? {
            let payload = match payload {
                Ok(payload) => payload,
                Err(why) => {
                    self.refuse(number, &why);
                    continue;
                }
            };
            let is_full = self.batch.len() == usize::from(self.arguments.batch);
            if is_full || BATCH_BYTES_MAX < self.batch_bytes + len {
                self.send(out).await?;
            }
            self.batch_bytes += len;
            self.batch.push((number, self.form.filled(self.ids.next(), payload)));
        }
        self.send(out).await
    }

    async fn send(&mut self, out: &mut impl Write) -> Result<(), Stop> {
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if batch.is_empty() {
            return Ok(());
        }
        let jobs = Value::Array(batch.iter().map(|(_, job)| job.clone()).collect());
        match submit(self.arguments, self.remote, &jobs).await {
            Ok(taken) => self.take(taken, out),
            Err(Unanswered::Lost(why)) => Err(broken(batch[0].0, &why)),
            // One of them is refused, and takes the others with it: each for itself, then.
            Err(_) => self.send_each(batch, out).await,
        }
    }

    async fn send_each(
        &mut self,
        batch: Vec<(u64, Value)>,
        out: &mut impl Write,
    ) -> Result<(), Stop> {
        for (number, job) in batch {
            match submit(self.arguments, self.remote, &Value::Array(vec![job])).await {
                Ok(taken) => {
                    self.refused_in_a_row = 0;
                    self.take(taken, out)?;
                }
                Err(Unanswered::Lost(why)) => return Err(broken(number, &why)),
                Err(refused) if self.refused_in_a_row == REFUSED_MAX => {
                    return Err(broken(number, &refused.to_string()));
                }
                Err(refused) => {
                    self.refused_in_a_row += 1;
                    self.refuse(number, &refused.to_string());
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, taken: Vec<Value>, out: &mut impl Write) -> Result<(), Stop> {
        for job in taken {
            self.submitted += 1;
            self.existing += u64::from(job["outcome"] == "existing");
            match self.arguments.wait {
                Some(_) => self.taken.push(job),
                None => print(&job, self.arguments.reach.json, out)?,
            }
        }
        // Whoever reads them sees that they are safe as soon as they are.
        Ok(out.flush()?)
    }

    fn refuse(&mut self, number: u64, why: &str) {
        self.bad += 1;
        say(&format!("line {number} is not submitted: {why}"));
    }

    fn summary(&self) {
        let mut told = vec![format!("{} submitted", self.submitted)];
        if 0 < self.existing {
            told.push(format!("{} of them were there already", self.existing));
        }
        if 0 < self.bad {
            told.push(format!("{} not", self.bad));
        }
        say(&told.join(", "));
    }
}

fn broken(number: u64, why: &str) -> Stop {
    Stop::Failed(format!("from line {number} on nothing is known to be submitted: {why}"))
}
