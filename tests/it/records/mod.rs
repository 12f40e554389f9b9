//! Tests of `records`.

mod endings;
mod experience;
mod fixtures;
pub(crate) mod index;
mod journal;
mod journal_ends;
mod journal_reopen;
mod lookup;
mod stored;
mod money;
mod month;
mod month_budget;
mod record;
mod refinements;
mod runs;
mod statistics;
