//! Asks again where an answer was lost.
//!
//! Jobs carry the ids we gave them, so a submit that was taken and whose answer was lost counts
//! once.

use std::future::Future;
use std::time::Duration;

use crate::command::reach::Unanswered;

/// How often it is asked in all.
const ASKED_MAX: u32 = 4;
/// How long it waits before it asks again; then twice as long each time.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) async fn insistent<T, F>(mut ask: impl FnMut() -> F) -> Result<T, Unanswered>
where
    F: Future<Output = Result<T, Unanswered>>,
{
    let mut pause = PAUSE;
    for _ in 1..ASKED_MAX {
        match ask().await {
            Err(Unanswered::Lost(_)) => {}
            answered => return answered,
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    ask().await
}
