//! Runs other programs, above all cargo, from the root of the repository.

use std::env;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The directory that holds the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a directory of the repository")
}

/// A call of the cargo that started us, with these arguments.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    command
}

/// Runs to the end with our own input and output; true when it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => cannot_start(command, &error),
    }
}

/// Runs to the end and shows its output only when it did not succeed.
pub(crate) fn succeeds_quietly(command: &mut Command) -> bool {
    match command.output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            eprint!("{}", String::from_utf8_lossy(&output.stdout));
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            false
        }
        Err(error) => cannot_start(command, &error),
    }
}

/// What it wrote to its output, or what it wrote to its error output when it did not succeed.
pub(crate) fn answer(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs to the end, passes its output on line by line as it comes, and lets us hear each line.
pub(crate) fn succeeds_aloud(command: &mut Command, hear: impl FnMut(&str) + Send) -> bool {
    if io::stdout().is_terminal() {
        // It writes into our pipe and cannot see that a person is reading.
        command.env("CARGO_TERM_COLOR", "always");
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return cannot_start(command, &error),
    };
    let output = child.stdout.take().expect("the output is piped");
    let errors = child.stderr.take().expect("the error output is piped");

    let hear = Mutex::new(hear);
    thread::scope(|scope| {
        scope.spawn(|| relay(output, io::stdout(), &hear));
        relay(errors, io::stderr(), &hear);
    });
    child.wait().is_ok_and(|status| status.success())
}

fn relay(from: impl Read, mut to: impl Write, hear: &Mutex<impl FnMut(&str)>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    // A stream that breaks has ended; how the program ended is told by its exit code.
    while from.read_until(b'\n', &mut line).is_ok_and(|read| 0 < read) {
        // Nobody may be reading us any more. The program is still to be run to its end.
        _ = to.write_all(&line).and_then(|()| to.flush());
        let mut hear = hear.lock().unwrap_or_else(PoisonError::into_inner);
        hear(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

fn cannot_start(command: &Command, error: &io::Error) -> bool {
    eprintln!("{}: {error}", command.get_program().display());
    false
}

/// Where a program lies, as the shell would find it, or in the places only root's shell looks.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_heard() {
        let mut lines = Vec::new();
        let succeeded =
            succeeds_aloud(&mut cargo(&["--version"]), |line| lines.push(line.to_owned()));
        assert!(succeeded && lines.len() == 1 && lines[0].starts_with("cargo "), "{lines:?}");
    }

    #[test]
    fn a_program_that_is_not_there_does_not_succeed() {
        assert!(!succeeds(&mut Command::new("no-such-program")));
        assert!(find("no-such-program").is_none());
    }

    #[test]
    fn a_program_that_ends_red_does_not_succeed() {
        assert!(!succeeds_aloud(&mut cargo(&["no-such-command"]), |_| ()));
        assert!(answer(&mut cargo(&["no-such-command"])).is_err());
    }
}
