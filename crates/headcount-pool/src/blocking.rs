//! Sections in which a task waits for something else than the processor.

use std::sync::Arc;

use crate::task::{BlocksOn, Workplace, workplace};

/// Runs `section`, in which the task blocks: on a lock, a file, another service.
///
/// A worker that blocks uses no processor, so the pool may let another work in its place: the
/// first few at once, then ever more slowly, and no more at a time than the pool was built for. On
/// a thread that is no worker of a pool it just runs `section`.
///
/// ```
/// use headcount_pool::{ThreadPool, blocking};
/// use std::sync::mpsc;
///
/// let pool = ThreadPool::builder().workers(1).compensate_max(1).build()?;
/// let (send, receive) = mpsc::channel();
/// // The only worker waits for what only another task of the same pool will send.
/// let waits = pool.submit(move || blocking(|| receive.recv()))?;
/// pool.spawn(move || send.send("hello").expect("somebody waits"))?;
/// assert_eq!(waits.join()?, Ok("hello"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn blocking<R>(section: impl FnOnce() -> R) -> R {
    blocking_on(|_| BlocksOn::Outside, section)
}

/// The same, where it is known what the task blocks on, given the pool that it runs in.
pub(crate) fn blocking_on<R>(on: impl FnOnce(usize) -> BlocksOn, section: impl FnOnce() -> R) -> R {
    /// Ends the section, also when it panics.
    struct Section(Arc<dyn Workplace>);
    impl Drop for Section {
        fn drop(&mut self) {
            self.0.unblocks();
        }
    }
    let _section = workplace().map(|place| {
        place.blocks(on(place.pool()));
        Section(place)
    });
    section()
}
