//! Files as nobody would write them: whatever stands in one, it is read or refused, and soon.
//!
//! Mutates both corpora with a seeded generator. `cargo xtask fuzz config` runs it for as long as
//! it is told to; among the other tests it runs for a few seconds. A failure prints its seed, its
//! number and the text.

#![cfg(feature = "config")]

mod config_support;

use std::fs;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use config_support::{corpus, registry};
use headcount::config::{Config, Format, Reader};

/// No file takes longer to be read or refused.
const EACH_MAX: Duration = Duration::from_secs(5);

/// A small generator with a long period: splitmix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).expect("it is below the limit")
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Values and signs that are likely to hurt.
const SHARP: [&str; 48] = [
    "0",
    "-1",
    "1",
    "4294967296",
    "18446744073709551616",
    "1e999",
    "-0.0",
    ".nan",
    ".inf",
    "1e-320",
    "null",
    "~",
    "true",
    "\"\"",
    "''",
    "{}",
    "[]",
    "[[]]",
    "{a: b}",
    "0s",
    "1ns",
    "999999h",
    "1.5h",
    "1KiB",
    "16777215TiB",
    "external.x",
    "composite",
    "threshold",
    "aimd",
    "slo",
    "ants",
    "limiter",
    "pools:",
    "pool:",
    "type: ",
    "parts: ",
    "<<: ",
    "*a",
    "&a ",
    "!!x ",
    "? ",
    "- ",
    "# ",
    "|\n",
    "\u{0}",
    "\u{2028}",
    "\u{1f600}",
    "\t",
];

fn mutate(text: &str, others: &[String], dice: &mut Dice) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(6) {
        let at = dice.below(letters.len() + 1);
        let end = (at + dice.below(24)).min(letters.len());
        match dice.below(9) {
            0 => drop(letters.splice(at..at, dice.pick(&SHARP).chars())),
            1 => drop(letters.splice(at..end, dice.pick(&SHARP).chars())),
            2 => drop(letters.drain(at..end)),
            3 => {
                let part = letters[at..end].to_vec();
                let part = part.repeat(1 + dice.below(5));
                drop(letters.splice(at..at, part));
            }
            4 => {
                let other: Vec<char> = dice.pick(others).chars().collect();
                let begin = dice.below(other.len() + 1);
                let stop = (begin + dice.below(200)).min(other.len());
                drop(letters.splice(at..at, other[begin..stop].iter().copied()));
            }
            5 => replace_value(&mut letters, at, dice),
            6 => swap_lines(&mut letters, dice),
            7 => letters.truncate(at),
            _ => {
                if let Some(letter) = letters.get_mut(at) {
                    *letter = *dice.pick(&[' ', '\n', ':', '-', '{', '}', '[', ']', '"', '0', 'x']);
                }
            }
        }
    }
    letters.into_iter().collect()
}

/// Puts something sharp in place of the value behind the next colon.
fn replace_value(letters: &mut Vec<char>, at: usize, dice: &mut Dice) {
    let sign = |c: &char| *c == ':' || *c == '=';
    let Some(colon) = letters[at..].iter().position(sign).map(|offset| at + offset + 1) else {
        return;
    };
    let ends = |c: &char| matches!(c, '\n' | ',' | '}' | ']');
    let end = letters[colon..].iter().position(ends).map_or(letters.len(), |o| colon + o);
    let value = format!(" {}", dice.pick(&SHARP));
    drop(letters.splice(colon..end, value.chars()));
}

fn swap_lines(letters: &mut Vec<char>, dice: &mut Dice) {
    let text: String = letters.iter().collect();
    let mut lines: Vec<&str> = text.split('\n').collect();
    let (one, other) = (dice.below(lines.len()), dice.below(lines.len()));
    lines.swap(one, other);
    *letters = lines.join("\n").chars().collect();
}

/// Steps of variables, those that lead somewhere and others.
const STEPS: [&str; 22] = [
    "POOLS", "POOLS", "POOLS", "THUMBS", "A", "API", "WORKERS", "MAX", "DECIDER", "TYPE", "PARTS",
    "SIGNALS", "0", "1", "QUEUE", "GUARDS", "COOLDOWN", "UP", "BUDGET", "HEALTH", "RULES", "",
];

/// A variable that somebody may have set.
fn variable(dice: &mut Dice) -> (String, String) {
    let steps: Vec<&str> = (0..=dice.below(5)).map(|_| *dice.pick(&STEPS)).collect();
    (format!("HEADCOUNT_{}", steps.join("__")), (*dice.pick(&SHARP)).to_owned())
}

/// Whatever it says, it is refused with reasons, or it is right all the way.
fn check(reader: &Reader, name: &str, text: &str) {
    let reading = match reader.parse(name, text) {
        Ok(reading) => reading,
        Err(report) => {
            assert!(!report.findings().is_empty(), "refused without a reason");
            assert!(report.findings().iter().all(|finding| !finding.advice.is_empty()));
            return;
        }
    };
    let registry = registry();
    for pool in &reading.config.pools {
        pool.autoscaler(&registry).expect("its parts were tried out");
        let _not_built = pool.thread_pool();
    }
    for (format, name) in [(Format::Yaml, "back.yaml"), (Format::Json, "back.json")] {
        let text = reading.config.write(format).expect("it says everything");
        let back = Config::parse(name, &text, &registry);
        let back = back.unwrap_or_else(|report| panic!("{report}\n{text}"));
        assert_eq!(back, reading.config, "{text}");
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[allow(clippy::print_stderr, reason = "who runs it for an hour wants to know how far it came")]
fn whatever_stands_in_a_file_it_is_read_or_refused() {
    let seed = number("HEADCOUNT_FUZZ_SEED", 1);
    let lasts = Duration::from_secs(number("HEADCOUNT_FUZZ_SECONDS", 5));
    let paths = [corpus("bad"), corpus("good")].concat();
    let texts: Vec<String> =
        paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    let (sender, tried) = channel();
    let runner = thread::spawn(move || {
        let reader = Reader::new(&registry()).cores(8);
        let mut dice = Dice(seed);
        let begin = Instant::now();
        let mut count: u64 = 0;
        while begin.elapsed() < lasts {
            let text: &String = dice.pick(&texts);
            let text = mutate(text, &texts, &mut dice);
            let name = *dice.pick(&["a.yaml", "a.yaml", "a.yaml", "a.toml", "a.json"]);
            let variables: Vec<(String, String)> =
                (0..dice.below(3)).map(|_| variable(&mut dice)).collect();
            // Told before it is tried, so that the one that hangs is known.
            let told = format!("{variables:?}\n{text}");
            sender.send((count, name, told)).expect("somebody listens");
            check(&reader.clone().variables(variables), name, &text);
            count += 1;
        }
        count
    });
    let mut last = (0, "", String::new());
    loop {
        match tried.recv_timeout(EACH_MAX) {
            Ok(next) => last = next,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                panic!("seed {seed}, file {} ({}) takes too long:\n{}", last.0, last.1, last.2)
            }
        }
    }
    let Ok(count) = runner.join() else {
        panic!("seed {seed}, file {} ({}):\n{}", last.0, last.1, last.2)
    };
    assert!(0 < count, "nothing was tried");
    eprintln!("{count} files with seed {seed}");
}
