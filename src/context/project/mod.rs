//! Describes the project in a folder: whether it exists already, its framework and stack, from
//! parsed manifests, its layout, and excerpts of its documentation.
//!
//! [`describe`] reads top to bottom. What it looks for is data: `rules.toml`, `technologies.toml`
//! and `manifests.toml`.

mod description;
mod rules;
mod patterns;
mod tree;
mod indicators;
mod structure;
mod manifests;
mod locks;
mod stack;
mod documents;

pub use self::description::{ProjectDescription, ProjectError, describe};
