//! The course that a debate takes: flags before settings, settings before what is usual.

use crate::config::control;
use crate::config::settings::Settings;
use crate::consultation::course::{Course, DebateAnalysis, Rounds};
use crate::consultation::mode::Mode;

use super::flags::DebateFlags;

/// Positions, and what the experts agree on.
const QUICK: u8 = 2;

/// Lays the flags over the settings. Who helps beside the panel is not decided here: that takes the panel.
pub(super) fn course(flags: &DebateFlags, settings: &Settings) -> Course {
    let rounds = flags.rounds.or(flags.quick.then_some(QUICK)).and_then(Rounds::new);
    Course {
        mode: flags.mode.map_or(settings.mode, Mode::from),
        rounds: rounds.unwrap_or(settings.rounds),
        debate_analysis: match settings.debate_analysis {
            control::DebateAnalysis::On if !flags.no_debate_analysis => DebateAnalysis::On,
            control::DebateAnalysis::On | control::DebateAnalysis::Off => DebateAnalysis::Off,
        },
        ..Course::default()
    }
}
