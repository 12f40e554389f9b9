//! The sets of rules that are compared.

use conclave::domain::time::Timestamp;
use conclave::stopping::evaluation::Class;
use conclave::stopping::exit_check::event::{ExitPolicy, ExitSettings};
use conclave::stopping::exit_check::evidence::TurnEvidence;
use conclave::stopping::exit_check::run::{LoopRunId, RunOrigin, RunRef};
use conclave::stopping::exit_check::state::LoopState;

use super::LoopResult;
use super::script::{LoopScript, MAX_TURNS, SimulatedTurn};

/// A way to decide when a loop stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleSet {
    /// The corrected rules, with the state of the working tree (`--git`).
    CorrectedWithGit,
    /// The corrected rules without it.
    Corrected,
    /// The rules of the original script.
    StrictSeed,
    /// The loop ends at the first message in which the word "done" occurs.
    FirstDone,
}

pub(crate) const RULE_SETS: [RuleSet; 4] = [
    RuleSet::CorrectedWithGit,
    RuleSet::Corrected,
    RuleSet::StrictSeed,
    RuleSet::FirstDone,
];

/// A stop before the cap.
struct Stop {
    /// From 1.
    turn: u64,
    class: Class,
}

impl RuleSet {
    pub(crate) fn play(self, script: &LoopScript) -> LoopResult {
        let stop = match self {
            Self::CorrectedWithGit => checked(&script.turns, ExitPolicy::Corrected, true),
            Self::Corrected => checked(&script.turns, ExitPolicy::Corrected, false),
            Self::StrictSeed => checked(&script.turns, ExitPolicy::StrictSeed, false),
            Self::FirstDone => first_done(&script.turns),
        };
        let turn = stop.as_ref().map_or(MAX_TURNS, |stop| stop.turn);
        let is_success = stop.as_ref().is_some_and(|stop| stop.class == Class::Done);
        let is_finished = script.kind.finishes() && turn >= script.needed;
        LoopResult {
            wasted: turn.saturating_sub(script.needed),
            cut_off: script.needed.saturating_sub(turn),
            is_endless: stop.is_none(),
            is_false_success: is_success && !is_finished,
        }
    }
}

/// Checks turn after turn until the rules stop the loop; `None` if only the cap does.
fn checked(turns: &[SimulatedTurn], policy: ExitPolicy, has_git: bool) -> Option<Stop> {
    let mut state = LoopState::default();
    let run = RunRef {
        id: LoopRunId("loop".to_owned()),
        origin: RunOrigin::Named,
    };
    let settings = ExitSettings {
        policy,
        ..ExitSettings::default()
    };
    for (number, turn) in (1..).zip(turns) {
        let git = turn.evidence.git.clone().filter(|_| has_git);
        let evidence = TurnEvidence {
            git,
            ..turn.evidence.clone()
        };
        let now = Timestamp(number * 60_000);
        let event = state.check(run.clone(), now, evidence, settings);
        state.apply(&event);
        let evaluation = &event.turn()?.evaluation;
        if let Some(class) = evaluation.class() {
            let is_cap = evaluation.deciding_rule() == Some("turns");
            let turn = u64::try_from(number).ok()?;
            return (!is_cap).then_some(Stop { turn, class });
        }
    }
    None
}

fn first_done(turns: &[SimulatedTurn]) -> Option<Stop> {
    let at = turns.iter().position(|turn| turn.says_done)?;
    Some(Stop {
        turn: at as u64 + 1,
        class: Class::Done,
    })
}
