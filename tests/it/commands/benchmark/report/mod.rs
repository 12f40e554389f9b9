//! The report of a run: its figures, and how each face shows them.

mod figures;
mod properties;
mod screen;
mod markdown;
mod json;
mod junit;
mod page;
