//! Tests of `records`.

mod fixtures;
mod journal;
mod money;
mod record;
