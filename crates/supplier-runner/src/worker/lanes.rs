//! The threads that steps and heartbeats run on.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

/// Where a worker's steps and heartbeats run.
#[derive(Debug, Clone)]
pub struct Lanes {
    /// Runs the steps.
    pub steps: Handle,
    /// Runs the heartbeats, and owns the connection they use.
    pub heartbeats: Handle,
}

/// Threads for steps: as many as a worker has slots, so that steps which block their threads do not
/// hold up each other, nor claims and saves.
#[derive(Debug)]
pub struct StepThreads(Option<Runtime>);

/// The one thread for heartbeats.
#[derive(Debug)]
pub struct HeartbeatThread {
    handle: Handle,
    ended: Option<oneshot::Sender<()>>,
}

impl StepThreads {
    /// Starts them.
    ///
    /// # Errors
    /// When the system has no more threads.
    pub fn start(slots: usize) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(slots.max(1))
            .thread_name("step")
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// The handle to spawn on.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.0.as_ref().expect("the runtime is there until this is dropped").handle().clone()
    }
}

impl Drop for StepThreads {
    /// Does not wait: a step that blocks its thread may never return.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl HeartbeatThread {
    /// Starts it. Whatever heartbeats use (a pool of connections) must be made on it: see
    /// [`HeartbeatThread::handle`].
    ///
    /// # Errors
    /// When the system has no more threads.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (ended, until_ended) = oneshot::channel();
        thread::Builder::new().name("heartbeat".to_owned()).spawn(move || {
            // An error means the sender is gone, which is an end as well.
            let _ended = runtime.block_on(until_ended);
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, ended: Some(ended) })
    }

    /// The handle to spawn on.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Drop for HeartbeatThread {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            // Nobody listening means that the thread has ended already.
            let _sent = ended.send(());
        }
    }
}

/// A task that ends when its handle is dropped.
#[derive(Debug)]
pub(super) struct OwnedTask<T>(JoinHandle<T>);

impl<T: Send + 'static> OwnedTask<T> {
    pub(super) fn spawn(lane: &Handle, work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(lane.spawn(work))
    }
}

impl<T> Future for OwnedTask<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Drop for OwnedTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
