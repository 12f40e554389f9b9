//! Tests of `records`.

mod endings;
mod experience;
mod finding;
mod fixtures;
mod journal;
mod money;
mod month;
mod record;
mod reopening;
mod statistics;
