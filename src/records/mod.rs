//! L3: stored consultations. The journal is the source of truth, the record its projection, the
//! Markdown the same for reading. They are written in this order; a failure of a later one never
//! harms an earlier one.
//!
//! `journal` writes and reads events, `context_file` the text that they do not hold, `stored` reads
//! records. `index`, `history`, `statistics`, `calibration` and `experience` answer questions about
//! many; `month` adds up the spending of a month, `month_budget` shares its budget between
//! processes. `event_log` is the file of events that journals are, and of which `runs` keeps one for
//! each run of a benchmark, and `refinements` one for the loops over a document.

pub mod files;
pub mod journal;
pub mod context_file;
pub mod events_file;
pub mod stored;
pub mod outcomes;
pub mod lookup;
pub mod removal;
pub mod index;
pub mod history;
pub mod statistics;
pub mod calibration;
pub mod experience;
pub mod month;
pub mod month_budget;
pub mod event_log;
pub mod runs;
pub mod refinements;
