//! Tests of `records`.

mod endings;
mod experience;
mod finding;
mod fixtures;
mod journal;
mod kept;
mod money;
mod month;
mod page;
mod record;
mod reopening;
