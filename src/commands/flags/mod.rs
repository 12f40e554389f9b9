//! Flags that commands share: who sits on the panel, what it reads, how it argues, how far a run
//! may go without asking, and where the output goes. Each group of flags becomes the plain data
//! that setup takes.

mod panel;
mod context;
mod control;
mod output;

pub(crate) use self::context::ContextFlags;
pub(crate) use self::control::{ControlFlags, SendingFlags, SpendingFlags, consent_mode};
pub(crate) use self::control::{choice, confidence, dollars, share};
pub(crate) use self::output::{AnswerFormat, FormatFlags, JsonFlags, OutputFlags, PagerFlag};
pub(crate) use self::panel::PanelFlags;
pub(crate) use self::panel::{DebateFlags, RoundFlags};
