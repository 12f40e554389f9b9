//! L3: stored consultations. The journal is the source of truth, the record its projection, the
//! Markdown the same for reading. They are written in this order; a failure of a later one never
//! harms an earlier one.
//!
//! `journal` writes and reads events, `context_file` the text that they do not hold, `stored` reads
//! records. `index`, `history`, `statistics`, `calibration` and `experience` answer questions about
//! many; `month` adds up the spending of a month, `month_budget` shares its budget between
//! processes. `runs` keeps the logs of benchmarks, `refinements` those of the loops over
//! documents.

pub mod files;
pub mod journal;
pub mod stored;
pub mod outcomes;
pub mod lookup;
pub mod removal;
pub mod index;
pub mod history;
pub mod statistics;
pub mod month;
pub mod runs;
pub mod refinements;
