//! Judges a licence expression, as SPDX writes it: does it leave us a licence that we accept?
//!
//! Of `MIT OR GPL-3.0` one part must be acceptable, of `MIT AND ISC` both. `AND` binds closer than
//! `OR`; brackets group; the `/` of old manifests is an `OR`.

/// The licences we accept: all of them let a program under MIT or Apache-2.0 contain the code.
///
/// MPL-2.0 is not among them. It would do, but it asks those who ship a changed copy to publish the
/// change, and nothing we use is under it alone.
pub(crate) const ACCEPTED: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Zlib",
];

/// Whether we may use what is under this licence, or why the expression cannot be read.
pub(crate) fn is_acceptable(expression: &str) -> Result<bool, String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { left: spaced.split_whitespace().collect() };
    let acceptable = words.any()?;
    match words.left.first() {
        None => Ok(acceptable),
        Some(word) => Err(format!("{word:?} is out of place")),
    }
}

struct Words<'a> {
    left: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn any(&mut self) -> Result<bool, String> {
        let mut acceptable = self.all()?;
        while self.take_if("OR") {
            acceptable |= self.all()?;
        }
        Ok(acceptable)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut acceptable = self.one()?;
        while self.take_if("AND") {
            acceptable &= self.one()?;
        }
        Ok(acceptable)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take_if("(") {
            let acceptable = self.any()?;
            let closed = self.take_if(")");
            return closed.then_some(acceptable).ok_or("a bracket is not closed".to_owned());
        }
        let mut name = self.name()?.to_owned();
        if self.take_if("WITH") {
            name = format!("{name} WITH {}", self.name()?);
        }
        Ok(ACCEPTED.contains(&name.as_str()))
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.left.first() {
            None => Err("it ends where a licence is expected".to_owned()),
            Some(word) if ["AND", "OR", "WITH", "(", ")"].contains(word) => {
                Err(format!("{word:?} stands where a licence is expected"))
            }
            Some(_) => Ok(self.left.remove(0)),
        }
    }

    fn take_if(&mut self, word: &str) -> bool {
        let found = self.left.first() == Some(&word);
        if found {
            self.left.remove(0);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(verdict: &str, expressions: &[&str]) {
        for expression in expressions {
            let told = match is_acceptable(expression) {
                Ok(true) => "accepted".to_owned(),
                Ok(false) => "refused".to_owned(),
                Err(why) => why,
            };
            assert_eq!(told, verdict, "{expression:?}");
        }
    }

    #[test]
    fn one_good_choice_is_enough() {
        check("accepted", &["MIT", "MIT OR GPL-3.0-only", "GPL-3.0-only OR MIT", "MIT/Apache-2.0"]);
        check("refused", &["GPL-3.0-only", "GPL-3.0-only OR AGPL-3.0-only", "MPL-2.0", "mit"]);
    }

    #[test]
    fn all_that_apply_must_be_good() {
        check("accepted", &["MIT AND ISC", "Apache-2.0 AND (MIT OR GPL-2.0-only)"]);
        check("refused", &["MIT AND GPL-2.0-only", "(MIT OR ISC) AND OpenSSL"]);
    }

    #[test]
    fn and_binds_closer_than_or() {
        check("accepted", &["MIT OR ISC AND GPL-2.0-only", "ISC AND GPL-2.0-only OR MIT"]);
        check("refused", &["(MIT OR ISC) AND GPL-2.0-only"]);
        check("accepted", &["(MIT OR Apache-2.0) AND Unicode-3.0"]);
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        check("accepted", &["Apache-2.0 WITH LLVM-exception"]);
        check("refused", &["GPL-2.0-only WITH Classpath-exception-2.0", "MIT WITH a-surprise"]);
    }

    #[test]
    fn what_cannot_be_read_is_not_guessed() {
        check("it ends where a licence is expected", &["", "MIT OR", "Apache-2.0 WITH"]);
        check("a bracket is not closed", &["(MIT OR ISC"]);
        check("\")\" is out of place", &["MIT)"]);
        check("\"ISC\" is out of place", &["MIT ISC"]);
        check("\"AND\" stands where a licence is expected", &["MIT OR AND ISC"]);
    }
}
