//! Stalled time, as the kernel measures it since version 4.20.

use std::path::{Path, PathBuf};

use headcount_core::health::Pressure;

use super::files::Files;
use super::groups::Groups;

/// That of our own group where it can be read, else that of the host. All three figures are of the
/// same one, so that they can be compared.
pub(super) fn read(files: &mut Files, groups: &Groups) -> Option<Pressure> {
    let own = groups.unified.as_ref().and_then(|branch| branch.levels.first());
    let of_group = own.and_then(|level| all(files, |name| level.join(format!("{name}.pressure"))));
    of_group.or_else(|| {
        let directory = files.place("proc/pressure");
        all(files, |name| directory.join(name))
    })
}

fn all(files: &mut Files, place: impl Fn(&str) -> PathBuf) -> Option<Pressure> {
    let mut share = |name: &str| share(files, &place(name));
    Some(Pressure { cpu: share("cpu")?, io: share("io")?, memory: share("memory")? })
}

fn share(files: &mut Files, place: &Path) -> Option<f64> {
    some_avg10(files.text(place)?)
}

/// The share of the last ten seconds in which some task was stalled. Old kernels have no line
/// `full` for processors, so nothing depends on it.
fn some_avg10(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let percent = line.split(' ').find_map(|word| word.strip_prefix("avg10="))?;
    let share = percent.parse::<f64>().ok()? / 100.0;
    (0.0..=1.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ten_seconds_of_some_are_read() {
        let text = "full avg10=9.00 avg60=0.00\nsome avg10=12.50 avg60=1.00 avg300=0 total=7\n";
        assert_eq!(some_avg10(text), Some(0.125));
        for text in
            ["", "some", "some avg60=1.00", "some avg10=x", "some avg10=nan", "full avg10=1"]
        {
            assert_eq!(some_avg10(text), None, "{text:?}");
        }
        assert_eq!(some_avg10("some avg10=-1.00"), None);
        assert_eq!(some_avg10("some avg10=100.00"), Some(1.0));
        assert_eq!(some_avg10("some avg10=101.00"), None);
    }
}
