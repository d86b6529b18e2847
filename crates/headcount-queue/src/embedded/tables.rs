//! The tables of the database, and how a checkpoint is written to them.

use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, TableError,
    WriteTransaction,
};

use headcount_core::jobs::JobId;

use super::effect::{JobKey, Numbers};
use super::overlay::{Delta, Overlay, QueueDelta};
use super::row::{Extra, Row};

/// The format that is written, and the newest that can be read.
pub(crate) const FORMAT: u64 = 1;

type Job = (u32, u128);

/// The row and the spec of each job, as they were at a checkpoint.
pub(crate) const JOBS: TableDefinition<'_, Job, &[u8]> = TableDefinition::new("jobs");
/// The row of each job that changed after that: small, so that a payload is written once.
pub(crate) const ROWS: TableDefinition<'_, Job, &[u8]> = TableDefinition::new("rows");
/// Checkpoints, results and errors.
pub(crate) const EXTRAS: TableDefinition<'_, (u32, u128, u8), &[u8]> =
    TableDefinition::new("extras");
/// Unique keys whose claim outlives their jobs.
pub(crate) const UNIQUES: TableDefinition<'_, (u32, &str), &[u8]> = TableDefinition::new("uniques");
/// Names of queues by number.
pub(crate) const QUEUES: TableDefinition<'_, u32, &str> = TableDefinition::new("queues");
/// Rules of queues, as JSON.
pub(crate) const RULES: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("rules");
/// What queues count.
pub(crate) const NUMBERS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("numbers");
/// The format, and the newest segment of the journal.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// Writes all changes in one transaction, which is on disk when this returns.
///
/// It also says which segment of the journal is the newest: no number is used twice, so that what
/// a file held in an earlier use never counts.
pub(crate) fn checkpoint(
    database: &Database,
    overlay: &Overlay,
    segment: u64,
) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    let mut meta = transaction.open_table(META)?;
    meta.insert("format", FORMAT)?;
    meta.insert("segment", segment)?;
    drop(meta);
    write_jobs(&transaction, overlay)?;
    let mut uniques = transaction.open_table(UNIQUES)?;
    for ((queue, key), claim) in &overlay.uniques {
        let key = (*queue, key.as_ref());
        match claim {
            Some(claim) => _ = uniques.insert(key, &claim.to_bytes()[..])?,
            None => _ = uniques.remove(key)?,
        }
    }
    drop(uniques);
    for (number, delta) in &overlay.queues {
        write_queue(&transaction, *number, delta)?;
    }
    transaction.commit()?;
    Ok(())
}

fn write_jobs(transaction: &WriteTransaction, overlay: &Overlay) -> Result<(), redb::Error> {
    let mut jobs = transaction.open_table(JOBS)?;
    let mut rows = transaction.open_table(ROWS)?;
    let mut extras = transaction.open_table(EXTRAS)?;
    // In the order of the table, which makes pages of neighbours and the same file every time.
    let mut deltas: Vec<(&JobKey, &Delta)> = overlay.jobs.iter().collect();
    deltas.sort_unstable_by_key(|(job, _)| **job);
    let mut bytes = Vec::new();
    for ((queue, id), delta) in deltas {
        let key = (*queue, id.as_u128());
        if delta.wiped {
            jobs.remove(key)?;
            rows.remove(key)?;
            for extra in Extra::ALL {
                extras.remove((key.0, key.1, extra as u8))?;
            }
        }
        if let Some((row, spec)) = &delta.new {
            bytes.clear();
            row.write(&mut bytes);
            bytes.extend_from_slice(spec);
            jobs.insert(key, &bytes[..])?;
        }
        if let Some(row) = &delta.row {
            bytes.clear();
            row.write(&mut bytes);
            rows.insert(key, &bytes[..])?;
        }
        for (extra, value) in &delta.extras {
            let key = (key.0, key.1, *extra as u8);
            match value {
                Some(value) => _ = extras.insert(key, &value[..])?,
                None => _ = extras.remove(key)?,
            }
        }
    }
    Ok(())
}

fn write_queue(
    transaction: &WriteTransaction,
    number: u32,
    delta: &QueueDelta,
) -> Result<(), redb::Error> {
    if let Some(name) = &delta.name {
        transaction.open_table(QUEUES)?.insert(number, name.as_ref())?;
    }
    if let Some(rules) = &delta.rules {
        transaction.open_table(RULES)?.insert(number, &rules[..])?;
    }
    if let Some(numbers) = &delta.numbers {
        transaction.open_table(NUMBERS)?.insert(number, &numbers.to_bytes()[..])?;
    }
    Ok(())
}

/// The spec of a job, from below the overlays.
pub(crate) fn spec(database: &Database, job: JobKey) -> Result<Option<Vec<u8>>, redb::Error> {
    let transaction = database.begin_read()?;
    let Some(jobs) = present(transaction.open_table(JOBS))? else { return Ok(None) };
    let found = jobs.get((job.0, job.1.as_u128()))?;
    let spec = found.map(|value| value.value().get(super::row::ROW_LEN..).map(<[u8]>::to_vec));
    Ok(spec.flatten())
}

/// What is stored apart of a job, from below the overlays.
pub(crate) fn extra(
    database: &Database,
    job: JobKey,
    extra: Extra,
) -> Result<Option<Vec<u8>>, redb::Error> {
    let transaction = database.begin_read()?;
    let Some(extras) = present(transaction.open_table(EXTRAS))? else { return Ok(None) };
    let found = extras.get((job.0, job.1.as_u128(), extra as u8))?;
    Ok(found.map(|value| value.value().to_vec()))
}

/// A table that nothing was written to is none.
fn present<T>(table: Result<T, TableError>) -> Result<Option<T>, redb::Error> {
    match table {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The format of what is stored, none where nothing is, and the newest segment.
pub(crate) fn format(transaction: &ReadTransaction) -> Result<(Option<u64>, u64), redb::Error> {
    let Some(meta) = present(transaction.open_table(META))? else { return Ok((None, 0)) };
    let format = meta.get("format")?.map(|value| value.value());
    let segment = meta.get("segment")?.map_or(0, |value| value.value());
    Ok((format, segment))
}

/// A queue as it is stored: number, name, rules, numbers.
pub(crate) type StoredQueue = (u32, String, Option<Vec<u8>>, Option<Numbers>);

/// All queues, by number.
pub(crate) fn queues(transaction: &ReadTransaction) -> Result<Vec<StoredQueue>, ReadError> {
    let Some(names) = present(transaction.open_table(QUEUES))? else { return Ok(Vec::new()) };
    let rules = present(transaction.open_table(RULES))?;
    let numbers = present(transaction.open_table(NUMBERS))?;
    let mut queues = Vec::new();
    for stored in names.iter()? {
        let (number, name) = stored?;
        let number = number.value();
        let rules = match &rules {
            Some(rules) => rules.get(number)?.map(|value| value.value().to_vec()),
            None => None,
        };
        let numbers = match &numbers {
            Some(numbers) => numbers.get(number)?,
            None => None,
        };
        let numbers = numbers.map(|value| Numbers::from_bytes(value.value())).transpose();
        let numbers = numbers.map_err(ReadError::Format)?;
        queues.push((number, name.value().to_owned(), rules, numbers));
    }
    Ok(queues)
}

/// Calls for each unique key that is stored: queue, key, claim.
pub(crate) fn each_unique(
    transaction: &ReadTransaction,
    mut each: impl FnMut(u32, &str, &[u8]) -> Result<(), String>,
) -> Result<(), ReadError> {
    let Some(uniques) = present(transaction.open_table(UNIQUES))? else { return Ok(()) };
    for stored in uniques.iter()? {
        let (key, claim) = stored?;
        let (queue, key) = key.value();
        each(queue, key, claim.value()).map_err(ReadError::Format)?;
    }
    Ok(())
}

/// Calls for each job that is stored, with its newest row if that can be read, and its spec.
pub(crate) fn each_job(
    transaction: &ReadTransaction,
    mut each: impl FnMut(JobKey, Result<Row, String>, &[u8]) -> Result<(), String>,
) -> Result<(), ReadError> {
    let Some(jobs) = present(transaction.open_table(JOBS))? else { return Ok(()) };
    let rows = present(transaction.open_table(ROWS))?;
    let mut rows = rows.as_ref().map(ReadableTable::iter).transpose()?.into_iter().flatten();
    let mut next = rows.next().transpose()?;
    for stored in jobs.iter()? {
        let (key, value) = stored?;
        let (queue, id) = key.value();
        // Both are in one order, so a glance at the next row tells whether it is this job's.
        while next.as_ref().is_some_and(|(other, _)| other.value() < (queue, id)) {
            next = rows.next().transpose()?;
        }
        let newer = next.as_ref().filter(|(other, _)| other.value() == (queue, id));
        let value = value.value();
        let row = match newer {
            Some((_, row)) => Row::read(row.value()),
            None => Row::read(value),
        };
        let spec = value.get(super::row::ROW_LEN..).unwrap_or_default();
        each((queue, JobId::from_u128(id)), row, spec).map_err(ReadError::Format)?;
    }
    Ok(())
}

/// Why what is stored could not be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The database says so.
    Database(redb::Error),
    /// It holds what this version does not know.
    Format(String),
}

impl<E: Into<redb::Error>> From<E> for ReadError {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}
