//! terminal
pub mod download_bar;
