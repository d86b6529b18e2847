//! How a command ends.

/// Green, or the reason why not.
pub(crate) type Outcome = Result<(), Stop>;

/// Why a command stopped short of green.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Something was found wrong, and has been printed.
    Red,
    /// The command cannot be called like this.
    Misused(String),
}

/// Green when it holds. Whatever is wrong has been printed.
pub(crate) fn green_if(holds: bool) -> Outcome {
    if holds { Ok(()) } else { Err(Stop::Red) }
}

/// Prints what is wrong and stops.
pub(crate) fn red(why: &str) -> Outcome {
    eprintln!("{why}");
    Err(Stop::Red)
}

/// Refuses arguments where a command takes none.
pub(crate) fn takes_nothing(command: &str, arguments: &[String]) -> Outcome {
    match arguments.first() {
        None => Ok(()),
        Some(first) => {
            Err(Stop::Misused(format!("`{command}` takes no argument, but was given {first:?}")))
        }
    }
}
