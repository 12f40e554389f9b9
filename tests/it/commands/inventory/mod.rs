//! The commands that list what can be asked, and that sign in to it.

mod doctor;
mod login;
mod models;
pub(super) mod personas;
