//! What the end-to-end tests stand on: a fresh database each, the built program, and waiting with a
//! deadline.
//!
//! The server is the one that `DATABASE_URL` names; `cargo xtask test` starts one. Without it these
//! tests fail: none is skipped.

mod database;
mod files;
mod program;

pub(crate) use database::Database;
pub(crate) use files::{Folder, example, supplier};
pub(crate) use program::{Ended, Program, Started};

use std::thread;
use std::time::{Duration, Instant};

/// How long something that has to happen may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `look` finds something, and gives it.
///
/// # Panics
/// When it does not within a minute.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < give_up, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
