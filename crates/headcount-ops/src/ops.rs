//! What the user holds: the admin API at work.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use headcount_core::jobs::port::Backend;
use headcount_core::jobs::{JobSpec, Label};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::app::App;
use crate::metrics::{Aliases, Machine, Observer};
use crate::pools::Pools;
use crate::routes::router;
use crate::server::{Desk, Hosts, Limits, accept};
use crate::throttling::Settings;

/// The admin API, the health endpoints and the metrics, being served.
///
/// It runs on the tokio runtime on which it was started. Dropped, it ends at once; to end it in
/// good order, see [`Ops::stop`].
///
/// ```
/// use headcount_core::jobs::port::Backend;
/// use headcount_ops::{Ops, Pools, StartError};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// async fn serve(store: Arc<dyn Backend>, pools: Arc<dyn Pools>) -> Result<(), StartError> {
///     let address = "127.0.0.1:7878".parse().expect("an address");
///     let ops = Ops::builder().store(store).pools(pools).bind(address).await?;
///     println!("http://{}/api/v1/queues", ops.local_addr());
///     ops.stop(Duration::from_secs(5)).await;
///     Ok(())
/// }
/// ```
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Ops {
    address: SocketAddr,
    app: Arc<App>,
    /// Says within which time the last connection has to be gone.
    ending: watch::Sender<Option<Duration>>,
    accepting: JoinHandle<()>,
}

impl Ops {
    /// What is to be served, to be told.
    pub fn builder() -> OpsBuilder<(), ()> {
        OpsBuilder {
            store: (),
            store_name: None,
            pools: (),
            observer: Arc::default(),
            aliases: None,
            hosts: Vec::new(),
            limits: Limits::default(),
            settings: None,
            jobs: BTreeMap::new(),
        }
    }

    /// Where it is served.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Who gathers how long jobs wait and run.
    #[must_use]
    pub fn observer(&self) -> Arc<Observer> {
        Arc::clone(&self.app.observer)
    }

    /// Says at `/ready` from now on that this process should get no more work, and why. All else
    /// goes on.
    pub fn unready(&self, why: impl Into<String>) {
        *self.app.unready.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.into());
    }

    /// Takes no more requests, finishes those that are being answered, and returns when all
    /// connections are gone, or after `grace`.
    pub async fn stop(mut self, grace: Duration) {
        self.ending.send_replace(Some(grace));
        // It ends by itself; that it was cancelled or panicked changes nothing any more.
        drop((&mut self.accepting).await);
    }
}

impl Drop for Ops {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// What is to be served: a store and pools, both of which must be told.
///
/// ```
/// use headcount_ops::{Limits, Ops};
///
/// let limits = Limits { requests_max: 8, ..Limits::default() };
/// let builder = Ops::builder().host_allow(["ops.internal"]).limits(limits);
/// ```
#[derive(Debug)]
#[must_use = "a builder serves nothing until it is bound"]
pub struct OpsBuilder<S, P> {
    store: S,
    store_name: Option<String>,
    pools: P,
    observer: Arc<Observer>,
    aliases: Option<Aliases>,
    hosts: Vec<String>,
    limits: Limits,
    settings: Option<PathBuf>,
    /// What jobs of a queue are like where their submitters do not say.
    jobs: BTreeMap<Label, JobSpec>,
}

impl<S, P> OpsBuilder<S, P> {
    /// Where jobs are.
    pub fn store(self, store: Arc<dyn Backend>) -> OpsBuilder<Arc<dyn Backend>, P> {
        let Self { store: _, store_name, pools, observer, aliases, hosts, limits, settings, jobs } =
            self;
        OpsBuilder { store, store_name, pools, observer, aliases, hosts, limits, settings, jobs }
    }

    /// What the store is called at `/healthz`, so that whoever looks for a server of it knows
    /// whether this is one. Everybody who asks is told, so no password may be in it. Not told by
    /// default.
    pub fn store_name(self, name: impl Into<String>) -> Self {
        Self { store_name: Some(name.into()), ..self }
    }

    /// The pools of this process.
    pub fn pools(self, pools: Arc<dyn Pools>) -> OpsBuilder<S, Arc<dyn Pools>> {
        let Self { store, store_name, pools: _, observer, aliases, hosts, limits, settings, jobs } =
            self;
        OpsBuilder { store, store_name, pools, observer, aliases, hosts, limits, settings, jobs }
    }

    /// Who is told how long jobs wait and run. One of its own by default.
    pub fn observer(self, observer: Arc<Observer>) -> Self {
        Self { observer, ..self }
    }

    /// Exposes the names of the `syshealth` document at `/metrics` as well, and asks `machine` for
    /// what they tell of the machine. Not exposed by default.
    pub fn aliases(self, machine: impl Fn() -> Machine + Send + Sync + 'static) -> Self {
        Self { aliases: Some(Aliases { machine: Arc::new(machine) }), ..self }
    }

    /// Names by which it is asked, beside those of the loopback: without a port.
    pub fn host_allow<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.hosts.extend(names.into_iter().map(Into::into));
        self
    }

    /// How much of everything there may be.
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// What jobs are like that are submitted to this queue without a word on it: their tries, how
    /// many crashes put them aside, how long they may run and are kept. The rest of `job` does not
    /// count.
    pub fn usual(mut self, queue: Label, job: JobSpec) -> Self {
        self.jobs.insert(queue, job);
        self
    }

    /// The file in which the settings of health throttling are kept. Without one they are
    /// forgotten when the process ends.
    pub fn settings_file(self, path: impl Into<PathBuf>) -> Self {
        Self { settings: Some(path.into()), ..self }
    }
}

impl OpsBuilder<Arc<dyn Backend>, Arc<dyn Pools>> {
    /// Serves at this address, which must be of the loopback; port 0 means any that is free.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what is in the way.
    pub async fn bind(self, address: SocketAddr) -> Result<Ops, StartError> {
        if !address.ip().to_canonical().is_loopback() {
            return Err(StartError::OffLoopback(address));
        }
        let settings = Settings::open(self.settings).map_err(StartError::Settings)?;
        let bind = async {
            let listener = TcpListener::bind(address).await?;
            Ok((listener.local_addr()?, listener))
        };
        let (address, listener) = bind.await.map_err(|why| StartError::Bind(address, why))?;
        let app = Arc::new(App {
            store: self.store,
            store_name: self.store_name,
            pools: self.pools,
            observer: self.observer,
            aliases: self.aliases,
            settings,
            limits: self.limits,
            usual: self.jobs,
            unready: Mutex::default(),
            answered: Default::default(),
        });
        let (settings, pools) = (app.settings.clone(), Arc::clone(&app.pools));
        let apply = tokio::task::spawn_blocking(move || settings.apply_all(pools.as_ref()));
        let applied = apply.await.map_err(|error| StartError::Settings(error.to_string()))?;
        let refused = applied.into_iter().find_map(|(pool, why)| Some((pool, why?)));
        if let Some((pool, why)) = refused {
            let sentence =
                format!("pool {pool:?} cannot live by the settings that are kept: {why}");
            return Err(StartError::Settings(sentence));
        }
        let desk = Desk {
            router: router(Arc::clone(&app)),
            hosts: Hosts::with(self.hosts),
            room: Arc::new(Semaphore::new(self.limits.requests_max)),
            app: Arc::clone(&app),
        };
        let (ending, ended) = watch::channel(None);
        let accepting = tokio::spawn(accept(listener, desk, ended));
        Ok(Ops { address, app, ending, accepting })
    }
}

/// Why the admin API is not served.
///
/// ```
/// use headcount_ops::StartError;
///
/// let error = StartError::OffLoopback("0.0.0.0:7878".parse().expect("an address"));
/// assert!(error.to_string().contains("127.0.0.1"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The address can be reached from other machines.
    OffLoopback(SocketAddr),
    /// Nothing can listen at the address.
    Bind(SocketAddr, io::Error),
    /// The settings that were kept cannot be used; the text says why.
    Settings(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OffLoopback(address) => write!(
                f,
                "the admin API is not served at {address}, which other machines can reach, since \
                 it has neither authentication nor TLS yet; use 127.0.0.1 or [::1], and a tunnel \
                 from elsewhere",
            ),
            Self::Bind(address, why) => write!(f, "nothing can listen at {address}: {why}"),
            Self::Settings(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind(_, why) => Some(why),
            Self::OffLoopback(_) | Self::Settings(_) => None,
        }
    }
}
