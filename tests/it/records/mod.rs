//! Tests of `records`.

mod finding;
mod fixtures;
mod journal;
mod money;
mod record;
mod reopening;
