//! What a holder does with its lease, instant by instant: the heartbeat around a step, then saving,
//! releasing and failing. Nothing here sleeps: the fake clock moves to the next instant that anybody
//! waits for, when all is quiet.

mod beating;
mod cut_off;
mod ending;
mod refused;
mod saving;
mod scene;
mod silence;
mod store;
