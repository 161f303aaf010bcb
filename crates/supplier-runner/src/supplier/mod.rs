//! Suppliers: what a record is, and how records are read from files.
//!
//! A [`SupplierRecord`] holds checked values only, in their normal form; [`read_files`] makes records
//! from CSV, JSON and NDJSON and says of everything else what is wrong with it, by file, line and
//! field. Nothing here knows of leases, runs or databases.

mod bic;
mod categories;
mod check_digits;
mod contact;
mod country;
mod csv_file;
mod currency;
mod email;
mod entry;
mod fields;
mod format;
mod iban;
mod json_file;
mod json_text;
mod key;
mod legal_name;
mod lei;
pub mod limits;
mod path;
mod payment_terms;
mod reading;
mod record;
mod report;
mod source;
mod spending_limit;
mod tax_id;
mod text;
mod unknown;
mod value_error;

pub use bic::Bic;
pub use categories::Categories;
pub use contact::Contact;
pub use country::Country;
pub use currency::Currency;
pub use email::Email;
pub use fields::{FIELD_NAMES, required_field_names};
pub use format::{Format, UnknownFormat};
pub use iban::Iban;
pub use key::SupplierKey;
pub use legal_name::LegalName;
pub use lei::Lei;
pub use payment_terms::PaymentTermsDays;
pub use reading::{Reading, read_files, read_stream};
pub use record::SupplierRecord;
pub use report::{Invalid, ReadError, ReadProblem, Sourced, Warning};
pub use spending_limit::SpendingLimit;
pub use tax_id::{CheckDigits, TaxId};
pub use value_error::{FieldError, ValueError};
