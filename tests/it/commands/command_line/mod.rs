//! What all commands have in common: their words, their completion, and files that are none.

mod completions;
mod help;
mod special_files;
