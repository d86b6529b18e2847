//! Paths of the admin API, with what they are about written so that it cannot break out of them.

/// A path of the admin API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path(String);

impl Path {
    /// This part of the API, and below it these names.
    pub(crate) fn of(names: &[&str]) -> Self {
        let escaped: Vec<String> = names.iter().map(|name| escaped(name)).collect();
        Self(format!("/api/v1/{}", escaped.join("/")))
    }

    /// With these questions; those without an answer are left out.
    pub(crate) fn asking(self, questions: &[(&str, Option<String>)]) -> Self {
        let asked = questions.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let asked = asked.map(|(name, value)| format!("{name}={}", escaped(value)));
        Self(format!("{}?{}", self.0, asked.collect::<Vec<_>>().join("&")))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => char::from(byte).into(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect::<Vec<String>>().concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within_their_part_of_the_path() {
        let path = Path::of(&["queues", "a/b?c", "jobs"]);
        assert_eq!(path.as_str(), "/api/v1/queues/a%2Fb%3Fc/jobs");
    }

    #[test]
    fn only_what_is_asked_is_asked() {
        let path = Path::of(&["queues"]).asking(&[
            ("state", Some("dead".to_owned())),
            ("cursor", None),
            ("limit", Some("1 0".to_owned())),
        ]);
        assert_eq!(path.as_str(), "/api/v1/queues?state=dead&limit=1%200");
    }
}
