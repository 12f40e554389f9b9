//! Tests of `records`.

mod fixtures;
mod journal;
mod record;
