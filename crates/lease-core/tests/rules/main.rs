//! The rules of `lease_core::transition`, with no store and no clock but numbers: each operation by
//! itself, the operators' table cell by cell, and random histories.

mod acting;
mod bounds;
mod claiming;
mod ending;
mod histories;
mod operators_table;
mod queue;
mod renewing;
mod saving;
mod shown;
mod standing;
mod submitting;
mod world;
