//! The embedded local model.
