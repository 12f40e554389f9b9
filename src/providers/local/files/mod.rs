//! Model files: which there are, where they come from, and where they are kept.

pub mod manifest;
pub mod pull;
pub mod sources;
pub mod home;
pub mod choice;
