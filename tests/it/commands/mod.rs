//! Tests of `commands`: the compiled binary from end to end, with a local server in place of every
//! vendor.

mod benchmark;
mod circuit;
mod completions;
mod config;
mod consult;
mod consult_stats;
mod context_storage;
mod doctor;
mod exit_check;
mod history;
mod index;
mod model;
mod models;
mod personas;
mod refine;
mod resume;
mod scrub;
mod special_files;
