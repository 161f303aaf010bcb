//! Polls futures by hand, so that tests need no executor and every run is the same.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::clock::FakeClock;

/// Remembers that it was woken.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Polls a future until it is done or waits for something that has not happened yet.
pub fn until_stalled<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(Arc::clone(&flag));
    loop {
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_ready() || !flag.0.swap(false, Ordering::SeqCst) {
            return polled;
        }
    }
}

/// The result of a future that has nothing to wait for; `None` if it waits all the same (it is then
/// dropped).
pub fn at_once<F: Future>(future: F) -> Option<F::Output> {
    match until_stalled(pin!(future)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Runs a future to its end. Whenever it waits, the clock moves on to the next instant that anybody
/// sleeps for. `None` if it waits while nobody sleeps: for an answer that never comes, for example.
pub fn run<F: Future>(clock: &FakeClock, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    loop {
        match until_stalled(future.as_mut()) {
            Poll::Ready(output) => return Some(output),
            Poll::Pending if clock.advance_to_next_wake() => {}
            Poll::Pending => return None,
        }
    }
}
