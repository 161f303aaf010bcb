//! The line between a worker and its database, which the test can cut and mend.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use url::Url;

/// A proxy in front of a database.
pub(crate) struct Line {
    url: String,
    cut: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    /// A line to the database with this URL.
    pub(crate) fn to(database: &str) -> Self {
        let mut url = Url::parse(database).unwrap();
        let host = url.host_str().unwrap_or("127.0.0.1").to_owned();
        let target = (host, url.port().unwrap_or(5432));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("bound to IPv4") };
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(address.port())).unwrap();
        let line = Self { url: url.into(), cut: Arc::default(), streams: Arc::default() };
        let (cut, streams) = (Arc::clone(&line.cut), Arc::clone(&line.streams));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if cut.load(Ordering::SeqCst) {
                    continue;
                }
                let server = TcpStream::connect((target.0.as_str(), target.1)).unwrap();
                let both = [&client, &server].map(|stream| stream.try_clone().unwrap());
                streams.lock().unwrap().extend(both);
                pump(client.try_clone().unwrap(), server.try_clone().unwrap());
                pump(server, client);
            }
        });
        line
    }

    /// The URL of the database at the end of the line.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Breaks every connection, and takes no new ones.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        for stream in self.streams.lock().unwrap().drain(..) {
            // It may have ended by itself.
            let _closed = stream.shutdown(Shutdown::Both);
        }
    }

    /// Takes connections again.
    pub(crate) fn mend(&self) {
        self.cut.store(false, Ordering::SeqCst);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        // Either side may break: that is what this is for.
        let _copied = io::copy(&mut from, &mut to);
        let _closed = to.shutdown(Shutdown::Both);
    });
}
