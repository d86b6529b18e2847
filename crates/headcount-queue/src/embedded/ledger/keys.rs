//! Jobs that share a key: how many run, and the line of those set aside.

use std::collections::{BTreeMap, HashMap};

use headcount_core::jobs::Key;

use super::slab::Slab;

/// All keys of a queue that some job names.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    all: Slab<Line>,
    numbers: HashMap<Key, u32>,
    /// All that are set aside, by when they were.
    aside: BTreeMap<i64, u32>,
    /// The keys for which there is a line, by name.
    lines: BTreeMap<Key, u32>,
    next: i64,
}

#[derive(Debug)]
struct Line {
    key: Key,
    members: usize,
    running: u32,
    jobs: BTreeMap<i64, u32>,
}

impl Keys {
    /// The number of a key, for one more job.
    pub(crate) fn join(&mut self, key: &Key) -> u32 {
        let number = match self.numbers.get(key) {
            Some(number) => *number,
            None => {
                let key = key.clone();
                let line = Line { key: key.clone(), members: 0, running: 0, jobs: BTreeMap::new() };
                let number = self.all.insert(line);
                self.numbers.insert(key, number);
                number
            }
        };
        self.all[number].members += 1;
        number
    }

    /// A job with this key is forgotten.
    pub(crate) fn part(&mut self, number: u32) {
        self.all[number].members -= 1;
        if self.all[number].members == 0 {
            let line = self.all.remove(number);
            self.numbers.remove(&line.key);
        }
    }

    pub(crate) fn started(&mut self, number: u32) {
        self.all[number].running += 1;
    }

    pub(crate) fn stopped(&mut self, number: u32) {
        let running = &mut self.all[number].running;
        *running = running.saturating_sub(1);
    }

    pub(crate) fn running(&self, number: u32) -> u32 {
        self.all[number].running
    }

    /// Sets a job aside, and says where it stands in its line.
    pub(crate) fn set_aside(&mut self, number: u32, job: u32) -> i64 {
        let place = self.next;
        self.next += 1;
        let line = &mut self.all[number];
        if line.jobs.is_empty() {
            self.lines.insert(line.key.clone(), number);
        }
        line.jobs.insert(place, job);
        self.aside.insert(place, job);
        place
    }

    /// Takes a job out of its line.
    pub(crate) fn remove(&mut self, number: u32, place: i64) {
        let line = &mut self.all[number];
        line.jobs.remove(&place);
        if line.jobs.is_empty() {
            self.lines.remove(&line.key);
        }
        self.aside.remove(&place);
    }

    /// The first of a line.
    pub(crate) fn first(&self, number: u32) -> Option<u32> {
        self.all[number].jobs.first_key_value().map(|(_, job)| *job)
    }

    /// The keys for which jobs are set aside, by name.
    pub(crate) fn with_lines(&self) -> Vec<u32> {
        self.lines.values().copied().collect()
    }

    /// How many of a line were set aside.
    pub(crate) fn line_len(&self, number: u32) -> usize {
        self.all[number].jobs.len()
    }

    /// The key of a number.
    pub(crate) fn name(&self, number: u32) -> &Key {
        &self.all[number].key
    }

    /// All that are set aside, by key, from after this place of a line on.
    pub(crate) fn after(&self, last: Option<(Key, i64)>) -> impl Iterator<Item = u32> + '_ {
        let from = match &last {
            Some((key, _)) => self.lines.range(key..),
            None => self.lines.range::<Key, _>(..),
        };
        from.flat_map(move |(key, number)| {
            let place = match &last {
                Some((last, place)) if last == key => place.saturating_add(1),
                _ => i64::MIN,
            };
            self.all[*number].jobs.range(place..).map(|(_, job)| *job)
        })
    }

    /// Whether this job stands there.
    pub(crate) fn has(&self, place: i64, job: u32) -> bool {
        self.aside.get(&place) == Some(&job)
    }
}
