//! The lease protocol, explored exhaustively.
//!
//! A model for [stateright](https://docs.rs/stateright): a few workers, one run, a store, and messages
//! that are late, lost or doubled. What the store does is decided by `lease_core::transition`, the very
//! functions of the product, and a worker's deadlines are those of `lease_core::Lease` and
//! `lease_core::Heartbeat`; nothing of the rules is written down again. A witness that knows no rule
//! hears every answer and says which invariant broke.
//!
//! **Invariant:** a space is explored to its end, or the exploration does not count.

mod message;
mod model;
mod numbers;
mod pace;
mod rules;
mod setting;
mod story;
mod tables;
mod witness;

pub use message::{After, Answer, Ending, Hold, Holder, Message, Request, Row, Why};
pub use model::{Action, Doing, Held, LeaseModel, State, Worker};
pub use setting::{Guard, Restored, Setting};
pub use story::story;
pub use tables::{Kept, Tables, Tried};
pub use witness::{Law, Witness};
