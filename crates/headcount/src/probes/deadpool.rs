//! The pools of the crate `deadpool`, and so of everything that is built on it.

use deadpool::Status;
use deadpool::managed::{Manager, Object, Pool};

use super::db_pool::DbPool;

impl<M, W> DbPool for Pool<M, W>
where
    M: Manager,
    W: From<Object<M>>,
    Self: Send + Sync,
{
    fn use_share(&self) -> Option<f64> {
        share(self.status())
    }
}

/// Whoever waits wants a connection too, so that a pool with a line before it is full.
fn share(status: Status) -> Option<f64> {
    let wanted = status.size.saturating_sub(status.available).saturating_add(status.waiting);
    let most = (0 < status.max_size).then_some(status.max_size)?;
    Some((wanted as f64 / most as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use deadpool::managed::{Metrics, RecycleResult};

    use super::*;

    /// Of 10 connections, so many are open, not in use, and wanted in vain.
    fn check(size: usize, available: usize, waiting: usize, expected: f64) {
        assert_eq!(share(Status { max_size: 10, size, available, waiting }), Some(expected));
    }

    #[test]
    fn connections_in_use_count_and_open_ones_do_not() {
        check(0, 0, 0, 0.0);
        check(8, 8, 0, 0.0);
        check(8, 3, 0, 0.5);
        check(10, 0, 0, 1.0);
        check(10, 0, 40, 1.0);
    }

    #[test]
    fn a_pool_of_nothing_has_no_share() {
        assert_eq!(share(Status { max_size: 0, size: 0, available: 0, waiting: 3 }), None);
    }

    struct Dialer;

    impl Manager for Dialer {
        type Type = u8;
        type Error = ();

        async fn create(&self) -> Result<u8, ()> {
            Ok(0)
        }

        async fn recycle(&self, _: &mut u8, _: &Metrics) -> RecycleResult<()> {
            Ok(())
        }
    }

    #[test]
    fn a_real_pool_can_be_asked() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let pool: Pool<Dialer> = Pool::builder(Dialer).max_size(4).build().unwrap();
        assert_eq!(pool.use_share(), Some(0.0));
        let held = runtime.block_on(pool.get()).unwrap();
        assert_eq!(pool.use_share(), Some(0.25));
        drop(held);
        assert_eq!(pool.use_share(), Some(0.0));
    }
}
