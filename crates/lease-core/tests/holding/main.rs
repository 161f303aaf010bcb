//! What a holder does with its lease, instant by instant: the heartbeat around a step, then saving,
//! releasing and failing. Nothing here sleeps: the clock moves to the next alarm when all is quiet.

mod beating;
mod clock;
mod ending;
mod refused;
mod saving;
mod scene;
mod silence;
mod store;
