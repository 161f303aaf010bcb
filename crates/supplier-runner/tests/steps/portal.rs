//! A portal that says what it is told to, and remembers what it was sent.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request as it came over the wire.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// A listening portal. It ends with the test's runtime.
pub(crate) struct TestPortal {
    address: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl TestPortal {
    /// A portal that gives this answer to everybody and then closes the connection.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Vec<u8> = answer.into();
        Self::start(move |mut stream: TcpStream| {
            let answer = answer.clone();
            async move {
                // The caller may have gone; that is its affair.
                let _gone = stream.write_all(&answer).await;
            }
        })
        .await
    }

    /// A portal that does this with every connection once it has read the request.
    pub(crate) async fn start<F, A>(answer: A) -> Self
    where
        F: Future<Output = ()> + Send,
        A: Fn(TcpStream) -> F + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                if let Some(request) = read(&mut stream).await {
                    kept.lock().unwrap().push(request);
                    answer(stream).await;
                }
            }
        });
        Self { address, received }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let request = Received { head: head.to_owned(), body: body.to_owned() };
            let length: usize = request.header("content-length")?.parse().ok()?;
            if request.body.len() == length {
                return Some(request);
            }
        }
    }
}
