//! Flags that commands share: who sits on the panel, what it reads, how it argues, how far a run
//! may go without asking, and where the output goes. Each group of flags becomes the plain data
//! that setup takes.

mod panel;
mod context;
mod control;
mod fleet;
#[cfg(feature = "fleet")]
pub(crate) mod fleet_address;
mod output;

use clap::Arg;

pub(crate) use self::context::ContextFlags;
pub(crate) use self::control::{ControlFlags, SendingFlags, SpendingFlags, consent_mode};
pub(crate) use self::control::{choice, confidence, dollars, share, span_in};
pub(crate) use self::fleet::{FleetFlag, check_place, planned};
pub(crate) use self::output::{
    AnswerFormat, FormatFlags, JsonFlags, OutputFlags, PagerFlag, formats,
};
pub(crate) use self::panel::PanelFlags;
pub(crate) use self::panel::{DebateFlags, RoundFlags};

/// Hides all options but these in `-h`; `--help` shows all.
pub(crate) fn short_help(options: &'static [&'static str]) -> impl Fn(Arg) -> Arg {
    |arg| {
        let is_hidden = !arg.is_positional() && !options.contains(&arg.get_id().as_str());
        arg.hide_short_help(is_hidden)
    }
}
