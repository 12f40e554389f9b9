//! Tests of `records::refinements`.

mod kills;
mod spec_file;
mod store;
