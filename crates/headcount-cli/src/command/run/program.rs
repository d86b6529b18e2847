//! Finds the program before a million jobs find that it is not there.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::exit;

/// Why a program cannot be run: a sentence, and the exit code that shells have for it.
#[derive(Debug)]
pub(super) struct Unstartable {
    pub(super) sentence: String,
    pub(super) code: u8,
}

/// Where `program` is.
pub(super) fn find(program: &OsStr) -> Result<PathBuf, Unstartable> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(program, &path)
}

fn find_in(program: &OsStr, path: &OsStr) -> Result<PathBuf, Unstartable> {
    let shown = program.display();
    if program.as_bytes().contains(&b'/') {
        return match is_executable(Path::new(program)) {
            Ok(true) => Ok(PathBuf::from(program)),
            Ok(false) => Err(not_executable(program)),
            Err(error) => Err(Unstartable {
                sentence: format!("command {shown} cannot be run: {error}; give another path"),
                code: exit::NOT_FOUND,
            }),
        };
    }
    let mut seen = None;
    for directory in std::env::split_paths(path) {
        let file = directory.join(program);
        match is_executable(&file) {
            Ok(true) => return Ok(file),
            Ok(false) => seen = Some(file),
            Err(_) => {}
        }
    }
    match seen {
        Some(file) => Err(not_executable(file.as_os_str())),
        None => Err(Unstartable {
            sentence: format!(
                "command {shown} is in no directory of PATH; give its path, or --shell for \
                 something that only a shell knows"
            ),
            code: exit::NOT_FOUND,
        }),
    }
}

fn not_executable(file: &OsStr) -> Unstartable {
    let file = file.display();
    let sentence = format!("command {file} may not be executed; `chmod +x` it, or name its shell");
    Unstartable { sentence, code: exit::NOT_EXECUTABLE }
}

fn is_executable(file: &Path) -> io::Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(program: &str, path: &str, expected: Result<&str, u8>) {
        let found = find_in(OsStr::new(program), OsStr::new(path));
        let found = found.map(|file| file.display().to_string()).map_err(|error| error.code);
        assert_eq!(found, expected.map(str::to_owned));
    }

    #[test]
    fn a_program_is_looked_for_as_a_shell_does() {
        check("sh", "/nowhere:/bin", Ok("/bin/sh"));
        check("/bin/sh", "", Ok("/bin/sh"));
        check("sh", "/nowhere", Err(127));
        check("/bin/no-such-program", "/bin", Err(127));
    }

    #[test]
    fn what_is_there_and_may_not_run_is_another_matter() {
        check("/etc/passwd", "", Err(126));
        check("passwd", "/etc", Err(126));
    }
}
