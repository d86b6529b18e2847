//! What the exit code says of a run, as GNU parallel has it.

/// The most failed jobs that have a code of their own, and the code for more.
const COUNTED_MAX: u64 = 100;
const MORE: u8 = 101;
/// What a shell says of a command that is there but cannot be run, and of one that is not there.
pub(super) const NOT_EXECUTABLE: u8 = 126;
pub(super) const NOT_FOUND: u8 = 127;
/// What a shell says of somebody whose reader went away.
pub(crate) const OUTPUT_CLOSED: u8 = 141;
/// Signals are told as a shell does, above this.
const SIGNALLED: u8 = 128;
/// It was called wrongly, or could not do its own part.
pub(crate) const OURS: u8 = 255;

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) failed: u64,
    /// The signal that stopped it with jobs left.
    pub(super) signal: Option<u8>,
    /// Whether nobody reads our output any more.
    pub(super) output_closed: bool,
    /// Why the command could not be started at all.
    pub(super) unstartable: Option<u8>,
    /// Whether we could not do our own part: read all items, write the log.
    pub(super) is_ours: bool,
}

impl Ending {
    pub(super) fn code(self) -> u8 {
        if let Some(code) = self.unstartable {
            return code;
        }
        if self.output_closed {
            return OUTPUT_CLOSED;
        }
        if let Some(signal) = self.signal {
            return SIGNALLED + signal;
        }
        match self.failed {
            _ if self.is_ours => OURS,
            failed if failed <= COUNTED_MAX => u8::try_from(failed).unwrap_or(MORE),
            _ => MORE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_jobs_are_counted_up_to_a_hundred() {
        let code = |failed| Ending { failed, ..Ending::default() }.code();
        assert_eq!([0, 1, 100, 101, u64::MAX].map(code), [0, 1, 100, 101, 101]);
    }

    #[test]
    fn what_stopped_the_run_comes_first() {
        let failed = Ending { failed: 3, ..Ending::default() };
        assert_eq!(Ending { signal: Some(2), ..failed }.code(), 130);
        assert_eq!(Ending { output_closed: true, ..failed }.code(), 141);
        assert_eq!(Ending { unstartable: Some(NOT_FOUND), ..failed }.code(), 127);
        assert_eq!(Ending { is_ours: true, ..failed }.code(), 255);
    }
}
