//! Plan files and the steps they make, with real processes and a real socket.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod commands;
mod descendants;
mod examples;
mod http;
mod plan_files;
mod portal;
mod trials;
mod world;
