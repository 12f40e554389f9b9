//! The index: an `SQLite` database of what the records say, for questions about many of them. A
//! projection: whatever is in it can be made again from the files, and nothing is lost with it.
//!
//! `rows` is what the index keeps of one consultation, `extract` reads it from a record (whose
//! shape is in `record_shape`, read with `lenient`), `foreign` from one of the original, `storing`
//! writes it and takes it out again, `bulk` writes very many, `schema` makes and mends the tables.
//! `opening` finds out in what state a database is, `locking` keeps apart who uses it and who swaps
//! it, `sources` says which files tell a consultation, `rebuilding` makes a new database, with
//! `filling`, and `swapping` puts it in the old one's place; `following` keeps it in step with the
//! consultations that run.

pub mod bulk;
pub mod extract;
mod load;
pub mod follow;
mod lock;
pub mod open;
pub mod rebuild;
pub mod rows;
pub mod schema;
mod lenient_json;
mod record_fields;
mod sources;
pub mod store;
mod swap;

pub use lock::is_being_written;
pub use open::{Index, Patience, Unusable, is_damage};
