//! What a job printed, kept until it may be shown: in memory, and above a bound in a file.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use tempfile::SpooledTempFile;

/// What is kept in memory of each of a job's two outputs.
const IN_MEMORY_MAX: usize = 64 << 10;

/// One of the two ways that a program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// What a job printed.
#[derive(Debug)]
pub(super) struct Output {
    out: SpooledTempFile,
    err: SpooledTempFile,
    /// Stands before each line, where there is something.
    tag: Option<Vec<u8>>,
}

impl Output {
    pub(super) fn new(tag: Option<Vec<u8>>) -> Self {
        let kept = || SpooledTempFile::new(IN_MEMORY_MAX);
        Self { out: kept(), err: kept(), tag }
    }

    pub(super) fn add(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        match stream {
            Stream::Out => self.out.write_all(bytes),
            Stream::Err => self.err.write_all(bytes),
        }
    }

    /// Shows what went to `stream`.
    pub(super) fn show(&mut self, stream: Stream, to: &mut impl Write) -> io::Result<()> {
        let kept = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        kept.seek(SeekFrom::Start(0))?;
        match &self.tag {
            None => copy(kept, to),
            Some(tag) => copy_tagged(BufReader::new(kept), tag, to),
        }
    }
}

fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = [0; 16 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            len => to.write_all(&buffer[..len])?,
        }
    }
}

/// Copies with `tag` and a tab before each line.
pub(super) fn copy_tagged(
    mut from: impl BufRead,
    tag: &[u8],
    to: &mut impl Write,
) -> io::Result<()> {
    let mut begins = true;
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
        let len = end.unwrap_or(buffer.len());
        if begins {
            to.write_all(tag)?;
            to.write_all(b"\t")?;
        }
        to.write_all(&buffer[..len])?;
        begins = end.is_some();
        from.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tag: Option<&str>, printed: &[u8], expected: &[u8]) {
        let mut output = Output::new(tag.map(|tag| tag.as_bytes().to_vec()));
        for piece in printed.chunks(7) {
            output.add(Stream::Out, piece).expect("memory takes it");
        }
        let mut shown = Vec::new();
        output.show(Stream::Out, &mut shown).expect("memory gives it");
        assert!(shown == expected, "{} bytes in place of {}", shown.len(), expected.len());
        let mut errors = Vec::new();
        output.show(Stream::Err, &mut errors).expect("memory gives it");
        assert!(errors.is_empty(), "the other stream has nothing");
    }

    #[test]
    fn what_was_printed_is_shown_however_long() {
        check(None, b"a\n\xff\0b", b"a\n\xff\0b");
        let long = vec![b'x'; 3 * IN_MEMORY_MAX];
        check(None, &long, &long);
    }

    #[test]
    fn a_tag_stands_before_each_line() {
        check(Some("t"), b"a\n\nb", b"t\ta\nt\t\nt\tb");
        check(Some("t"), b"", b"");
    }
}
