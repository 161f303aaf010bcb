//! A signal that work may have come, for whoever waits on the fake store.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use async_trait::async_trait;
use lease_core::WorkSignal;

/// Counts changes; each listener remembers the last one it has seen.
#[derive(Debug, Default)]
pub(crate) struct Bell(Mutex<Ringing>);

#[derive(Debug, Default)]
struct Ringing {
    rung: u64,
    waiting: Vec<Waker>,
}

/// One listener of a [`Bell`].
#[derive(Debug)]
pub(crate) struct Listener {
    bell: Arc<Bell>,
    heard: Mutex<u64>,
}

impl Bell {
    fn lock(&self) -> MutexGuard<'_, Ringing> {
        self.0.lock().expect("nothing panics while it holds the bell")
    }

    pub(crate) fn ring(&self) {
        let waiting = {
            let mut ringing = self.lock();
            ringing.rung += 1;
            std::mem::take(&mut ringing.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn listener(self: &Arc<Self>) -> Listener {
        let heard = Mutex::new(self.lock().rung);
        Listener { bell: Arc::clone(self), heard }
    }
}

#[async_trait]
impl WorkSignal for Listener {
    async fn changed(&self) {
        poll_fn(|context| {
            let mut ringing = self.bell.lock();
            let mut heard = self.heard.lock().expect("nothing panics while it holds a listener");
            if *heard < ringing.rung {
                *heard = ringing.rung;
                return Poll::Ready(());
            }
            ringing.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
