//! What is kept of something that may never end.

/// The first bytes of a stream, as many as allowed.
#[derive(Debug)]
pub(super) struct First {
    bytes: Vec<u8>,
    bytes_max: usize,
    has_more: bool,
}

/// The last bytes of a stream, as many as allowed.
#[derive(Debug)]
pub(super) struct Last {
    bytes: Vec<u8>,
    bytes_max: usize,
}

/// Takes a stream piece by piece.
pub(super) trait Keep: Send {
    fn keep(&mut self, piece: &[u8]);
}

impl First {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max, has_more: false }
    }

    /// All of it, unless there was more than allowed.
    pub(super) fn whole(self) -> Option<Vec<u8>> {
        (!self.has_more).then_some(self.bytes)
    }

    /// As much of it as was kept.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).trim().to_owned()
    }

    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }
}

impl Last {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max }
    }

    /// The end of it.
    pub(super) fn text(&self) -> String {
        let from = self.bytes.len().saturating_sub(self.bytes_max);
        String::from_utf8_lossy(&self.bytes[from..]).trim().to_owned()
    }
}

impl Keep for First {
    fn keep(&mut self, piece: &[u8]) {
        let room = self.bytes_max - self.bytes.len();
        self.has_more |= room < piece.len();
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

impl Keep for Last {
    fn keep(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        // Moved once for every so many bytes, not with each piece.
        if 2 * self.bytes_max < self.bytes.len() {
            self.bytes.drain(..self.bytes.len() - self.bytes_max);
        }
    }
}

/// The bytes, where they are JSON: only that can be read by whoever asks for a result.
pub(super) fn json(bytes: Vec<u8>) -> Option<Vec<u8>> {
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok();
    is_json.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], first: Option<&str>, last: &str) {
        let (mut head, mut tail) = (First::new(4), Last::new(4));
        for piece in pieces {
            head.keep(piece.as_bytes());
            tail.keep(piece.as_bytes());
        }
        assert_eq!(tail.text(), last);
        let first = first.map(|text| text.as_bytes().to_vec());
        assert_eq!(head.whole(), first);
    }

    #[test]
    fn no_more_is_kept_than_allowed() {
        check(&[], Some(""), "");
        check(&["abcd"], Some("abcd"), "abcd");
        check(&["ab", "cd", "e"], None, "bcde");
        check(&["abcdefghijklmnop", "q"], None, "nopq");
    }

    #[test]
    fn only_json_is_a_result() {
        assert_eq!(json(b"{\"a\": 1}\n".to_vec()), Some(b"{\"a\": 1}\n".to_vec()));
        assert_eq!(json(b"done".to_vec()), None);
        assert_eq!(json(Vec::new()), None);
    }
}
