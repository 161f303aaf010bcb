//! A stand-in for what lies between a store and its server: it can lose answers and drop settings,
//! as broken lines and poolers do, and end TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// What the proxy does to what passes.
#[derive(Clone, Default)]
pub(crate) struct Mischief {
    /// The answer to a message with these bytes is lost, and the connection with it…
    pub(crate) lose_answer_to: Option<&'static str>,
    /// …or the message itself is.
    pub(crate) lose_message_with: Option<&'static str>,
    /// So often.
    pub(crate) times: u32,
    /// Startup messages lose their `options`.
    pub(crate) drop_options: bool,
    /// The proxy speaks TLS.
    pub(crate) tls: Option<TlsAcceptor>,
}

/// A running proxy; dropped, it takes no further connections.
pub(crate) struct Proxy {
    pub(crate) url: String,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    mischief: Mischief,
    left: AtomicU32,
}

impl Proxy {
    /// A proxy in front of the server that `url` names.
    pub(crate) async fn before(url: &str, mischief: Mischief) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let (server, proxied) = through(url, port);
        let left = AtomicU32::new(mischief.times);
        let shared = Arc::new(Shared { mischief, left });
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, server.clone(), Arc::clone(&shared)));
            }
        });
        Self { url: proxied, task }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The server's address, and the URL that leads through the proxy instead.
fn through(url: &str, port: u16) -> (String, String) {
    let (scheme, rest) = url.split_once("://").expect("a URL");
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, host) = authority.rsplit_once('@').unwrap_or(("postgres", authority));
    assert!(host.contains(':') && !host.starts_with('%'), "tests need a server on a TCP port, not {host}");
    (host.to_owned(), format!("{scheme}://{user}@localhost:{port}{path}"))
}

async fn serve(mut client: TcpStream, server: String, shared: Arc<Shared>) -> std::io::Result<()> {
    let mut upstream = TcpStream::connect(server).await?;
    let mut startup = message(&mut client).await?;
    // The request for TLS: 8 bytes with a code of their own.
    if startup.len() == 8 {
        let Some(acceptor) = shared.mischief.tls.clone() else {
            client.write_all(b"N").await?;
            startup = message(&mut client).await?;
            upstream.write_all(&shared.startup(startup)).await?;
            return forward(client, upstream, shared).await;
        };
        client.write_all(b"S").await?;
        let mut client = acceptor.accept(client).await?;
        startup = message(&mut client).await?;
        upstream.write_all(&shared.startup(startup)).await?;
        return forward(client, upstream, shared).await;
    }
    upstream.write_all(&shared.startup(startup)).await?;
    forward(client, upstream, shared).await
}

/// Passes on what comes from either side until one of them ends, or mischief is done.
async fn forward<C>(client: C, upstream: TcpStream, shared: Arc<Shared>) -> std::io::Result<()>
where
    C: AsyncRead + AsyncWrite + Send + 'static,
{
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, mut to_server) = upstream.into_split();
    let cut = Arc::new(Notify::new());
    let cutting = Arc::clone(&cut);
    let up = async move {
        let mut buffer = vec![0_u8; 64 * 1024];
        loop {
            let read = from_client.read(&mut buffer).await?;
            if read == 0 {
                return Ok::<(), std::io::Error>(());
            }
            if shared.hits(shared.mischief.lose_message_with, &buffer[..read]) {
                return Ok(());
            }
            if shared.hits(shared.mischief.lose_answer_to, &buffer[..read]) {
                cutting.notify_one();
            }
            to_server.write_all(&buffer[..read]).await?;
        }
    };
    let down = async move {
        let mut buffer = vec![0_u8; 64 * 1024];
        let mut lost = false;
        loop {
            let read = tokio::select! {
                biased;
                () = cut.notified(), if !lost => { lost = true; continue; }
                read = from_server.read(&mut buffer) => read?,
            };
            // The server has answered: what it was asked for is done.
            if read == 0 || lost {
                return Ok::<(), std::io::Error>(());
            }
            to_client.write_all(&buffer[..read]).await?;
        }
    };
    tokio::select! { ended = up => ended, ended = down => ended }
}

impl Shared {
    fn hits(&self, marker: Option<&str>, bytes: &[u8]) -> bool {
        let found = marker
            .is_some_and(|marker| bytes.windows(marker.len()).any(|window| window == marker.as_bytes()));
        let one_less = |left: u32| left.checked_sub(1);
        found && self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
    }

    /// A startup message, without its options where they are to be dropped.
    fn startup(&self, message: Vec<u8>) -> Vec<u8> {
        if !self.mischief.drop_options {
            return message;
        }
        let words: Vec<&[u8]> = message[8..].split(|byte| *byte == 0).collect();
        let mut kept = message[4..8].to_vec();
        for pair in
            words.chunks(2).filter(|pair| pair.len() == 2 && !pair[0].is_empty() && pair[0] != b"options")
        {
            for word in pair {
                kept.extend_from_slice(word);
                kept.push(0);
            }
        }
        kept.push(0);
        let length = u32::try_from(kept.len() + 4).expect("a short message");
        [length.to_be_bytes().to_vec(), kept].concat()
    }
}

/// One message without a type: its length, and the rest.
async fn message(client: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Vec<u8>> {
    let length = client.read_u32().await?;
    let mut message = length.to_be_bytes().to_vec();
    let rest = usize::try_from(length).unwrap_or(0).saturating_sub(4);
    message.resize(4 + rest, 0);
    client.read_exact(&mut message[4..]).await?;
    Ok(message)
}
