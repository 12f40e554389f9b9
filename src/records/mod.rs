//! L3: what is kept of a consultation. The journal is the source of truth, the record its
//! projection, the Markdown the same for reading. Order of writing: journal, record, Markdown; a
//! failure of a later one never harms an earlier one.

pub mod calibration;
mod debate_value;
pub mod events_file;
pub mod experience;
pub mod files;
pub mod finding;
pub mod history;
pub mod index;
pub mod journal;
mod judging;
pub mod stored;
pub mod month;
pub mod outcomes;
pub mod page;
pub mod reading;
pub mod record;
pub mod removing;
pub mod spending;
pub mod statistics;
