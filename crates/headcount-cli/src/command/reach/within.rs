//! The API within this process, for a store that no server has open.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use headcount::ops::{Ops, ScalerPools, StartError};

use super::Place;
use super::opened::Opened;

/// Serves the store to this process for as long as the result is kept, on a port of its own.
pub(super) async fn serve(opened: Opened, place: &Place) -> Result<Ops, StartError> {
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let no_pools = Arc::new(ScalerPools::new());
    let mut builder = Ops::builder().store(opened.store).pools(no_pools);
    if let Some(name) = place.name() {
        builder = builder.store_name(name);
    }
    builder.bind(anywhere).await
}
