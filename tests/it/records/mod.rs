//! Tests of `records`.

mod endings;
mod experience;
mod finding;
mod fixtures;
mod index;
mod journal;
mod kept;
mod money;
mod month;
mod record;
mod reopening;
