//! The course that a debate takes: flags before settings, settings before what is usual.

use crate::config::settings::Settings;
use crate::consultation::plan::mode::Mode;
use crate::consultation::plan::options::{DebateAnalysis, DebateOptions, JudgePasses, Rounds};
use crate::error::Error;

use super::flags::DebateFlags;

/// Positions, and what the experts agree on.
const QUICK: u8 = 2;

/// Lays the flags over the settings. Who helps beside the panel is not decided here: that takes the
/// panel.
pub(super) fn debate(flags: &DebateFlags, settings: &Settings) -> Result<DebateOptions, Error> {
    let rounds = flags
        .rounds
        .or(flags.quick.then_some(QUICK))
        .and_then(Rounds::new)
        .unwrap_or(settings.rounds);
    Ok(DebateOptions {
        mode: flags.mode.map_or(settings.mode, Mode::from),
        rounds,
        judge_passes: judge_passes(flags, settings, rounds)?,
        debate_analysis: if flags.no_debate_analysis {
            DebateAnalysis::Off
        } else {
            settings.debate_analysis
        },
        ..DebateOptions::default()
    })
}

/// Without a fourth round there is no verdict to be given twice. A setting is for those
/// consultations that have one.
fn judge_passes(
    flags: &DebateFlags,
    settings: &Settings,
    rounds: Rounds,
) -> Result<JudgePasses, Error> {
    let wanted = flags
        .judge_passes
        .and_then(|number| JudgePasses::of_number(number.into()));
    match (wanted, rounds < Rounds::ALL) {
        (Some(JudgePasses::Twice), true) => {
            let error = Error::usage(format!(
                "`--judge-passes 2` needs a verdict, and {} rounds have none",
                rounds.number()
            ));
            Err(error.hint("hold all four rounds, or leave out --judge-passes"))
        }
        (_, true) => Ok(JudgePasses::Once),
        (wanted, false) => Ok(wanted.unwrap_or(settings.judge_passes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(
        rounds: Option<u8>,
        wanted: Option<u8>,
        usual: JudgePasses,
    ) -> Result<JudgePasses, String> {
        let flags = DebateFlags {
            mode: None,
            rounds,
            quick: false,
            no_debate_analysis: false,
            judge_passes: wanted,
        };
        let settings = Settings {
            judge_passes: usual,
            ..Settings::default()
        };
        debate(&flags, &settings)
            .map(|debate| debate.judge_passes)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_flag_comes_before_the_setting_and_needs_a_verdict_which_the_setting_only_waits_for() {
        use JudgePasses::{Once, Twice};
        assert_eq!(passes(None, None, Twice), Ok(Twice));
        assert_eq!(
            (passes(None, Some(2), Once), passes(None, Some(1), Twice)),
            (Ok(Twice), Ok(Once))
        );
        assert_eq!(
            (
                passes(Some(2), None, Twice),
                passes(Some(3), Some(1), Twice)
            ),
            (Ok(Once), Ok(Once))
        );
        assert_eq!(
            passes(Some(3), Some(2), Once),
            Err("`--judge-passes 2` needs a verdict, and 3 rounds have none".to_owned())
        );
    }
}
