//! The limits of supplier files and records, all in one place.
//!
//! A record's limits are those of the run's input that it becomes, so that a record that reads well
//! is never refused later for its size or shape.

/// The longest record, in bytes: as it stands in the file, and as compact JSON.
pub const MAX_RECORD_BYTES: usize = 1024 * 1024;
/// The largest file (or standard input), in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;
/// The most records in one reading, over all its files, good and bad.
pub const MAX_RECORDS: usize = 1_000_000;
/// The deepest nesting of a record; the record itself is level 1.
pub const MAX_DEPTH: usize = 64;
/// The longest number in an unknown field, in characters.
pub const MAX_NUMBER_CHARS: usize = 1_000;
/// The largest power of ten of a number in an unknown field, either way.
pub const MAX_NUMBER_EXPONENT: u32 = 1_000;
/// The longest supplier key, in characters.
pub const MAX_KEY_CHARS: usize = 128;
/// The longest legal name, contact or category, in characters.
pub const MAX_TEXT_CHARS: usize = 256;
/// The most categories of one supplier.
pub const MAX_CATEGORIES: usize = 64;
/// The longest payment term, in days.
pub const MAX_PAYMENT_TERMS_DAYS: u16 = 365;
/// The most digits before the decimal point of a spending limit.
pub const MAX_LIMIT_DIGITS: usize = 18;

// A value's text must fit its record many times over, and the exponent's digits its number.
const _: () = assert!(MAX_TEXT_CHARS * 4 * (MAX_CATEGORIES + 3) < MAX_RECORD_BYTES);
const _: () = assert!((MAX_RECORD_BYTES as u64) < MAX_FILE_BYTES);
// `rust_decimal` holds 28 digits; ISO 4217 has at most 4 behind the point.
const _: () = assert!(MAX_LIMIT_DIGITS + 4 <= 28);
