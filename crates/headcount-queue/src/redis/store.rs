//! The store itself: the port's operations, each a script.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use headcount_core::jobs::port::{
    Backend, Command, Cursor, ExtendAsk, Extended, LeaseAsk, Leased, Listing, NewJob, Page, Reply,
    Settled, Settlement, StoreError, Submitted, Swept, Turned, Which,
};
use headcount_core::jobs::{Holder, JobId, Label, QueueStats, Rules};
use redis::{Cmd, Value};

use super::calls::{Calls, QUEUES, prefix};
use super::check::{self, Warning};
use super::homes::Homes;
use super::options::{ConnectError, RedisOptions};
use super::read;
use super::scripts::{SCRIPTS, Script};
use super::turn::{end, turn};
use super::write::{self, Parcel, Verdict};

/// How many jobs a purge forgets at a time, so that others have their turn in between.
const PURGE_AT_ONCE: u64 = 5000;

/// A store that several machines share: Redis 7.0 or later, or Valkey 9.
///
/// ```
/// use headcount_queue::redis::{ConnectError, RedisOptions, RedisStore};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// // With `redis://127.0.0.1:6379` and a server there, this is a store; `check` then tells what
/// // of its settings could cost jobs.
/// let address = "redis+sentinel://127.0.0.1:26379";
/// match RedisStore::connect(address, RedisOptions::default()).await {
///     Err(ConnectError::Address(why)) => assert!(why.contains("NAME"), "{why}"),
///     other => panic!("the primary has no name: {other:?}"),
/// }
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct RedisStore {
    homes: Homes,
    url: String,
    repair_every: Duration,
}

impl RedisStore {
    /// Connects to the Redis at this address, and refuses one that cannot be used.
    ///
    /// `redis://user:password@host:port/db`; `rediss://` for TLS, with verification;
    /// `redis+sentinel://host:port,host:port/name` for the primary that Sentinels call by that
    /// name; `redis+cluster://host:port,host:port` for a Cluster.
    ///
    /// Calls are driven by the runtime in which they are made, which needs its I/O and time enabled
    /// (`enable_all`), or on a thread of the store's own where there is none.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] says what is wrong with the address or the server.
    pub async fn connect(url: &str, options: RedisOptions) -> Result<Self, ConnectError> {
        let repair_every = options.repair_every;
        let homes = Homes::at(url, options)?;
        let usable = homes.run(|calls| async move { Ok(check::usable(&calls.link).await) }).await;
        usable.map_err(|error| ConnectError::Unreachable(error.to_string()))??;
        Ok(Self { homes, url: without_login(url), repair_every })
    }

    /// What of the server's settings could cost jobs. It works nevertheless.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the server does not answer.
    pub async fn check(&self) -> Result<Vec<Warning>, StoreError> {
        let look =
            |calls: Arc<Calls>| async move { check::warnings(&calls.link, machine_millis).await };
        self.homes.run(look).await
    }

    /// Runs a script for a queue that exists; for one that does not, there is no answer.
    async fn run(
        &self,
        queue: &Label,
        begin: bool,
        script: &'static Script,
        words: impl FnOnce(&mut Cmd),
    ) -> Result<Option<Value>, StoreError> {
        let mut command = self.homes.command(script, queue);
        words(&mut command);
        let queue = queue.clone();
        let run = |calls: Arc<Calls>| async move {
            match calls.open(&queue, begin).await? {
                true => calls.run(script, &command).await.map(Some),
                false => Ok(None),
            }
        };
        self.homes.run(run).await
    }

    async fn list_state(&self, queue: &Label, listing: Listing) -> Result<Page, StoreError> {
        let Listing::In { state, cursor, limit } = listing else { return Ok(Page::default()) };
        let from = cursor.as_ref().map_or(Ok(0), place)?;
        let limit = limit.clamp(1, Listing::LIMIT_MAX);
        let words = |command: &mut Cmd| {
            command.arg("in").arg(state.as_str()).arg(from).arg(limit);
        };
        let Some(answer) = self.run(queue, false, &SCRIPTS.list, words).await? else {
            return Ok(Page::default());
        };
        let (mut page, more) = read::page(answer, queue)?;
        page.next = more.then(|| Cursor::new((from + limit).to_string()));
        Ok(page)
    }

    async fn list_ids(&self, queue: &Label, ids: &[JobId]) -> Result<Page, StoreError> {
        let words = |command: &mut Cmd| {
            command.arg("ids");
            for id in ids {
                command.arg(id.to_string());
            }
        };
        match self.run(queue, false, &SCRIPTS.list, words).await? {
            Some(answer) => read::page(answer, queue).map(|(page, _)| page),
            None => Ok(Page::default()),
        }
    }

    async fn set_rules(&self, queue: &Label, rules: &Rules) -> Result<u64, StoreError> {
        rules.check().map_err(|error| StoreError::Refused(error.to_string()))?;
        let text = serde_json::to_string(rules).expect("rules are plain data");
        let words = |command: &mut Cmd| {
            command.arg("rules").arg(write::rules(rules)).arg(text);
        };
        self.steer_with(queue, true, words).await
    }

    async fn steer_with(
        &self,
        queue: &Label,
        begin: bool,
        words: impl FnOnce(&mut Cmd),
    ) -> Result<u64, StoreError> {
        match self.run(queue, begin, &SCRIPTS.steer, words).await? {
            Some(answer) => read::count(&answer),
            None => Ok(0),
        }
    }

    /// Bit by bit, until nothing is left of what waited.
    async fn purge(&self, queue: &Label) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let words = |command: &mut Cmd| {
                command.arg("purge").arg(PURGE_AT_ONCE);
            };
            let some = self.steer_with(queue, false, words).await?;
            all += some;
            if some < PURGE_AT_ONCE {
                return Ok(all);
            }
        }
    }

    async fn steer_each(&self, queue: &Label, verb: &str, which: Which) -> Result<u64, StoreError> {
        let words = |command: &mut Cmd| {
            command.arg(verb);
            match which {
                Which::Ids(ids) => {
                    command.arg("ids");
                    for id in ids {
                        command.arg(id.to_string());
                    }
                }
                Which::In(state) => {
                    command.arg("in").arg(state.as_str()).arg(Which::AT_ONCE_MAX);
                }
            }
        };
        self.steer_with(queue, false, words).await
    }
}

impl Backend for RedisStore {
    fn enqueue<'a>(&'a self, queue: &'a Label, jobs: Vec<NewJob>) -> Reply<'a, Vec<Submitted>> {
        Box::pin(async move {
            if jobs.is_empty() {
                return Ok(Vec::new());
            }
            let parcels: Vec<Parcel> = jobs.iter().map(Parcel::of).collect();
            let bytes = parcels.iter().map(|parcel| parcel.body.len()).sum();
            let queue = queue.clone();
            let submit = |calls: Arc<Calls>| async move {
                let batcher = Arc::clone(&calls.of(&queue).submits);
                let send = move |load| {
                    let (calls, queue) = (Arc::clone(&calls), queue.clone());
                    async move { calls.submit(&queue, load).await }
                };
                batcher.join(parcels, bytes, send).await
            };
            self.homes.run(submit).await
        })
    }

    fn lease<'a>(&'a self, queue: &'a Label, ask: LeaseAsk) -> Reply<'a, Leased> {
        Box::pin(async move { Ok(self.turn(queue, Vec::new(), ask).await?.leased) })
    }

    fn turn<'a>(
        &'a self,
        queue: &'a Label,
        settlements: Vec<Settlement>,
        ask: LeaseAsk,
    ) -> Reply<'a, Turned> {
        Box::pin(async move {
            let (queue, verdicts) = (queue.clone(), verdicts(ask.holder, settlements));
            let take = |calls: Arc<Calls>| async move { turn(&calls, &queue, verdicts, ask).await };
            self.homes.run(take).await
        })
    }

    fn turns_in_one_step(&self) -> bool {
        true
    }

    fn extend<'a>(&'a self, queue: &'a Label, ask: ExtendAsk) -> Reply<'a, Extended> {
        Box::pin(async move {
            // A span below a millisecond is not the end of a lease.
            let ttl = write::millis(ask.ttl).max(u64::from(!ask.ttl.is_zero()));
            let words = |command: &mut Cmd| {
                command.arg(ask.holder.to_string()).arg(ttl);
                for note in ask.notes {
                    command.arg(&write::note(note)[..]);
                }
            };
            match self.run(queue, false, &SCRIPTS.extend, words).await? {
                Some(answer) => read::extended(answer),
                None => Ok(Extended::default()),
            }
        })
    }

    fn settle<'a>(
        &'a self,
        queue: &'a Label,
        holder: Holder,
        settlements: Vec<Settlement>,
    ) -> Reply<'a, Vec<Settled>> {
        Box::pin(async move {
            let (queue, verdicts) = (queue.clone(), verdicts(holder, settlements));
            let settle = |calls: Arc<Calls>| async move { end(&calls, &queue, verdicts).await };
            self.homes.run(settle).await
        })
    }

    fn sweep<'a>(&'a self, queue: &'a Label, limit: usize) -> Reply<'a, Swept> {
        Box::pin(async move {
            let (queue, every) = (queue.clone(), self.repair_every);
            let sweep = |calls: Arc<Calls>| async move { calls.sweep(&queue, limit, every).await };
            self.homes.run(sweep).await
        })
    }

    fn stats<'a>(&'a self, queue: &'a Label) -> Reply<'a, QueueStats> {
        Box::pin(async move {
            // Asked even of a queue that is not there: the answer tells the store's time.
            let queue = queue.clone();
            let count = |calls: Arc<Calls>| async move {
                calls.open(&queue, false).await?;
                calls.run(&SCRIPTS.stats, &calls.command(&SCRIPTS.stats, &queue)).await
            };
            read::stats(self.homes.run(count).await?)
        })
    }

    fn list<'a>(&'a self, queue: &'a Label, listing: Listing) -> Reply<'a, Page> {
        Box::pin(async move {
            match listing {
                Listing::Ids(ids) => self.list_ids(queue, &ids).await,
                listing @ Listing::In { .. } => self.list_state(queue, listing).await,
            }
        })
    }

    fn steer<'a>(&'a self, queue: &'a Label, command: Command) -> Reply<'a, u64> {
        let word = |word: &'static str| {
            move |command: &mut Cmd| {
                command.arg(word);
            }
        };
        Box::pin(async move {
            match command {
                Command::Pause => self.steer_with(queue, true, word("pause")).await,
                Command::Resume => self.steer_with(queue, true, word("resume")).await,
                Command::Rules(rules) => self.set_rules(queue, &rules).await,
                Command::Purge => self.purge(queue).await,
                Command::Revive(which) => self.steer_each(queue, "revive", which).await,
                Command::Cancel(which) => self.steer_each(queue, "cancel", which).await,
                Command::Delete(which) => self.steer_each(queue, "delete", which).await,
            }
        })
    }

    fn rules<'a>(&'a self, queue: &'a Label) -> Reply<'a, Rules> {
        Box::pin(async move {
            let mut get = redis::cmd("GET");
            get.arg(format!("{}rules", prefix(queue)));
            match self.homes.run(|calls| async move { calls.link.ask(&get).await }).await? {
                Value::Nil => Ok(Rules::default()),
                answer => serde_json::from_str(read::text(&answer)?).map_err(|error| {
                    StoreError::Format(format!("the rules of the queue are none: {error}"))
                }),
            }
        })
    }

    fn queues(&self) -> Reply<'_, Vec<Label>> {
        Box::pin(async move {
            let mut members = redis::cmd("SMEMBERS");
            members.arg(QUEUES);
            let ask = |calls: Arc<Calls>| async move { calls.link.ask(&members).await };
            let names = match self.homes.run(ask).await? {
                Value::Set(names) | Value::Array(names) => names,
                other => return Err(read::strange("the set of queues", &other)),
            };
            let label = |name: &Value| {
                read::text(name)?.parse().map_err(|_| read::strange("the name of a queue", name))
            };
            let mut queues = names.iter().map(label).collect::<Result<Vec<Label>, _>>()?;
            queues.sort_unstable();
            Ok(queues)
        })
    }

    fn wait<'a>(&'a self, queue: &'a Label, most: Duration) -> Reply<'a, ()> {
        Box::pin(async move {
            let queue = queue.clone();
            let wait = |calls: Arc<Calls>| async move {
                let waiters = Arc::clone(&calls.of(&queue).waiters);
                let again_in = match waiters.just_left_nothing() {
                    Some(left) => left.again_in,
                    None => calls.peek(&queue).await?,
                };
                let most = match again_in {
                    Some(wait) if wait.is_zero() => return Ok(()),
                    Some(wait) => wait.min(most),
                    None => most,
                };
                waiters.wait(&calls.link, format!("{}wake", prefix(&queue)), most).await
            };
            self.homes.run(wait).await
        })
    }
}

fn verdicts(holder: Holder, settlements: Vec<Settlement>) -> Vec<Verdict> {
    settlements.into_iter().map(|settlement| Verdict::of(holder, settlement)).collect()
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The address as it may be shown.
fn without_login(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    }
}

fn place(cursor: &Cursor) -> Result<usize, StoreError> {
    cursor.as_str().parse().map_err(|_| {
        StoreError::Refused(format!("{:?} is no place in a list; begin anew", cursor.as_str()))
    })
}

fn machine_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
