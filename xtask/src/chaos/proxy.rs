//! A TCP proxy before the server, one for each worker: each direction by itself passes on, holds back,
//! delays or swallows what comes through, and all connections can be cut.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::chore::Failure;

/// What happens to the bytes of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// They go through.
    Passes,
    /// They stand still, and come late once they pass again: a black hole that ends.
    Held,
    /// Each piece is this late.
    Delayed(Duration),
    /// They are taken and never handed on.
    Swallowed,
}

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From the worker to the server.
    Up,
    /// From the server to the worker.
    Down,
}

#[derive(Debug)]
struct State {
    up: Flow,
    down: Flow,
    /// The open connections by number, both ends of each.
    open: BTreeMap<u64, [TcpStream; 2]>,
    /// The number of the next one.
    next: u64,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    target: SocketAddr,
}

/// The proxy of one worker.
#[derive(Debug, Clone)]
pub(super) struct Link {
    shared: Arc<Shared>,
    port: u16,
}

impl Link {
    /// Listens on a free port, before `target`. Its threads live as long as this process.
    pub(super) fn open(target: SocketAddr) -> Result<Self, Failure> {
        let cannot = Failure::system("cannot listen for a worker");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(cannot)?;
        let port = listener.local_addr().map_err(Failure::system("cannot listen for a worker"))?.port();
        let state = State { up: Flow::Passes, down: Flow::Passes, open: BTreeMap::new(), next: 0 };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), target });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A server that is down refuses, and so does its proxy.
                let _refused = accepting.connect(client);
            }
        });
        Ok(Self { shared, port })
    }

    /// Where the worker connects to.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// From now on this happens to what goes this way.
    pub(super) fn set(&self, way: Way, flow: Flow) {
        let mut state = self.shared.lock();
        match way {
            Way::Up => state.up = flow,
            Way::Down => state.down = flow,
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Everything passes again.
    pub(super) fn heal(&self) {
        self.set(Way::Up, Flow::Passes);
        self.set(Way::Down, Flow::Passes);
    }

    /// Ends all connections, with whatever was under way on them.
    pub(super) fn cut(&self) {
        let open = std::mem::take(&mut self.shared.lock().open);
        open.into_values().for_each(close);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(self.target)?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (client_too, server_too) = (client.try_clone()?, server.try_clone()?);
        let ends = [client.try_clone()?, server.try_clone()?];
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.open.insert(number, ends);
        drop(state);
        for (from, to, way) in [(client, server, Way::Up), (server_too, client_too, Way::Down)] {
            let shared = Arc::clone(self);
            thread::spawn(move || {
                // However it broke, both ends are closed.
                let _broke = shared.pump(&from, &to, way);
                let ends = shared.lock().open.remove(&number);
                ends.into_iter().for_each(close);
            });
        }
        Ok(())
    }

    fn pump(&self, mut from: &TcpStream, mut to: &TcpStream, way: Way) -> io::Result<()> {
        let mut bytes = [0; 16 * 1024];
        loop {
            let count = from.read(&mut bytes)?;
            if count == 0 {
                return Ok(());
            }
            if self.lets_through(way) {
                to.write_all(&bytes[..count])?;
            }
        }
    }

    /// Waits as the direction wants it; whether the piece is to be handed on.
    fn lets_through(&self, way: Way) -> bool {
        let mut state = self.lock();
        loop {
            let flow = match way {
                Way::Up => state.up,
                Way::Down => state.down,
            };
            match flow {
                Flow::Passes => return true,
                Flow::Swallowed => return false,
                Flow::Delayed(time) => {
                    drop(state);
                    thread::sleep(time);
                    return true;
                }
                Flow::Held => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

fn close(ends: [TcpStream; 2]) {
    for end in ends {
        // One that is closed already needs no closing.
        let _closed = end.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that sends back what it gets.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || io::copy(&mut &stream, &mut &stream));
            }
        });
        address
    }

    fn connected(link: &Link) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, link.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        stream
    }

    fn comes_back(mut stream: &TcpStream) -> io::Result<()> {
        stream.read_exact(&mut [0; 4])
    }

    #[test]
    fn what_is_held_in_either_direction_comes_late_and_whole() {
        let link = Link::open(echo()).unwrap();
        let mut stream = connected(&link);
        for way in [Way::Up, Way::Down] {
            link.set(way, Flow::Held);
            stream.write_all(b"ping").unwrap();
            assert!(comes_back(&stream).is_err(), "{way:?}");
            link.heal();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            comes_back(&stream).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        }
    }

    #[test]
    fn what_is_swallowed_never_comes_and_what_is_cut_is_closed() {
        let link = Link::open(echo()).unwrap();
        let mut stream = connected(&link);
        link.set(Way::Down, Flow::Swallowed);
        stream.write_all(b"ping").unwrap();
        assert!(comes_back(&stream).is_err());
        link.heal();
        link.cut();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let ended = stream.read(&mut [0; 4]);
        assert!(
            matches!(&ended, Ok(0)) || ended.is_err_and(|error| error.kind() != io::ErrorKind::WouldBlock)
        );
    }
}
