//! Tests of `records`.

mod endings;
mod experience;
pub(crate) mod index;
mod journal;
mod lookup;
mod stored;
mod money;
mod month;
mod month_budget;
mod record;
mod refinements;
mod runs;
mod statistics;
