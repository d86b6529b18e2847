//! The API within this process, for a store that no server has open.
//!
//! Jobs that are submitted here are as the file has them, like those that a server is given.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use headcount::config::JobsConfig;
use headcount::ops::{Ops, ScalerPools, StartError};

use super::Place;
use super::opened::Opened;

/// Serves the store to this process for as long as the result is kept, on a port of its own.
pub(super) async fn serve(
    opened: Opened,
    place: &Place,
    file: &JobsConfig,
) -> Result<Ops, StartError> {
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let no_pools = Arc::new(ScalerPools::new());
    let mut builder = Ops::builder().store(opened.store).pools(no_pools);
    for queue in &file.queues {
        builder = builder.usual(queue.name.clone(), queue.job(queue.name.clone(), Vec::new()));
    }
    if let Some(name) = place.name() {
        builder = builder.store_name(name);
    }
    builder.bind(anywhere).await
}
