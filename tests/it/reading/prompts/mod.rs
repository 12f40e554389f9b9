//! The prompts as models receive them.

mod content;
mod anonymity;
mod fences;
mod templates;
