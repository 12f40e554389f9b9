//! providers
pub mod local;
