//! `headcount config`: checks, shows and compares files of pools.

use std::io::Write;
use std::path::{Path, PathBuf};

use headcount::config::{Format, Reader, Reading, Registry, diff, schema};

use crate::Stop;

/// What the command takes.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Says everything that is wrong with a file, with line, value and remedy, and what is unwise.
    Check {
        /// The file: .yaml, .toml or .json.
        file: PathBuf,
    },
    /// Shows all that is in force: defaults, presets, the file, the environment.
    Show {
        /// The file: .yaml, .toml or .json.
        file: PathBuf,
        /// Shows this pool only.
        #[arg(long)]
        pool: Option<String>,
        /// How it is written; in YAML each value says where it comes from.
        #[arg(long, default_value = "yaml")]
        format: Written,
    },
    /// Prints the JSON Schema of a file, for editors.
    Schema,
    /// Says what would change from one file to another.
    Diff {
        /// The file in force.
        old: PathBuf,
        /// The file that would take its place.
        new: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Written {
    Yaml,
    Toml,
    Json,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Stop> {
    match &arguments.command {
        Command::Check { file } => check(file, out),
        Command::Show { file, pool, format } => show(file, pool.as_deref(), *format, out),
        Command::Schema => Ok(write!(out, "{}", schema())?),
        Command::Diff { old, new } => compare(old, new, out),
    }
}

fn read(file: &Path) -> Result<Reading, Stop> {
    let reader = Reader::new(&Registry::new()).environment();
    reader.read(file).map_err(|report| Stop::Refused(report.to_string()))
}

fn check(file: &Path, out: &mut impl Write) -> Result<(), Stop> {
    let reading = read(file)?;
    for line in reading.hint_lines() {
        writeln!(out, "{line}")?;
    }
    let config = &reading.config;
    let pools: Vec<&str> = config.pools.iter().map(|pool| pool.name.as_str()).collect();
    let queues: Vec<&str> = config.jobs.queues.iter().map(|queue| queue.name.as_str()).collect();
    let all = [counted("pool", &pools), counted("queue", &queues)];
    let all: Vec<String> = all.into_iter().flatten().collect();
    let all = if all.is_empty() { "a store".to_owned() } else { all.join("; ") };
    writeln!(out, "{}: nothing is wrong; {all}", file.display())?;
    Ok(())
}

/// How many there are and what they are called; nothing where there are none.
fn counted(what: &str, names: &[&str]) -> Option<String> {
    let plural = if names.len() == 1 { "" } else { "s" };
    let text = || format!("{} {what}{plural}: {}", names.len(), names.join(", "));
    (!names.is_empty()).then(text)
}

fn show(
    file: &Path,
    pool: Option<&str>,
    format: Written,
    out: &mut impl Write,
) -> Result<(), Stop> {
    let format = match format {
        Written::Yaml => Format::Yaml,
        Written::Toml => Format::Toml,
        Written::Json => Format::Json,
    };
    let shown = read(file)?.show(format, pool).map_err(Stop::Misused)?;
    Ok(write!(out, "{shown}")?)
}

fn compare(old: &Path, new: &Path, out: &mut impl Write) -> Result<(), Stop> {
    let (before, after) = match (read(old), read(new)) {
        (Ok(before), Ok(after)) => (before, after),
        // Both reports at once, where both are wrong.
        (Err(Stop::Refused(one)), Err(Stop::Refused(other))) => {
            return Err(Stop::Refused(format!("{one}\n{other}")));
        }
        (Err(stop), _) | (_, Err(stop)) => return Err(stop),
    };
    let differences = diff(&before.config, &after.config);
    if differences.is_empty() {
        writeln!(out, "nothing would change")?;
    }
    for difference in differences {
        writeln!(out, "{difference}")?;
    }
    Ok(())
}
