//! Tests of `records`.

mod endings;
mod experience;
mod finding;
mod fixtures;
pub(crate) mod index;
mod journal;
mod money;
mod month;
mod record;
mod reopening;
