//! A server with a knee, on the loopback: beyond its capacity every call takes longer, and more
//! calls at once get less done.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Calls that it serves at once without anybody noticing.
pub(super) const CAPACITY: u32 = 12;
/// What a call takes at rest.
const SERVICE: Duration = Duration::from_millis(50);
/// How much worse it gets: twice the calls take 2^1.5 times as long.
const STEEPNESS: f64 = 1.5;
/// How often a call looks at how many there are.
const SLICE: Duration = Duration::from_millis(5);

/// Serves until it is dropped.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || serve(&listener, &is_over)
        });
        Ok(Self { address, is_over, thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        // One more call, so that it looks.
        drop(TcpStream::connect(self.address));
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

fn serve(listener: &TcpListener, is_over: &AtomicBool) {
    let inside = Arc::new(AtomicU32::new(0));
    for call in listener.incoming() {
        if is_over.load(SeqCst) {
            return;
        }
        let inside = Arc::clone(&inside);
        thread::spawn(move || {
            inside.fetch_add(1, SeqCst);
            work(&inside);
            inside.fetch_sub(1, SeqCst);
            // A caller that went away needs no answer.
            let _gone = call.and_then(|mut call| call.write_all(b"k"));
        });
    }
}

/// Does a call's work, the slower the more there are.
fn work(inside: &AtomicU32) {
    let mut left = SERVICE.as_secs_f64();
    let mut last = Instant::now();
    while 0.0 < left {
        let crowd = (f64::from(inside.load(SeqCst)) / f64::from(CAPACITY)).max(1.0);
        let speed = crowd.powf(-STEEPNESS);
        thread::sleep(SLICE.min(Duration::from_secs_f64(left / speed)));
        let now = Instant::now();
        left -= (now - last).as_secs_f64() * speed;
        last = now;
    }
}
