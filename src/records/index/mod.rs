//! The index: an `SQLite` database of what the records say, for questions about many of them. A
//! projection: whatever is in it can be made again from the files, and nothing is lost with it.
//!
//! `rows` is what the index keeps of one consultation, `extracting` reads it from a record (whose
//! shape is in `record_shape`, read with `lenient`), `foreign` from one of the original, `storing`
//! writes it and takes it out again, `bulk` writes very many, `schema` makes and mends the tables.
//! `opening` finds out in what state a database is, `locking` keeps apart who uses it and who swaps
//! it, `sources` says which files tell a consultation, `rebuilding` makes a new database, with
//! `filling`, and `swapping` puts it in the old one's place; `following` keeps it in step with the
//! consultations that run.

pub mod bulk;
pub mod extracting;
mod extracting_agents;
mod extracting_calls;
mod extracting_rounds;
mod filling;
pub mod following;
mod foreign;
mod lenient;
mod locking;
pub mod opening;
pub mod rebuilding;
mod record_shape;
pub mod rows;
pub mod schema;
mod sources;
pub mod storing;
mod swapping;

pub use locking::is_being_written;
pub use opening::{Index, Patience, Unusable, is_damage};
