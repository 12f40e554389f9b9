//! Who sits on the panel.

use crate::consultation::plan::options::{DebateAnalysis, JudgePasses, Rounds};
use crate::consultation::policy::mode::Mode;
use crate::setup::request::{DebateRequest, PanelRequest};

use super::control::choice;
use crate::commands::completions::values::{
    Names::{Models, Panels, Personas},
    completer,
};

/// Who sits on the panel.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PanelFlags {
    /// The seats: `persona=provider:model`, separated by commas; or the name of a panel in the
    /// settings [default: three seats, if possible of three vendors whose keys are set]
    #[arg(long, value_name = "SEATS|NAME", add = completer(Panels))]
    panel: Option<String>,

    /// The personas of the seats: names and `@sets`, separated by commas; or `auto` to let a model
    /// select them for the question [default: security, architecture, pragmatic]
    #[arg(long, value_name = "PERSONAS|auto", add = completer(Personas))]
    personas: Option<String>,

    /// The model of a seat; give it once for each seat in order, or once for all seats [default:
    /// the best models of as many vendors as your keys allow]
    #[arg(short, long, value_name = "MODEL", add = completer(Models))]
    model: Vec<String>,

    /// The judge and its fallback models, separated by commas [default: the best model of a
    /// vendor that has a key and no seat; else the panel's model of OpenAI, else its best]
    #[arg(long, value_name = "MODEL[,FALLBACK…]", add = completer(Models))]
    judge: Option<String>,
}

impl PanelFlags {
    pub(crate) fn request(&self) -> PanelRequest {
        PanelRequest {
            panel: self.panel.clone(),
            personas: self.personas.clone(),
            models: self.model.clone(),
            judge: self.judge.clone(),
        }
    }
}

/// The rounds of `--quick`: positions, and what the experts agree on.
const QUICK_ROUNDS: u8 = 2;

const MODES: &str = "\
converge  No, because…: one answer, and the dissent
explore   Yes, and…: a menu of options with their trade-offs";

/// How the panel argues.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Debate")]
pub(crate) struct DebateFlags {
    #[command(flatten)]
    pub(crate) rounds: RoundFlags,

    /// Skip the comparison of positions before and after the debate, made by a cheap model
    #[arg(long)]
    pub(crate) no_debate_analysis: bool,
}

/// The rounds of a debate.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Debate")]
pub(crate) struct RoundFlags {
    /// How the panel argues [default: converge]
    #[arg(long, value_parser = choice::<Mode>(MODES))]
    pub(crate) mode: Option<Mode>,

    /// How many rounds to hold: 1 shows the positions side by side, 2 adds what they agree on, 3
    /// the cross-examination, 4 the verdict [default: 4]
    #[arg(long, value_name = "1-4", value_parser = clap::value_parser!(u8).range(1..=4))]
    pub(crate) rounds: Option<u8>,

    /// Hold two rounds: positions, and the judge's provisional answer
    #[arg(long, conflicts_with = "rounds")]
    pub(crate) quick: bool,

    /// How often the judge decides: 2 repeats the verdict with the experts in the opposite order,
    /// to see whether it holds [default: 1]
    #[arg(long, value_name = "1|2", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub(crate) judge_passes: Option<u8>,
}

impl DebateFlags {
    pub(crate) fn request(&self) -> DebateRequest {
        DebateRequest {
            analysis: self.no_debate_analysis.then_some(DebateAnalysis::Off),
            ..self.rounds.request()
        }
    }
}

impl RoundFlags {
    /// With the debate analysis of the settings.
    pub(crate) fn request(&self) -> DebateRequest {
        DebateRequest {
            mode: self.mode,
            rounds: self
                .rounds
                .or(self.quick.then_some(QUICK_ROUNDS))
                .and_then(Rounds::new),
            judge_passes: self
                .judge_passes
                .and_then(|number| JudgePasses::of_number(number.into())),
            analysis: None,
        }
    }
}
