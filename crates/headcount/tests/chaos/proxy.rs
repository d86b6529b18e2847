//! A way to a server that can be cut in one direction: what is sent there arrives nowhere, and
//! nobody is told.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A way to a server.
pub(crate) struct Proxy {
    address: SocketAddr,
    cuts: Arc<Cuts>,
}

/// What goes nowhere.
#[derive(Debug, Default)]
struct Cuts {
    to_server: AtomicBool,
    from_server: AtomicBool,
}

/// A direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    ToServer,
    FromServer,
}

impl Cuts {
    fn of(&self, way: Way) -> &AtomicBool {
        match way {
            Way::ToServer => &self.to_server,
            Way::FromServer => &self.from_server,
        }
    }
}

impl Proxy {
    /// A way to the server at this port. It is there until the process ends.
    pub(crate) fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let cuts = Arc::<Cuts>::default();
        let way = Arc::clone(&cuts);
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                // A server that is away closes the door, as it would without a proxy.
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                carry(&near, &far, Way::ToServer, &way);
                carry(&far, &near, Way::FromServer, &way);
            }
        });
        Self { address, cuts }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    pub(crate) fn cut(&self, way: Way) {
        self.cuts.of(way).store(true, Ordering::Relaxed);
    }

    pub(crate) fn mend(&self, way: Way) {
        self.cuts.of(way).store(false, Ordering::Relaxed);
    }
}

/// Carries bytes from one end to the other. A connection of which a part was swallowed stays mute:
/// what comes after would make no sense.
fn carry(from: &TcpStream, to: &TcpStream, way: Way, cuts: &Arc<Cuts>) {
    let mut from = from.try_clone().expect("a connection can be held twice");
    let mut to = to.try_clone().expect("a connection can be held twice");
    let cuts = Arc::clone(cuts);
    std::thread::spawn(move || {
        let (mut piece, mut is_mute) = (vec![0; 64 << 10], false);
        while let Ok(len @ 1..) = from.read(&mut piece) {
            is_mute |= cuts.of(way).load(Ordering::Relaxed);
            if !is_mute && to.write_all(&piece[..len]).is_err() {
                break;
            }
        }
        // Whoever went tells the other one, unless that word is swallowed too.
        if !is_mute {
            let _ = to.shutdown(Shutdown::Both);
        }
    });
}
