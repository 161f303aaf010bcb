//! The portal behind its port, over HTTP/1.1 and TLS.

use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{DATE, HeaderName, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use time::OffsetDateTime;

use super::portal::{Portal, PortalAnswer, PortalCall, PortalError};
use super::retry_after::retry_after;
use crate::step::printed::ANSWER_LIMIT;

/// How long a connection may take to be made. How long the answer may take is the phase's timeout.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// How soon a silent connection is checked for life.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Calls portals over the network.
#[derive(Debug, Clone)]
pub struct HttpPortal(Client);

/// The client could not be set up: no trusted certificates were found, most likely.
#[derive(Debug, thiserror::Error)]
#[error("set up the HTTP client")]
pub struct NoHttpClient(#[source] reqwest::Error);

impl HttpPortal {
    /// A client that follows no redirect, uses no proxy of the environment and keeps no cookies.
    /// Without `tls` it can do without the system's certificates, and refuses every server that
    /// would need them.
    ///
    /// # Errors
    /// When the system's certificates cannot be read.
    pub fn new(tls: bool) -> Result<Self, NoHttpClient> {
        // The error is the provider that is installed already, which is as good.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_LIMIT)
            .tcp_keepalive(KEEP_ALIVE)
            .user_agent(concat!("supplier-setup/", env!("CARGO_PKG_VERSION")));
        let client = if tls { client } else { client.tls_certs_only([]) };
        client.build().map(Self).map_err(NoHttpClient)
    }
}

#[async_trait]
impl Portal for HttpPortal {
    async fn post(&self, call: &PortalCall) -> Result<PortalAnswer, PortalError> {
        let request = self.0.post(call.url.clone()).headers(call.headers.clone()).body(call.body.to_string());
        let mut response = request.send().await.map_err(error)?;
        let status = response.status().as_u16();
        let header = |name: HeaderName| text(&response, name);
        let retry_after =
            header(RETRY_AFTER).and_then(|value| retry_after(value, header(DATE), OffsetDateTime::now_utc()));
        let mut body = Vec::new();
        let mut cut = false;
        while let Some(chunk) = response.chunk().await.map_err(error)? {
            let room = ANSWER_LIMIT - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                cut = true;
                break;
            }
        }
        Ok(PortalAnswer { status, retry_after, body, cut })
    }
}

fn text(response: &Response, name: HeaderName) -> Option<&str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

/// The error in words, with its causes and without the address, which may hold a secret.
fn error(error: reqwest::Error) -> PortalError {
    let connecting = error.is_connect();
    let error = error.without_url();
    let mut words = Vec::new();
    let mut cause: Option<&dyn Error> = Some(&error);
    while let Some(found) = cause {
        let said = found.to_string();
        if words.last() != Some(&said) {
            words.push(said);
        }
        cause = found.source();
    }
    let words = words.join(": ");
    if connecting { PortalError::Connect(words) } else { PortalError::Broken(words) }
}
