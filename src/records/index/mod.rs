//! The index: an `SQLite` database of the records, for questions about many of them. It is a
//! projection: a rebuild restores all of it from the files.
//!
//! Rows: `rows` defines them, `extract` reads them from a record (`record_fields`, `lenient_json`),
//! `store` inserts, replaces and deletes them, `bulk` inserts very many, `schema` creates and
//! migrates the tables.
//! Files: `open` opens the database and determines its state, `lock` separates its users from a
//! swap, `follow` keeps it in step with running consultations, `rebuild` makes a new one from the
//! files (`sources`, `load`) and replaces the old one (`swap`).

pub mod rows;
pub mod extract;
mod record_fields;
mod lenient_json;
pub mod store;
pub mod bulk;
pub mod schema;
pub mod open;
mod lock;
pub mod follow;
pub mod rebuild;
mod sources;
mod load;
mod swap;

pub use lock::is_being_written;
pub use open::{Index, OpenError, WaitLimit, is_damage};
