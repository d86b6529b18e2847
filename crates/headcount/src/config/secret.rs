//! What must not be seen by whoever reads a report, a log or a screen.

use std::borrow::Cow;

/// Stands in place of what is not shown.
pub(crate) const HIDDEN: &str = "***";

/// A text without the user and password of a URL in it.
///
/// Whatever stands between `://` and the last `@` goes, as a password that should have been
/// escaped may hold any sign.
pub(crate) fn without_credentials(text: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = text.split_once("://") else { return text.into() };
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{HIDDEN}@{host}").into(),
        None => text.into(),
    }
}

/// Words in the name of a header or a variable whose value is nobody's business.
const SECRETS: [&str; 8] =
    ["authorization", "cookie", "password", "passwd", "secret", "token", "key", "credential"];

/// Whether what goes by this name is a secret, as far as a name tells.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRETS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_credentials(text), expected);
    }

    #[test]
    fn a_password_is_seen_by_nobody() {
        check("redis://u:pw@host:6379/0", "redis://***@host:6379/0");
        check("redis://:p/w@d?#@host", "redis://***@host");
        check("redis://host:6379", "redis://host:6379");
        check("./jobs@home", "./jobs@home");
    }

    #[test]
    fn a_name_tells_of_a_secret() {
        for name in ["Authorization", "X-Api-Key", "DB_PASSWORD", "session-token"] {
            assert!(is_secret(name), "{name}");
        }
        assert!(!is_secret("Content-Type"));
    }
}
