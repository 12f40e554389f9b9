//! The commands that list what can be asked: models and personas.

mod models;
pub(super) mod personas;
