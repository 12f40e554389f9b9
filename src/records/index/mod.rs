//! The index: an `SQLite` database of the records, for questions about many of them. It is a
//! projection: a rebuild restores all of it from the files.
//!
//! Rows: `rows` defines them, `extract` derives them from a record, `store` inserts, replaces and
//! deletes them, `schema` creates the tables.
//!
//! Files: `open` opens the database and determines its state, `follow` keeps it in step with
//! running consultations, `rebuild` fills it from the files (`sources`), after it has set aside a
//! database of another program (`foreign`).
//!
//! Processes are kept apart by the locks of `SQLite` alone: in WAL mode a reader never waits, and a
//! writer waits for another.

pub mod rows;
pub mod extract;
pub mod store;
pub mod schema;
pub mod open;
pub mod follow;
pub mod rebuild;
mod sources;
mod foreign;

pub use open::{Index, IndexError, QueryResult, WaitLimit, is_damage};
