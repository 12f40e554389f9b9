//! Tests of `records::refinements`.

#[cfg(unix)]
mod kills;
mod spec_file;
mod store;
