//! L3: what is kept of a consultation. The journal is the source of truth, the record its
//! projection, the Markdown the same for reading. Order of writing: journal, record, Markdown; a
//! failure of a later one never harms an earlier one.

pub mod calibration;
mod debate_value;
pub mod events_file;
pub mod experience;
pub mod files;
pub mod history;
pub mod index;
pub mod journal;
pub mod lookup;
mod judge_passes;
pub mod stored;
pub mod month;
pub mod outcomes;
pub mod page;
pub mod record;
pub mod removal;
pub mod spending;
pub mod statistics;
