//! A step that is an HTTP call: the document is posted, the answer is the receipt.
//!
//! `Idempotency-Key`, `Run-Id` and `Fencing-Token` go with it. A 2xx with a JSON object or an empty body
//! is done; 408, 425, 429, 5xx and a broken connection are tried again; everything else is a failure,
//! redirects included. No message repeats a value that was filled into the plan.

mod portal;
mod retry_after;
mod wire;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use lease_core::Document;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

#[cfg(test)]
pub(crate) use portal::MockPortal;
pub use portal::{Portal, PortalAnswer, PortalCall, PortalError};
pub use wire::{HttpPortal, NoHttpClient};

use super::printed::{ANSWER_LIMIT, receipt_in, start_of};
use super::secrets::Secrets;
use super::{Step, StepEnd, StepRequest};

/// The headers that every call has and no plan may set, and those of the transport.
pub(crate) const OWN_HEADERS: [&str; 9] = [
    "content-type",
    "idempotency-key",
    "run-id",
    "fencing-token",
    "content-length",
    "transfer-encoding",
    "connection",
    "host",
    "expect",
];

/// A call and where it goes.
pub struct HttpStep {
    /// The address as the plan writes it, with nothing filled in: for messages.
    pub(crate) name: String,
    /// The address.
    pub(crate) url: Url,
    /// The plan's headers, filled in.
    pub(crate) headers: HeaderMap,
    /// The values that its messages must not repeat.
    pub(crate) secrets: Secrets,
    /// What sends it.
    pub(crate) portal: Arc<dyn Portal>,
}

impl HttpStep {
    /// `None` if the idempotency key is no header's value, which its parts' rules exclude.
    fn call(&self, request: &StepRequest) -> Option<PortalCall> {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("idempotency-key", HeaderValue::from_str(request.idempotency_key()).ok()?);
        headers.insert("run-id", HeaderValue::from_str(&request.run().to_string()).ok()?);
        headers.insert("fencing-token", HeaderValue::from(request.fence().get()));
        Some(PortalCall { url: self.url.clone(), headers, body: Arc::clone(request.document()) })
    }

    fn answered(&self, answer: PortalAnswer) -> StepEnd {
        let (name, status) = (&self.name, answer.status);
        match status {
            200..=299 if answer.cut => {
                let limit = ANSWER_LIMIT / (1024 * 1024);
                StepEnd::failed(format!("{name} answered {status} with more than {limit} MiB"))
            }
            200..=299 if answer.body.is_empty() => StepEnd::receipt(Document::default()),
            200..=299 => match receipt_in(&answer.body) {
                Ok(receipt) => StepEnd::receipt(receipt),
                Err(why) => {
                    StepEnd::failed(format!("what {name} answered with {status} is no receipt: {why}"))
                }
            },
            408 | 425 | 429 | 500..=599 => StepEnd::Again {
                message: format!("{name} answered {status}{}", self.said(&answer.body)),
                after: answer.retry_after,
            },
            300..=399 => {
                StepEnd::failed(format!("{name} answered {status}, a redirect, which is not followed"))
            }
            _ => StepEnd::failed(format!("{name} answered {status}{}", self.said(&answer.body))),
        }
    }

    fn said(&self, body: &[u8]) -> String {
        let start = start_of(&self.secrets.hide(&String::from_utf8_lossy(body)));
        if start.is_empty() { String::new() } else { format!(": {start}") }
    }
}

#[async_trait]
impl Step for HttpStep {
    fn is_quick(&self) -> bool {
        false
    }

    async fn run(&self, request: &StepRequest) -> StepEnd {
        let Some(call) = self.call(request) else {
            return StepEnd::failed("the idempotency key does not fit a header");
        };
        match self.portal.post(&call).await {
            Ok(answer) => self.answered(answer),
            Err(error) => StepEnd::again(format!("{}: {}", self.name, self.secrets.hide(&error.to_string()))),
        }
    }
}

impl fmt::Debug for HttpStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpStep").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::step::testing;

    fn step(portal: MockPortal) -> HttpStep {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer t0ps3cret"));
        HttpStep {
            name: "http://portal.example/suppliers?k=${KEY}".to_owned(),
            url: Url::parse("http://portal.example/suppliers?k=t0ps3cret").unwrap(),
            headers,
            secrets: Secrets::new(["t0ps3cret".to_owned()]),
            portal: Arc::new(portal),
        }
    }

    async fn end_of_step(answer: Result<PortalAnswer, PortalError>) -> StepEnd {
        let mut portal = MockPortal::new();
        portal.expect_post().times(1).return_once(|_| answer);
        step(portal).run(&testing::request_for("announced")).await
    }

    fn answer(status: u16, body: &[u8]) -> Result<PortalAnswer, PortalError> {
        Ok(PortalAnswer { status, retry_after: None, body: body.to_vec(), cut: false })
    }

    #[tokio::test]
    async fn the_call_carries_the_document_the_key_the_run_and_the_token_and_shows_no_secret() {
        let request = testing::request_for("announced");
        let (document, run) = (Arc::clone(request.document()), request.run());
        let mut portal = MockPortal::new();
        portal.expect_post().times(1).return_once(move |call| {
            assert_eq!(call.body, document);
            let header = |name: &str| call.headers[name].to_str().unwrap();
            assert_eq!(header("content-type"), "application/json");
            assert_eq!(header("idempotency-key"), format!("{run}:announced"));
            assert_eq!(header("run-id"), run.to_string());
            assert_eq!(header("fencing-token"), "7");
            assert_eq!(header("authorization"), "Bearer t0ps3cret");
            assert!(!format!("{call:?}").contains("t0ps3cret"));
            answer(204, b"")
        });
        let step = step(portal);
        assert!(!format!("{step:?}").contains("t0ps3cret"));
        assert_eq!(step.run(&request).await, StepEnd::receipt(Document::default()));
    }

    #[tokio::test]
    async fn a_2xx_with_an_object_is_the_receipt_and_any_other_body_is_a_failure() {
        let receipt = Document::from_json(br#"{"id": 9007199254740993}"#).unwrap();
        assert_eq!(end_of_step(answer(201, br#"{"id": 9007199254740993}"#)).await, StepEnd::receipt(receipt));
        for (body, why) in
            [(&b"OK"[..], "not valid JSON"), (b"[]", "not a JSON object"), (b" ", "it is empty")]
        {
            let StepEnd::Failed { message, .. } = end_of_step(answer(200, body)).await else { panic!() };
            assert!(message.starts_with("what http://portal.example/suppliers?k=${KEY} answered with 200"));
            assert!(message.contains(why), "{message}");
        }
        let cut = Ok(PortalAnswer { status: 200, retry_after: None, body: b"{}".to_vec(), cut: true });
        let StepEnd::Failed { message, .. } = end_of_step(cut).await else { panic!() };
        assert!(message.ends_with("answered 200 with more than 1 MiB"), "{message}");
    }

    #[tokio::test]
    async fn busy_portals_are_tried_again_when_they_say() {
        for status in [408, 425, 429, 500, 503, 599] {
            let after = Some(Duration::from_secs(9));
            let busy = PortalAnswer { status, retry_after: after, body: b"later".to_vec(), cut: true };
            let message = format!("http://portal.example/suppliers?k=${{KEY}} answered {status}: later");
            assert_eq!(end_of_step(Ok(busy)).await, StepEnd::Again { message, after });
        }
        let broken = end_of_step(Err(PortalError::Broken("reset, k=t0ps3cret".to_owned()))).await;
        let message = "http://portal.example/suppliers?k=${KEY}: no answer: reset, k=***".to_owned();
        assert_eq!(broken, StepEnd::Again { message, after: None });
    }

    #[tokio::test]
    async fn redirects_and_other_answers_are_failures_with_a_bounded_excerpt() {
        for status in [300, 302, 307, 399] {
            let StepEnd::Failed { message, .. } = end_of_step(answer(status, b"there")).await else {
                panic!()
            };
            assert!(message.ends_with("a redirect, which is not followed"));
        }
        for status in [400, 401, 404, 409, 418, 600] {
            let body = format!("no: Bearer t0ps3cret {}", "x".repeat(100_000));
            let end = end_of_step(answer(status, body.as_bytes())).await;
            let StepEnd::Failed { message, .. } = end else { panic!("{status} is a failure") };
            assert!(message.contains(&format!("answered {status}: no: Bearer *** xxx")));
            assert!(message.len() < 4 * 1024);
        }
    }
}
