//! The jobs: each is this program, told what to do.

use std::hint::black_box;
use std::io::Read;
use std::net::TcpStream;
use std::process::ExitCode;

/// Does what the words say: `compute ROUNDS ITEM`, or `call ADDRESS ITEM`.
pub fn job(words: &[String]) -> ExitCode {
    let done = match words {
        [what, how, _item] if what == "compute" => how.parse().ok().map(compute),
        [what, where_to, _item] if what == "call" => call(where_to),
        _ => None,
    };
    match done {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    }
}

fn compute(rounds: u64) {
    let mut state = 1_u64;
    for round in 0..rounds {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round));
    }
}

/// Waits for the server's answer.
fn call(address: &str) -> Option<()> {
    let mut answer = [0];
    TcpStream::connect(address).ok()?.read_exact(&mut answer).ok()
}
