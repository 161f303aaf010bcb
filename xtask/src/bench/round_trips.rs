//! Counts round trips: a door before the server through which a program's connections go.
//!
//! The server says that it is ready for the next request once for each (ReadyForQuery), whatever
//! number of statements and messages the request was made of. That is one round trip: the program
//! has waited for it. Source: "Frontend/Backend Protocol" of PostgreSQL's documentation.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::chore::Failure;

/// How many there were, by what they were for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoundTrips {
    /// To open a connection.
    pub(super) opening: u32,
    /// To have a statement prepared, once for each on a connection.
    pub(super) preparing: u32,
    /// To do something.
    pub(super) working: u32,
}

/// The door.
#[derive(Debug)]
pub(super) struct Door {
    address: SocketAddr,
    counts: Arc<Mutex<RoundTrips>>,
}

impl Door {
    /// Opens it on a free loopback port. It stays open while this process lives.
    pub(super) fn open(server: SocketAddr) -> Result<Self, Failure> {
        let cannot = || Failure::system("cannot stand before the server");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(cannot())?;
        let address = listener.local_addr().map_err(cannot())?;
        let counts = Arc::new(Mutex::default());
        let counting = Arc::clone(&counts);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A connection that cannot be made is closed, which the program sees and reports.
                let _passed = pass(client, server, &counting);
            }
        });
        Ok(Self { address, counts })
    }

    /// Where programs connect to.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was counted so far.
    pub(super) fn counted(&self) -> RoundTrips {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands one connection's bytes on, both ways.
fn pass(client: TcpStream, server: SocketAddr, counts: &Arc<Mutex<RoundTrips>>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut asked, mut asking) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ended = io::copy(&mut asked, &mut asking);
        let _closed = asking.shutdown(Shutdown::Write);
    });
    let counts = Arc::clone(counts);
    thread::spawn(move || {
        let _ended = hand_back(server, &client, &counts);
        let _closed = client.shutdown(Shutdown::Both);
    });
    Ok(())
}

fn hand_back(mut server: TcpStream, mut client: &TcpStream, counts: &Mutex<RoundTrips>) -> io::Result<()> {
    let mut messages = Messages::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = server.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        let bytes = &buffer[..length];
        // Counted before the program can see it, so that no count is still to come when it has ended.
        messages.see(bytes, &mut counts.lock().unwrap_or_else(PoisonError::into_inner));
        client.write_all(bytes)?;
    }
}

/// What has been seen of one connection's answers. Each is a letter, a length and a body.
#[derive(Debug, Default)]
struct Messages {
    head: Vec<u8>,
    body_left: usize,
    authenticated: bool,
    parsed: bool,
    bound: bool,
}

impl Messages {
    fn see(&mut self, mut bytes: &[u8], counts: &mut RoundTrips) {
        while !bytes.is_empty() {
            let skipped = self.body_left.min(bytes.len());
            self.body_left -= skipped;
            bytes = &bytes[skipped..];
            let Some((first, rest)) = bytes.split_first() else { return };
            self.head.push(*first);
            bytes = rest;
            if let [letter, a, b, c, d] = self.head[..] {
                // The length counts itself.
                let length = u32::from_be_bytes([a, b, c, d]).saturating_sub(4);
                self.body_left = usize::try_from(length).unwrap_or(usize::MAX);
                self.head.clear();
                self.message(letter, counts);
            }
        }
    }

    fn message(&mut self, letter: u8, counts: &mut RoundTrips) {
        match letter {
            b'R' => self.authenticated = true,
            b'1' => self.parsed = true,
            b'2' => self.bound = true,
            b'Z' => {
                let kind = if self.authenticated {
                    &mut counts.opening
                } else if self.parsed && !self.bound {
                    &mut counts.preparing
                } else {
                    &mut counts.working
                };
                *kind += 1;
                *self = Self::default_after(self);
            }
            _ => {}
        }
    }

    /// The next request is another one; the bytes go on where they are.
    fn default_after(before: &Self) -> Self {
        Self { body_left: before.body_left, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(letter: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[letter][..], &length, body].concat()
    }

    #[test]
    fn a_round_trip_is_an_answer_whatever_its_pieces() {
        let answers = [
            message(b'R', &[0; 4]),
            message(b'S', b"name\0value\0"),
            message(b'Z', b"I"),
            message(b'1', b""),
            message(b'T', b"ZZZZZ1234"),
            message(b'Z', b"I"),
            message(b'2', b""),
            message(b'D', b"Z\0\0\0\x05I"),
            message(b'C', b"SELECT 1\0"),
            message(b'Z', b"I"),
        ]
        .concat();
        for piece in 1..answers.len() {
            let (mut messages, mut counts) = (Messages::default(), RoundTrips::default());
            for bytes in answers.chunks(piece) {
                messages.see(bytes, &mut counts);
            }
            assert_eq!(counts, RoundTrips { opening: 1, preparing: 1, working: 1 }, "{piece}");
        }
    }
}
