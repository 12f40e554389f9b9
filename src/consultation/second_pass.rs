//! Whether a verdict holds when the judge meets the experts in the opposite order: the second pass beside the one that counts.
//!
//! Order and labels sway a judge. A verdict that depends on them is worth less, and whoever relies on it is told so.
//!
//! Invariant: whatever goes wrong with the second pass, the first one's verdict stands; then it is not known whether it held.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Comparison, Content, Magnitude, Verdict};
use crate::domain::ids::{ModelRef, SeatId};
use crate::domain::second_pass::SecondPass;

use super::answer::AnswerKind;
use super::calls::Work;
use super::errand::{Answer, Brief};
use super::event::{AgentError, Event};
use super::filtering::Shown;
use super::prompt::Pair;
use super::relabelling::Relabelling;
use super::turn::Turn;

/// The second verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Said {
    /// With the experts named as in the first pass.
    verdict: Verdict,
    /// By whom.
    model: ModelRef,
}

/// How far the second pass has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum Second {
    #[default]
    NotWanted,
    /// The judge is at work.
    Awaited,
    Decided(Said),
    /// The clerk is comparing it with the first.
    Compared(Said),
    /// It is as it will be told.
    Known(SecondPass),
}

impl Second {
    /// Takes what the judge brought the second time.
    pub(super) fn decided(turn: &Turn<'_>, result: Result<Answer, AgentError>) -> Self {
        match result {
            // What could not be read is no verdict that another one could be measured by.
            Ok(Answer { content: Content::Verdict(said), degraded: false, voice }) => {
                let (from, into) = (turn.plan.labels_for(&SeatId::second_judge()), turn.plan.labels());
                let verdict = Relabelling { from: &from, into: &into }.verdict(said);
                Self::Decided(Said { verdict, model: voice.model })
            }
            Ok(Answer { .. }) => Self::unknown(turn, None, "the second verdict could not be read as asked"),
            Err(error) => Self::unknown(turn, None, format!("the second pass failed: {}", error.message)),
        }
    }

    /// Finds out whether a second verdict says what the first does: by their words, else by the clerk.
    pub(super) fn compare(turn: &mut Turn<'_>, work: &mut Work, first: &Verdict, second: Said) -> Self {
        if normal(&substance(first)) == normal(&substance(&second.verdict)) {
            let reason = Some("both verdicts say so in the same words".to_owned());
            return Self::known(turn, Some(second), Some(Magnitude::Same), reason);
        }
        if turn.plan.course.clerk.is_none() {
            return Self::unknown(turn, Some(second), "no model was there to compare the two verdicts");
        }
        let pair = pair(substance(first), substance(&second.verdict));
        let brief = Brief::render(turn, &SeatId::clerk(), |prompter| prompter.comparison(std::slice::from_ref(&pair)).map(Shown::whole));
        match brief {
            Ok(brief) => {
                work.send(turn, &SeatId::clerk(), AnswerKind::Consistency, brief);
                Self::Compared(second)
            }
            Err(error) => Self::unknown(turn, Some(second), error.to_string()),
        }
    }

    /// Takes what the clerk found.
    pub(super) fn compared(turn: &Turn<'_>, second: Said, result: Result<Answer, AgentError>) -> Self {
        let found = match result {
            Ok(Answer { content: Content::Comparison(Comparison { comparisons, .. }), .. }) => comparisons.into_iter().next(),
            Ok(Answer { .. }) => None,
            Err(error) => return Self::unknown(turn, Some(second), format!("the two verdicts were not compared: {}", error.message)),
        };
        match found {
            Some(found) => {
                let reason = Some(found.reasoning).filter(|reason| !reason.trim().is_empty());
                Self::known(turn, Some(second), Some(found.magnitude), reason)
            }
            None => Self::unknown(turn, Some(second), "the two verdicts were not compared: the answer does not say how far apart they are"),
        }
    }

    /// What is told when nobody waits for it any longer; `None` where there was to be no second pass.
    pub(super) fn given_up(self, turn: &Turn<'_>, why: &str) -> Self {
        match self {
            Self::NotWanted | Self::Known(_) => self,
            Self::Awaited => Self::unknown(turn, None, why),
            Self::Decided(second) | Self::Compared(second) => Self::unknown(turn, Some(second), why),
        }
    }

    /// True when there is nothing more to be found out.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self, Self::NotWanted | Self::Known(_))
    }

    /// Tells what came of it.
    pub(super) fn tell(self, turn: &mut Turn<'_>) {
        if let Self::Known(told) = self {
            turn.emit(Event::JudgeSecondPass(Box::new(told)));
        }
    }

    fn unknown(turn: &Turn<'_>, said: Option<Said>, why: impl Into<String>) -> Self {
        Self::known(turn, said, None, Some(why.into()))
    }

    fn known(turn: &Turn<'_>, said: Option<Said>, magnitude: Option<Magnitude>, reason: Option<String>) -> Self {
        let expert_order = turn.plan.labels_for(&SeatId::second_judge()).order().to_vec();
        let (verdict, model) = said.map(|said| (said.verdict, said.model)).unzip();
        Self::Known(SecondPass { verdict, model, expert_order, consistent: magnitude.map(holds), magnitude, reason })
    }
}

/// Whether two verdicts so far apart are one: whoever follows either does the same.
fn holds(magnitude: Magnitude) -> bool {
    match magnitude {
        Magnitude::Same | Magnitude::MinorRefinement => true,
        Magnitude::ModerateShift | Magnitude::SignificantChange => false,
    }
}

/// The two verdicts as the clerk is shown them.
pub(super) fn pair(before: String, after: String) -> Pair {
    Pair { label: "Verdict".to_owned(), before, after }
}

/// What somebody would do who followed a verdict: its recommendation; of a menu its options, and how to choose.
fn substance(said: &Verdict) -> String {
    let options = said.recommendations.iter().map(|choice| format!("- {}: {}", choice.option, choice.description));
    let lines: Vec<String> = options.chain([said.recommendation.clone()]).filter(|line| !line.trim().is_empty()).collect();
    lines.join("\n")
}

/// Without what is no difference in words: case, spaces, punctuation around them.
fn normal(text: &str) -> String {
    let word = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(word).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_in_case_spaces_and_marks_alone_are_the_same_and_a_negation_is_none() {
        assert_eq!(normal("Use **OAuth**,\n with tokens."), normal("use oauth with Tokens"));
        assert_ne!(normal("Use OAuth."), normal("Do not use OAuth."));
        assert_ne!(normal("at most 1.5 hours"), normal("at most 15 hours"));
    }

    #[test]
    fn a_refinement_is_still_the_same_verdict_and_a_shift_is_not() {
        let all = [Magnitude::Same, Magnitude::MinorRefinement, Magnitude::ModerateShift, Magnitude::SignificantChange];
        assert_eq!(all.map(holds), [true, true, false, false]);
    }
}
