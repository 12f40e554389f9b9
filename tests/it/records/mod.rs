//! Tests of `records`.

mod experience;
mod finding;
mod fixtures;
mod journal;
mod money;
mod record;
mod reopening;
