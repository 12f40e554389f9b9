//! Tests of `records`.

mod endings;
mod finding;
mod fixtures;
mod journal;
mod money;
mod record;
mod reopening;
