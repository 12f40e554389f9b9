//! Tests of `records`.

mod endings;
mod experience;
mod finding;
mod fixtures;
pub(crate) mod index;
mod journal;
mod stored;
mod money;
mod month;
mod page;
mod record;
mod reopening;
mod statistics;
