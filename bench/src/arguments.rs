//! What a benchmark can be asked for on its command line.

use std::path::PathBuf;

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Where the rows go as JSON too (`--json FILE`).
    pub json: Option<PathBuf>,
    /// How many rounds are measured (`--rounds N`).
    pub rounds: Option<usize>,
    /// Only rows whose name contains this are measured (`--only TEXT`).
    pub only: Option<String>,
}

impl Asked {
    /// Reads the arguments that follow the name of the program.
    pub fn read(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut asked = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(flag) = arguments.next() {
            let known = matches!(flag.as_str(), "--json" | "--rounds" | "--only");
            if !known {
                return Err(format!(
                    "{flag:?} is not understood; --json FILE, --rounds N and --only TEXT are"
                ));
            }
            let Some(value) = arguments.next() else {
                return Err(format!("{flag} needs a value after it"));
            };
            asked.take(&flag, value)?;
        }
        Ok(asked)
    }

    fn take(&mut self, flag: &str, value: String) -> Result<(), String> {
        let twice = match flag {
            "--json" => self.json.replace(PathBuf::from(value)).is_some(),
            "--rounds" => self.rounds.replace(rounds(&value)?).is_some(),
            _ => self.only.replace(value).is_some(),
        };
        if twice {
            return Err(format!("{flag} was given twice; give it once"));
        }
        Ok(())
    }

    /// For a benchmark that has a fixed number of rounds and always measures all of its rows.
    pub fn only_json(self) -> Result<Self, String> {
        match (self.rounds, &self.only) {
            (None, None) => Ok(self),
            (Some(_), _) => Err("this benchmark has no --rounds; --json FILE it has".to_owned()),
            (None, Some(_)) => Err("this benchmark has no --only; --json FILE it has".to_owned()),
        }
    }

    /// Whether a row of this name is asked for.
    pub fn wants(&self, row: &str) -> bool {
        self.only.as_ref().is_none_or(|text| row.contains(text))
    }
}

fn rounds(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(rounds) if 0 < rounds => Ok(rounds),
        _ => Err(format!("--rounds {value:?} is not a number of rounds; give 1 or more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &str, expected: &str) {
        let said = match Asked::read(arguments.split_whitespace().map(str::to_owned)) {
            Ok(Asked { json, rounds, only }) => {
                format!("{:?} {rounds:?} {only:?}", json.map(|file| file.display().to_string()))
            }
            Err(why) => why,
        };
        assert_eq!(said, expected, "for {arguments:?}");
    }

    #[test]
    fn takes_any_of_the_three_in_any_order() {
        check("", "None None None");
        check("--json a.json", "Some(\"a.json\") None None");
        check("--only tiny --rounds 3", "None Some(3) Some(\"tiny\")");
    }

    #[test]
    fn says_what_is_wrong() {
        check("--rounds", "--rounds needs a value after it");
        check("--rounds 0", "--rounds \"0\" is not a number of rounds; give 1 or more");
        check("--rounds 1 --rounds 2", "--rounds was given twice; give it once");
        check(
            "--fast",
            "\"--fast\" is not understood; --json FILE, --rounds N and --only TEXT are",
        );
    }

    #[test]
    fn a_benchmark_with_fixed_rounds_refuses_to_be_asked_for_others() {
        let asked = Asked { rounds: Some(3), ..Asked::default() };
        assert_eq!(
            asked.only_json(),
            Err("this benchmark has no --rounds; --json FILE it has".to_owned())
        );
    }
}
