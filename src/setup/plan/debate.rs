//! The options of a debate: request before settings, settings before defaults.

use crate::config::settings::Settings;
use crate::consultation::plan::options::{DebateAnalysis, DebateOptions, JudgePasses, Rounds};
use crate::error::Error;

use crate::setup::request::{AnalysisRequest, DebateRequest};

/// Lays the request over the settings. The helper model is chosen later: that takes the panel.
pub(super) fn options(request: DebateRequest, settings: &Settings) -> Result<DebateOptions, Error> {
    let rounds = request.rounds.unwrap_or(settings.rounds);
    Ok(DebateOptions {
        mode: request.mode.unwrap_or(settings.mode),
        rounds,
        judge_passes: judge_passes(request.judge_passes, settings, rounds)?,
        debate_analysis: match request.analysis {
            AnalysisRequest::BySettings => settings.debate_analysis,
            AnalysisRequest::Off => DebateAnalysis::Off,
        },
        ..DebateOptions::default()
    })
}

/// Without a fourth round there is no verdict to repeat. The setting applies only to
/// consultations that have one.
fn judge_passes(
    requested: Option<JudgePasses>,
    settings: &Settings,
    rounds: Rounds,
) -> Result<JudgePasses, Error> {
    match (requested, rounds < Rounds::ALL) {
        (Some(JudgePasses::Twice), true) => {
            let rounds = rounds.number();
            let error =
                format!("`--judge-passes 2` needs a verdict, and {rounds} rounds have none");
            Err(Error::usage(error).hint("hold all four rounds, or leave out `--judge-passes`"))
        }
        (_, true) => Ok(JudgePasses::Once),
        (requested, false) => Ok(requested.unwrap_or(settings.judge_passes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(
        rounds: Option<u8>,
        requested: Option<JudgePasses>,
        setting: JudgePasses,
    ) -> Result<JudgePasses, String> {
        let request = DebateRequest {
            rounds: rounds.and_then(Rounds::new),
            judge_passes: requested,
            ..DebateRequest::default()
        };
        let settings = Settings {
            judge_passes: setting,
            ..Settings::default()
        };
        options(request, &settings)
            .map(|debate| debate.judge_passes)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn requested_judge_passes_override_the_setting_and_need_a_verdict() {
        use JudgePasses::{Once, Twice};
        assert_eq!(passes(None, None, Twice), Ok(Twice));
        assert_eq!(passes(None, Some(Twice), Once), Ok(Twice));
        assert_eq!(passes(None, Some(Once), Twice), Ok(Once));
        assert_eq!(passes(Some(2), None, Twice), Ok(Once));
        assert_eq!(passes(Some(3), Some(Once), Twice), Ok(Once));
        assert_eq!(
            passes(Some(3), Some(Twice), Once),
            Err("`--judge-passes 2` needs a verdict, and 3 rounds have none".to_owned())
        );
    }
}
