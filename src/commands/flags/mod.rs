//! Flags that commands share: who sits on the panel, what it reads, how it argues, how far a run
//! may go without asking, and where the output goes. Each group of flags becomes the plain data
//! that setup takes.

mod panel;
mod context;
mod debate;
mod control;
mod output;
mod values;

pub(crate) use self::context::ContextFlags;
pub(crate) use self::control::{ControlFlags, MAX_WAIT, ON_FAILURE, for_many};
pub(crate) use self::debate::{DebateFlags, RoundFlags};
pub(crate) use self::output::{
    AnswerFormat, FormatFlags, JsonFlags, ListFormatFlag, OutputFlags, PagerFlag,
};
pub(crate) use self::panel::PanelFlags;
pub(crate) use self::values::{
    Choice, choice, confidence, dollars, ids, purpose, scrubbing, share, verbosity,
};
