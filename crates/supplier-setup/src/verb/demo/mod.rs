//! `demo`: shows a late save being turned away, live: two worker processes, one of them stopped in the
//! middle of a step, and a scratch database.
//!
//! Nothing is told that was not read from the database or heard from a worker just before, and what is
//! told as a fact is checked: the exit code is 0 only if every fact holds.

mod line;
mod player;
mod scratch;
mod story;
mod telling;
mod worker;

use tokio::signal::unix::{SignalKind, signal};

use self::scratch::Scratch;
use self::story::Story;
use self::telling::Telling;
use super::Context;
use crate::arguments::Common;
use crate::database::{Database, Schema};
use crate::error::Error;
use crate::exit::Exit;
use crate::worker_settings::plain_connections;

pub(super) use worker::work as demo_worker;

/// What a reader has to know who has never heard of any of this.
const INTRODUCTION: &str = "\
Only one worker may set up a supplier at a time. Who claims it gets a lease, which runs out unless it is renewed, and a
number, one higher with every claim. A worker that freezes loses its lease without noticing, and when it wakes up it
still believes that the supplier is its own. This shows what becomes of what it saves then.
";

pub(super) async fn demo(context: &Context) -> Result<Exit, Error> {
    let listen = |kind| signal(kind).map_err(|source| Error::System { doing: "listen for signals", source });
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    let settings = plain_connections();
    let scratch = Scratch::make(&context.common, &settings).await?;
    // A signal drops the story, and with it the workers; the database goes in any case.
    let told = tokio::select! {
        biased;
        Some(()) = terminate.recv() => Ok(Exit::Terminated),
        Some(()) = interrupt.recv() => Ok(Exit::Interrupted),
        told = tell(context, &scratch) => told,
    };
    let removed = scratch.remove().await;
    let exit = told?;
    removed?;
    Ok(exit)
}

async fn tell(context: &Context, scratch: &Scratch) -> Result<Exit, Error> {
    let common = Common { database_url: Some(scratch.url().clone()), ..context.common.clone() };
    let database = Database::open(&common, &plain_connections(), Schema::Migrate).await?;
    let mut telling = Telling::new(context.output.clone(), context.common.json);
    telling.say(INTRODUCTION);
    telling.say(&format!(
        "It happens now, with two processes, on {}. What is marked with ✓ was checked.\n",
        scratch.describe()
    ));
    Story::submit(&database, scratch.url().clone()).await?.tell(&mut telling).await?;
    Ok(if telling.end() { Exit::Done } else { Exit::Unexpected })
}
