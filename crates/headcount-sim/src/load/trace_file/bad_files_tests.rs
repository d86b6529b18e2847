//! Files as the world hands them in: every one ends in an answer, in bounded memory.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const HEADER: &str = "t_seconds,arrivals\n";

fn arrivals_of(bytes: &[u8]) -> String {
    match Arrivals::read(bytes) {
        Ok(arrivals) => format!("{} buckets", arrivals.counts.len()),
        Err(error) => error.to_string(),
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[track_caller]
fn check(bytes: impl AsRef<[u8]>, expected: &str) {
    let bytes = bytes.as_ref();
    assert_eq!(arrivals_of(bytes), expected);
    assert_eq!(arrivals_of(&packed(bytes)), expected, "packed");
}

#[test]
fn files_without_rows_say_what_is_missing() {
    let empty = "the file is empty; its first line names the columns: t_seconds,arrivals";
    check("", empty);
    check("\n \r\n", empty);
    check(HEADER, "line 1 names the columns and nothing follows; add lines");
    check(
        "0,7\n1,5\n",
        "line 1: column t_seconds should be named once in \"0,7\"; begin the file with \
         t_seconds,arrivals",
    );
    check(
        "t_seconds,arrivals,arrivals\n",
        "line 1: column arrivals should be named once in \"t_seconds,arrivals,arrivals\"; begin \
         the file with t_seconds,arrivals",
    );
}

#[test]
fn values_that_no_load_has_are_named_with_their_line() {
    for wrong in ["-3", "NaN", "inf", "-inf", "1e400", "seven", "", "0x10", "1;5", "1e10"] {
        let file = format!("{HEADER}0,7\n\n1,{wrong}\n");
        check(file, &format!("line 4: arrivals is {wrong:?}; write a number from 0 to 1000000000"));
    }
    check(
        format!("{HEADER}-1,7\n"),
        "line 2: t_seconds is \"-1\"; write a number from 0 to 10000000000",
    );
    check(
        format!("{HEADER}0,7,1\n"),
        "line 2: 3 fields where there are 2 columns; write one for each",
    );
    check(format!("{HEADER}0\n"), "line 2: 1 field where there are 2 columns; write one for each");
}

#[test]
fn a_long_value_is_told_in_short() {
    let told = arrivals_of(format!("{HEADER}0,{}\n", "9x".repeat(1_000)).as_bytes());
    assert!(told.len() < 150, "{told}");
    assert!(told.contains("9x...\""), "{told}");
}

#[test]
fn what_is_not_text_is_not_read_as_text() {
    let not_text = "bytes that are not UTF-8; hand in text, plain or packed with gzip";
    check(b"\x89PNG\r\n\x1a\n\0\0\0", &format!("line 1: {not_text}"));
    check([HEADER.as_bytes(), b"0,\xff\n"].concat(), &format!("line 2: {not_text}"));
    check([HEADER.as_bytes(), b"0,1\n1,1\0\n"].concat(), {
        "line 3: arrivals is \"1\\0\"; write a number from 0 to 1000000000"
    });
}

#[test]
fn a_packed_file_that_was_cut_short_says_so() {
    let whole = azure::jobs();
    for length in [3, 10, 19, 1_000, whole.len() / 2, whole.len() - 1] {
        let error = read_jobs(&whole[..length]).unwrap_err();
        assert!(matches!(error, TraceFileError::CutShort { .. }), "{length}: {error}");
    }
    let mut flipped = whole.to_vec();
    flipped[whole.len() / 2] ^= 0x55;
    assert!(read_jobs(flipped.as_slice()).is_err(), "the sum at the end does not fit");
}

#[test]
fn what_follows_packed_data_is_packed_or_told() {
    let whole = azure::jobs();
    let jobs = read_jobs(whole).unwrap().len();
    for rest in [&b"\n"[..], b"x", &[0; 512], b"t_seconds,service_seconds\n0,1\n"] {
        let told = read_jobs([whole, rest].concat().as_slice()).unwrap_err().to_string();
        let expected = "unreadable: bytes that are not gzip follow the packed data; cut them off";
        assert!(told.contains(expected), "{rest:?}: {told}");
    }
    // A piece of nothing: the shortest there is.
    let mut nothing = Vec::new();
    flate2::write::GzEncoder::new(&mut nothing, flate2::Compression::fast()).finish().unwrap();
    assert_eq!(read_jobs([&nothing, whole, &nothing].concat().as_slice()).unwrap().len(), jobs);
    let cut = [whole, &nothing[..9]].concat();
    let error = read_jobs(cut.as_slice()).unwrap_err();
    assert!(matches!(error, TraceFileError::CutShort { .. }), "{error}");
}

#[test]
fn a_reader_that_fails_is_told_with_its_words() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let error = Arrivals::read(HEADER.as_bytes().chain(Broken)).unwrap_err();
    assert_eq!(error.to_string(), "line 2: unreadable: the disk is gone");
}

/// A file of 10 GB that is made while it is read, and counts how much of it was.
struct Endless<'a> {
    line: &'a dyn Fn(u64) -> String,
    number: u64,
    rest: io::Cursor<Vec<u8>>,
    read: &'a mut u64,
}

const ENDLESS_BYTES: u64 = 10_000_000_000;

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if ENDLESS_BYTES <= *self.read {
            return Ok(0);
        }
        if self.rest.position() == self.rest.get_ref().len() as u64 {
            let some = (self.number..self.number + 100).map(self.line);
            self.rest = io::Cursor::new(some.collect::<String>().into_bytes());
            self.number += 100;
        }
        let read = self.rest.read(buffer)?;
        *self.read += read as u64;
        Ok(read)
    }
}

/// What is said of 10 GB of such lines, and how many megabytes of them were read.
fn endless<T>(
    header: &str,
    line: impl Fn(u64) -> String,
    reads: impl Fn(&mut dyn Read) -> Result<T, TraceFileError>,
) -> (String, u64) {
    let mut read = 0;
    let rest = io::Cursor::default();
    let mut source =
        header.as_bytes().chain(Endless { line: &line, number: 0, rest, read: &mut read });
    let told = reads(&mut source).err().map(|error| error.to_string());
    (told.expect("10 GB are more than is read"), read / 1_000_000)
}

#[test]
fn ten_gigabytes_are_given_up_early() {
    let buckets = |number| format!("{number},1\n");
    let (told, read) = endless(HEADER, buckets, |source| Arrivals::read(source));
    assert_eq!(
        told,
        "line 10000002: more than 10000000 buckets; cut the file up, or use longer steps"
    );
    assert!(read < 120, "{read} MB");

    let jobs = |_| "1,1\n".to_owned();
    let header = "t_seconds,service_seconds\n";
    let (told, read) = endless(header, jobs, |source| read_jobs(source));
    assert_eq!(
        told,
        "line 10000002: more than 10000000 jobs; cut the file up, or use longer steps"
    );
    assert!(read < 50, "{read} MB");

    let note = "x".repeat(4_000);
    let notes = |number| format!("{number},1,{note}\n");
    let header = "t_seconds,arrivals,note\n";
    let (told, read) = endless(header, notes, |source| Arrivals::read(source));
    let expected = "more than 2147483648 bytes, unpacked; cut the file up, or use longer steps";
    assert!(told.contains(expected), "{told}");
    assert!(read < 2_200, "{read} MB");

    let one_line = |_| "0123456789".to_owned();
    let (told, read) = endless("", one_line, |source| Arrivals::read(source));
    assert_eq!(told, "line 1: more than 4096 bytes without an end; is this a CSV file?");
    assert!(read < 1, "{read} MB");
}

#[test]
fn a_gzip_bomb_is_given_up_early() {
    // Ten million bytes of zeros pack into ten thousand; the unpacker is stopped at a line's end.
    let bomb = packed(&vec![b'0'; 10_000_000]);
    assert!(bomb.len() < 20_000);
    assert_eq!(
        arrivals_of(&bomb),
        "line 1: more than 4096 bytes without an end; is this a CSV file?"
    );
}

/// Scraps of tables.
const TABLES: &str = "(t_seconds|arrivals|service_seconds|[,0-9.eE+\\-naif\n\r \"]){0,60}";

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(5),
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..300)) {
        arrivals_of(&bytes);
        let _ = read_jobs(bytes.as_slice());
        arrivals_of(&packed(&bytes));
        arrivals_of(&[&[0x1f, 0x8b], bytes.as_slice()].concat());
    }

    #[test]
    fn random_tables_never_panic(text in TABLES) {
        for header in ["", HEADER, "t_seconds,service_seconds\n"] {
            let file = format!("{header}{text}");
            arrivals_of(file.as_bytes());
            let _ = read_jobs(file.as_bytes());
        }
    }

    #[test]
    fn a_damaged_file_never_panics(at in 0_usize..9_011, to in any::<u8>(), length in 0..9_011) {
        let mut bytes = azure::arrivals().to_vec();
        let length = usize::try_from(length).unwrap();
        bytes[at] = to;
        bytes.truncate(length);
        arrivals_of(&bytes);
    }

    #[test]
    fn what_was_written_is_read(counts in vec(0_u32..1_000_000, 2..100), step in 1_u32..4_000) {
        let rows = (0_u32..).zip(&counts);
        let rows: Vec<String> = rows.map(|(n, count)| format!("{},{count}", n * step)).collect();
        let read = Arrivals::read(format!("{HEADER}{}", rows.join("\n")).as_bytes()).unwrap();
        prop_assert_eq!(read.step.as_secs(), u64::from(step));
        prop_assert_eq!(read.counts, counts.iter().copied().map(f64::from).collect::<Vec<_>>());
    }
}
