//! Calls the code of others, and survives it.

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Code of somebody else panicked. What the panic said has gone to the panic hook.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs `call`. A panic in it is the caller's to count, and nobody's to suffer.
pub(crate) fn unhurt<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        drop_quietly(payload);
        Panicked
    })
}

/// Does something of the user's that nobody counts.
pub(crate) fn quietly(act: impl FnOnce()) {
    let _ = unhurt(act);
}

/// Drops something of the user's.
pub(crate) fn drop_quietly<T>(value: T) {
    // What was thrown may throw again when it is dropped, and so on. Then it is left alone.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        forget(again);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;

    use super::*;

    /// Throws another one when it is dropped, so many times over.
    struct Sore(u8);

    impl Drop for Sore {
        fn drop(&mut self) {
            if let Some(fewer) = self.0.checked_sub(1) {
                panic_any(Self(fewer));
            }
        }
    }

    #[test]
    fn a_panic_becomes_an_error_whatever_it_throws() {
        assert_eq!(unhurt(|| 3), Ok(3));
        assert_eq!(unhurt(|| panic!("a message")), Err::<(), _>(Panicked));
        assert_eq!(unhurt(|| panic_any(Sore(1))), Err::<(), _>(Panicked));
        assert_eq!(unhurt(|| panic_any(Sore(2))), Err::<(), _>(Panicked));
    }
}
