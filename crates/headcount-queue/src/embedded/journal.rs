//! The journal: every change in the order in which it happened, one record for each commit.
//!
//! A file is a *segment*. It begins with its number and has room set aside, so that writing a
//! record changes nothing but its bytes and one sync suffices. A record is a head of 24 bytes and
//! its effects:
//!
//! ```text
//! mark u32 | length u32 | checksum u32 | 0 u32 | synced u64 | effects, up to a multiple of 8
//! ```
//!
//! The checksum covers the segment's number too: a file that is used again holds old records, and
//! none of them counts. `synced` is how much of the segment was on disk for sure when the record
//! was written. A record that does not fit its checksum is where the journal ends, unless a later
//! one says that this place had been synced: then the file was damaged, and is left alone.

use super::disk::JournalFile;
use std::io;

const MARK: u32 = 0x4a6f_6273;
const HEAD_LEN: usize = 24;
const FILE_HEAD: [u8; 8] = *b"hcjrnl\x01\n";
/// Where the first record of a segment begins.
pub(crate) const FIRST: u64 = 16;

/// A segment that is written to.
#[derive(Debug)]
pub(crate) struct Journal {
    file: Box<dyn JournalFile>,
    number: u64,
    len: u64,
    synced: u64,
    record: Vec<u8>,
}

impl Journal {
    /// Begins a segment.
    pub(crate) fn begin(file: Box<dyn JournalFile>, number: u64) -> io::Result<Self> {
        let mut head = FILE_HEAD.to_vec();
        head.extend_from_slice(&number.to_le_bytes());
        file.write_at(0, &head)?;
        Ok(Self { file, number, len: FIRST, synced: 0, record: Vec::new() })
    }

    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    pub(crate) const fn is_synced(&self) -> bool {
        self.synced == self.len
    }

    /// Writes a record. After this it survives the end of the process, not of the machine.
    pub(crate) fn append(&mut self, effects: &[u8]) -> io::Result<()> {
        let len = u32::try_from(effects.len())
            .map_err(|_| io::Error::other("a commit has more than four gigabytes"))?;
        self.record.clear();
        self.record.extend_from_slice(&MARK.to_le_bytes());
        self.record.extend_from_slice(&len.to_le_bytes());
        let checksum = checksum(self.number, self.synced, effects);
        self.record.extend_from_slice(&u64::from(checksum).to_le_bytes());
        self.record.extend_from_slice(&self.synced.to_le_bytes());
        self.record.extend_from_slice(effects);
        self.record.resize(self.record.len().next_multiple_of(8), 0);
        self.file.write_at(self.len, &self.record)?;
        self.len += self.record.len() as u64;
        Ok(())
    }

    /// Brings all records to the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.synced = self.len;
        Ok(())
    }
}

/// What is wrong with a segment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// It is the segment of a newer version, or none at all.
    Head,
    /// A record that had been synced is not what was written, at this place.
    Record(u64),
}

/// The records of a segment, up to where it ends.
pub(crate) fn records(bytes: &[u8], number: u64) -> Result<Vec<&[u8]>, Damage> {
    let Some((head, _)) = bytes.split_at_checked(16) else { return Ok(Vec::new()) };
    if head.iter().all(|byte| *byte == 0) || head[8..] != number.to_le_bytes() {
        // Named, and not begun: what it holds is from before.
        return Ok(Vec::new());
    }
    if head[..8] != FILE_HEAD {
        return Err(Damage::Head);
    }
    let mut records = Vec::new();
    let mut at = 16;
    while let Some((effects, _)) = record(bytes, at, number) {
        records.push(effects);
        at += (HEAD_LEN + effects.len()).next_multiple_of(8);
    }
    match synced_after(bytes, at, number) {
        Some(synced) if (at as u64) < synced => Err(Damage::Record(at as u64)),
        _ => Ok(records),
    }
}

/// The record at this place, if there is one: its effects, and how much had been synced.
fn record(bytes: &[u8], at: usize, number: u64) -> Option<(&[u8], u64)> {
    let head = bytes.get(at..)?.get(..HEAD_LEN)?;
    let u32_at = |from: usize| {
        u32::from_le_bytes([head[from], head[from + 1], head[from + 2], head[from + 3]])
    };
    if u32_at(0) != MARK {
        return None;
    }
    let effects = bytes.get(at + HEAD_LEN..)?.get(..u32_at(4) as usize)?;
    let synced = u64::from(u32_at(16)) | u64::from(u32_at(20)) << 32;
    (u32_at(8) == checksum(number, synced, effects)).then_some((effects, synced))
}

/// What the next whole record behind a bad place says had been synced.
fn synced_after(bytes: &[u8], bad: usize, number: u64) -> Option<u64> {
    let places = (bad..bytes.len()).step_by(8);
    let mut marked = places.filter(|at| bytes[*at..].starts_with(&MARK.to_le_bytes()));
    marked.find_map(|at| record(bytes, at, number)).map(|(_, synced)| synced)
}

/// CRC-32 over the segment's number, what was synced, the length and the effects.
fn checksum(number: u64, synced: u64, effects: &[u8]) -> u32 {
    let mut head = [0; 24];
    head[..8].copy_from_slice(&number.to_le_bytes());
    head[8..16].copy_from_slice(&synced.to_le_bytes());
    head[16..].copy_from_slice(&(effects.len() as u64).to_le_bytes());
    !crc(crc(!0, &head), effects)
}

fn crc(crc: u32, bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8);
    bytes.iter().fold(crc, step)
}

static TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        let mut value = byte;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[byte as usize] = value;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Debug, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl JournalFile for Page {
        fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            let mut bytes = self.0.lock().expect("nobody panics");
            let offset = usize::try_from(offset).expect("it is small");
            let end = bytes.len().max(offset + data.len());
            bytes.resize(end, 0);
            bytes[offset..offset + data.len()].copy_from_slice(data);
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A segment with these records, each synced where it says so.
    fn segment(number: u64, written: &[(&[u8], bool)]) -> Vec<u8> {
        let page = Page::default();
        let mut journal = Journal::begin(Box::new(page.clone()), number).expect("it has room");
        for (effects, synced) in written {
            journal.append(effects).expect("it has room");
            if *synced {
                journal.sync().expect("it always works");
            }
        }
        page.0.lock().expect("nobody panics").clone()
    }

    const THREE: [(&[u8], bool); 3] = [(b"one", true), (b"two two", true), (b"the last", true)];

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(!crc(!0, b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = segment(7, &THREE);
        assert_eq!(records(&bytes, 7), Ok(vec![&b"one"[..], b"two two", b"the last"]));
    }

    #[test]
    fn a_segment_ends_where_it_was_cut() {
        let bytes = segment(7, &THREE);
        for cut in 0..bytes.len() {
            let read = records(&bytes[..cut], 7).expect("a cut is no damage");
            assert!(read.len() < 3, "{cut}");
            assert!(read.iter().zip(THREE).all(|(read, (written, _))| **read == *written));
        }
    }

    #[test]
    fn records_of_an_earlier_use_do_not_count() {
        let mut bytes = segment(7, &THREE);
        let again = segment(8, &[(b"new", true)]);
        bytes[..again.len()].copy_from_slice(&again);
        assert_eq!(records(&bytes, 8), Ok(vec![&b"new"[..]]));
        assert_eq!(records(&bytes, 7), Ok(vec![]));
    }

    #[test]
    fn damage_to_what_was_synced_is_told() {
        let mut bytes = segment(7, &THREE);
        bytes[16 + HEAD_LEN] ^= 1;
        assert_eq!(records(&bytes, 7), Err(Damage::Record(16)));
    }

    #[test]
    fn a_hole_in_what_was_not_synced_is_an_end() {
        let mut bytes = segment(7, &[(b"one", true), (b"two", false), (b"three", false)]);
        let second = 16 + (HEAD_LEN + 3).next_multiple_of(8);
        bytes[second + HEAD_LEN] ^= 1;
        assert_eq!(records(&bytes, 7), Ok(vec![&b"one"[..]]));
    }

    #[test]
    fn what_is_no_segment_is_told() {
        let mut bytes = segment(7, &THREE);
        bytes[0] ^= 1;
        assert_eq!(records(&bytes, 7), Err(Damage::Head));
    }
}
