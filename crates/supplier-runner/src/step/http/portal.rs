//! The port to a portal: one POST and its answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::header::HeaderMap;

/// A call.
#[derive(Clone, PartialEq, Eq)]
pub struct PortalCall {
    /// Where to.
    pub url: Url,
    /// All headers but those of the transport itself.
    pub headers: HeaderMap,
    /// What is sent.
    pub body: Arc<str>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortalAnswer {
    /// The HTTP status code.
    pub status: u16,
    /// How long the portal asks to be left alone.
    pub retry_after: Option<Duration>,
    /// The body, its first 1 MiB at most.
    pub body: Vec<u8>,
    /// Whether the body goes on after that.
    pub cut: bool,
}

/// A call without an answer. Whether it reached the portal is not known: the idempotency key is for
/// that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PortalError {
    /// No connection.
    #[error("no connection: {0}")]
    Connect(String),
    /// The connection broke before the answer was complete.
    #[error("no answer: {0}")]
    Broken(String),
}

/// Calls portals.
#[cfg_attr(test, mockall::automock)]
#[async_trait]
pub trait Portal: Send + Sync {
    /// Sends one POST and reads the answer. No redirect is followed, and memory is bounded.
    ///
    /// # Errors
    /// When there is no whole answer.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection; the portal may have taken the call all the same.
    async fn post(&self, call: &PortalCall) -> Result<PortalAnswer, PortalError>;
}

impl fmt::Debug for PortalCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address and the headers' values may hold secrets.
        let names: Vec<&str> = self.headers.keys().map(|name| name.as_str()).collect();
        f.debug_struct("PortalCall").field("headers", &names).finish_non_exhaustive()
    }
}
