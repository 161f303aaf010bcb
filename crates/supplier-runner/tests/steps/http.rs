//! HTTP steps over a real socket.

use std::sync::Arc;
use std::time::Duration;

use supplier_runner::step::{Step, StepEnd};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::portal::TestPortal;
use crate::world::{PATIENCE, World, ended, failure, only_step, receipt};

fn step(world: &World, url: &str) -> Arc<dyn Step> {
    let headers = r#"{ Authorization = "Bearer ${PORTAL_TOKEN}", "X-Buyer" = "ours" }"#;
    only_step(&world.single(&format!("http = {{ url = \"{url}\", headers = {headers} }}")))
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

#[tokio::test]
async fn the_document_is_posted_with_the_key_the_run_and_the_token() {
    let world = World::new();
    let portal = TestPortal::answering(answer("201 Created", "", r#"{"id": 9007199254740993}"#)).await;
    let request = world.request(7);
    let end = ended(&step(&world, &portal.url("/suppliers?a=b")), &request).await;
    assert_eq!(receipt(end), r#"{"id":9007199254740993}"#);
    let [received] = &portal.received()[..] else { panic!("one request") };
    let run = request.run().to_string();
    let key = format!("{run}:done");
    assert!(received.head.starts_with("POST /suppliers?a=b HTTP/1.1\r\n"), "{}", received.head);
    for (name, value) in [
        ("Content-Type", "application/json"),
        ("Idempotency-Key", key.as_str()),
        ("Run-Id", run.as_str()),
        ("Fencing-Token", "7"),
        ("Authorization", "Bearer t0ps3cret"),
        ("X-Buyer", "ours"),
    ] {
        assert_eq!(received.header(name), Some(value), "{name}");
    }
    assert_eq!(received.body, **request.document());
}

#[tokio::test]
async fn body_and_key_are_the_same_on_every_attempt_and_the_token_is_not() {
    let world = World::new();
    let portal = TestPortal::answering(answer("503 Busy", "", "")).await;
    let step = step(&world, &portal.url("/"));
    for fence in [1, 2] {
        assert!(matches!(ended(&step, &world.request(fence)).await, StepEnd::Again { .. }));
    }
    let [first, second] = &portal.received()[..] else { panic!("two requests") };
    assert_eq!(first.body, second.body);
    assert_eq!(first.header("Idempotency-Key"), second.header("Idempotency-Key"));
    assert_eq!((first.header("Fencing-Token"), second.header("Fencing-Token")), (Some("1"), Some("2")));
}

#[tokio::test]
async fn an_empty_2xx_is_an_empty_receipt_and_other_bodies_are_failures() {
    let world = World::new();
    let portal = TestPortal::answering(answer("204 No Content", "", "")).await;
    assert_eq!(receipt(ended(&step(&world, &portal.url("/")), &world.request(1)).await), "{}");
    let portal = TestPortal::answering(answer("200 OK", "", "thanks")).await;
    let message = failure(ended(&step(&world, &portal.url("/")), &world.request(1)).await);
    assert!(message.contains("answered with 200 is no receipt: .: not valid JSON"), "{message}");
}

#[tokio::test]
async fn a_busy_portal_says_when_to_come_again() {
    let world = World::new();
    for (header, seconds) in [
        ("Retry-After: 7\r\n", 7),
        ("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:07 GMT\r\n", 30),
    ] {
        let portal = TestPortal::answering(answer("429 Slow Down", header, "slowly")).await;
        let end = ended(&step(&world, &portal.url("/")), &world.request(1)).await;
        let StepEnd::Again { message, after } = end else { panic!("not again: {end:?}") };
        assert!(message.ends_with("answered 429: slowly"), "{message}");
        assert_eq!(after, Some(Duration::from_secs(seconds)));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let world = World::new();
    let elsewhere = TestPortal::answering(answer("200 OK", "", "{}")).await;
    let location = format!("Location: {}\r\n", elsewhere.url("/"));
    let portal = TestPortal::answering(answer("307 Elsewhere", &location, "")).await;
    let message = failure(ended(&step(&world, &portal.url("/")), &world.request(1)).await);
    assert!(message.ends_with("answered 307, a redirect, which is not followed"), "{message}");
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn a_refusal_is_a_failure_that_repeats_no_secret() {
    let world = World::new();
    let portal = TestPortal::answering(answer("401 No", "", "unknown token t0ps3cret")).await;
    let url = format!("{}?k=${{PORTAL_TOKEN}}", portal.url("/"));
    let message = failure(ended(&step(&world, &url), &world.request(1)).await);
    assert_eq!(message, format!("{url} answered 401: unknown token ***"));
    assert!(portal.received()[0].head.starts_with("POST /?k=t0ps3cret HTTP/1.1"));
}

#[tokio::test]
async fn no_connection_and_a_broken_one_are_tried_again_and_name_no_secret() {
    let world = World::new();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}/?k=${{PORTAL_TOKEN}}", closed.local_addr().unwrap());
    drop(closed);
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{";
    let (silent, half) = (TestPortal::answering("").await, TestPortal::answering(cut).await);
    for (url, why) in
        [(nobody, "no connection"), (silent.url("/"), "no answer"), (half.url("/"), "no answer")]
    {
        let end = ended(&step(&world, &url), &world.request(1)).await;
        let StepEnd::Again { message, after: None } = end else { panic!("not again: {end:?}") };
        assert!(message.starts_with(&format!("{url}: {why}: ")), "{message}");
        assert!(!message.contains("t0ps3cret"), "{message}");
    }
}

/// Case 24, for portals.
#[tokio::test]
async fn case_24_an_endless_answer_is_cut_off() {
    let world = World::new();
    let (ended_at, mut ends) = mpsc::unbounded_channel();
    let portal = TestPortal::start(move |mut stream: TcpStream| {
        let ended_at = ended_at.clone();
        async move {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n").await.unwrap();
            let chunk = vec![b' '; 64 * 1024];
            let mut sent = 0_u64;
            while stream.write_all(&chunk).await.is_ok() {
                sent += 64 * 1024;
            }
            ended_at.send(sent).unwrap();
        }
    })
    .await;
    let message = failure(ended(&step(&world, &portal.url("/")), &world.request(1)).await);
    assert!(message.ends_with("answered 200 with more than 1 MiB"), "{message}");
    let sent = tokio::time::timeout(PATIENCE, ends.recv()).await.unwrap().unwrap();
    // What lies in the buffers of both sides comes on top of the limit.
    assert!(sent < 64 * 1024 * 1024, "{sent}");
}

/// Case 25.
#[tokio::test]
async fn case_25_an_answer_that_no_store_keeps_is_refused_with_its_path() {
    let world = World::new();
    let portal = TestPortal::answering(answer("200 OK", "", r#"{"a": {"b": ["\u0000"]}}"#)).await;
    let message = failure(ended(&step(&world, &portal.url("/")), &world.request(1)).await);
    assert!(message.ends_with("a.b[0]: holds a NUL character (\\u0000)"), "{message}");
}

#[tokio::test]
async fn dropping_the_step_closes_the_connection() {
    let world = World::new();
    let (told, mut events) = mpsc::unbounded_channel();
    let portal = TestPortal::start(move |mut stream: TcpStream| {
        let told = told.clone();
        async move {
            told.send("asked").unwrap();
            let mut rest = Vec::new();
            // Both an end and a reset mean that the other side is gone.
            let _end = stream.read_to_end(&mut rest).await;
            told.send("closed").unwrap();
        }
    })
    .await;
    let (step, request) = (step(&world, &portal.url("/")), world.request(1));
    let running = tokio::spawn(async move { step.run(&request).await });
    assert_eq!(tokio::time::timeout(PATIENCE, events.recv()).await.unwrap(), Some("asked"));
    running.abort();
    assert_eq!(tokio::time::timeout(PATIENCE, events.recv()).await.unwrap(), Some("closed"));
}
