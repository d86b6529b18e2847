//! The flags of `headcount serve`.

use std::net::SocketAddr;

use crate::command::crew::CrewArguments;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "The first SIGTERM, Ctrl-C or SIGHUP lets running jobs finish within \
    --grace, the second stops at once; either way what has not ended is given back to the store. \
    docs/serve.md has examples.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) crew: CrewArguments,
    /// Where the API, /metrics, /healthz and /ready listen; port 0 takes any that is free.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7878")]
    #[arg(conflicts_with = "no_api")]
    pub(super) listen: SocketAddr,
    /// Exposes the metric names of the syshealth document as well; docs/metrics.md lists them.
    #[arg(long, conflicts_with = "no_api")]
    pub(super) syshealth_metrics: bool,
    /// Listens nowhere.
    #[arg(long)]
    pub(super) no_api: bool,
}
