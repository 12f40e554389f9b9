//! Project detection on generated trees.

mod trees;
mod indicators;
mod history;
mod node;
mod python;
mod jvm;
mod other_languages;
mod workspaces;
mod descriptions;
mod hostile;
mod registries;
