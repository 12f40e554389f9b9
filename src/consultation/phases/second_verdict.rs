//! Whether a verdict holds: against the judge's second pass, which meets the experts in the
//! opposite order, or against the verdict of the earlier consultation whose answers are judged
//! anew.
//!
//! Order and labels sway a judge, and so does who judges. A verdict that depends on them is worth
//! less, and whoever relies on it is told so.
//!
//! Invariant: whatever goes wrong with the other verdict or with comparing the two, the one that
//! counts stands; then it is not known whether it held.

use serde::{Deserialize, Serialize};

use crate::domain::artifact::{Comparison, Content, Magnitude, Verdict};
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::second_pass::{Held, SecondPass};

use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::event::{AgentError, Event, JudgeEvent};
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::options::JudgePasses;
use crate::consultation::prompt::Pair;
use crate::consultation::prompt::filter::Shown;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::tasks::TaskSet;
use crate::consultation::tasks::{AgentAnswer, PromptSet};

/// The other verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) struct Said {
    /// With the experts named as in the first pass.
    verdict: Verdict,
    /// By whom; nobody of this consultation where it is an earlier one's.
    model: Option<ModelRef>,
}

/// How far the second pass has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::consultation) enum Second {
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
    /// What an answer that is judged anew is measured by.
    pub(in crate::consultation) fn earlier(step: &StepContext<'_>) -> Self {
        let earlier = step
            .plan
            .debate
            .prior_answers
            .as_ref()
            .and_then(|prior_answers| prior_answers.verdict.clone());
        earlier.map_or(Self::NotWanted, |verdict| {
            Self::Decided(Said {
                verdict,
                model: None,
            })
        })
    }

    /// Takes what the judge brought the second time.
    pub(in crate::consultation) fn decided(
        step: &StepContext<'_>,
        result: Result<AgentAnswer, AgentError>,
    ) -> Self {
        match result {
            // What could not be read is no verdict that another one could be measured by.
            Ok(AgentAnswer {
                content: Content::Verdict(said),
                degraded: false,
                source,
            }) => {
                let (from, into) = (
                    step.plan.labels_for(&AgentId::SecondJudge),
                    step.plan.labels(),
                );
                let verdict = Relabelling {
                    from: &from,
                    into: &into,
                }
                .verdict(said);
                Self::Decided(Said {
                    verdict,
                    model: Some(source.model),
                })
            }
            Ok(AgentAnswer { .. }) => {
                Self::unknown(step, None, "the second verdict could not be read as asked")
            }
            Err(error) => Self::unknown(
                step,
                None,
                format!("the second pass failed: {}", error.message),
            ),
        }
    }

    /// Finds out whether a second verdict says what the first does: by their words, else by the
    /// clerk.
    pub(in crate::consultation) fn compare(
        step: &mut StepContext<'_>,
        work: &mut TaskSet,
        first: &Verdict,
        second: Said,
    ) -> Self {
        if normal(&substance(first)) == normal(&substance(&second.verdict)) {
            return Self::known(
                step,
                Some(second),
                Held::by(
                    Magnitude::Same,
                    Some("both verdicts say so in the same words".to_owned()),
                ),
            );
        }
        if step.plan.debate.comparer().is_none() {
            return Self::unknown(
                step,
                Some(second),
                "no model was there to compare the two verdicts",
            );
        }
        let (first, other) = (substance(first), substance(&second.verdict));
        let pair = if step.plan.debate.prior_answers.is_some() {
            pair(other, first)
        } else {
            pair(first, other)
        };
        let prompts = PromptSet::render(step, &AgentId::Helper, |prompter| {
            prompter
                .comparison(std::slice::from_ref(&pair))
                .map(Shown::whole)
        });
        match prompts {
            Ok(prompts) => {
                work.send(step, &AgentId::Helper, AnswerKind::Consistency, prompts);
                Self::Compared(second)
            }
            Err(error) => Self::unknown(step, Some(second), error.to_string()),
        }
    }

    /// Takes what the clerk found.
    pub(in crate::consultation) fn compared(
        step: &StepContext<'_>,
        second: Said,
        result: Result<AgentAnswer, AgentError>,
    ) -> Self {
        let found = match result {
            Ok(AgentAnswer {
                content: Content::Comparison(Comparison { comparisons, .. }),
                ..
            }) => comparisons.into_iter().next(),
            Ok(AgentAnswer { .. }) => None,
            Err(error) => {
                return Self::unknown(
                    step,
                    Some(second),
                    format!("the two verdicts were not compared: {}", error.message),
                );
            }
        };
        match found {
            Some(found) => {
                let reason = Some(found.reasoning).filter(|reason| !reason.trim().is_empty());
                Self::known(step, Some(second), Held::by(found.magnitude, reason))
            }
            None => Self::unknown(
                step,
                Some(second),
                "the two verdicts were not compared: the answer does not say how far apart they are",
            ),
        }
    }

    /// What is told when nobody waits for it any longer; `None` where there was to be no second
    /// pass.
    pub(in crate::consultation) fn given_up(self, step: &StepContext<'_>, why: &str) -> Self {
        match self {
            Self::NotWanted | Self::Known(_) => self,
            Self::Awaited => Self::unknown(step, None, why),
            Self::Decided(second) | Self::Compared(second) => {
                Self::unknown(step, Some(second), why)
            }
        }
    }

    /// True when there is nothing more to be found out.
    pub(in crate::consultation) fn is_settled(&self) -> bool {
        matches!(self, Self::NotWanted | Self::Known(_))
    }

    /// Tells what came of it.
    pub(in crate::consultation) fn tell(self, step: &mut StepContext<'_>) {
        let Self::Known(told) = self else { return };
        match step.plan.debate.judge_passes {
            JudgePasses::Once => step.emit(Event::Judge(JudgeEvent::Rejudged(told.held))),
            JudgePasses::Twice => step.emit(Event::Judge(JudgeEvent::SecondPass(Box::new(told)))),
        }
    }

    fn unknown(step: &StepContext<'_>, said: Option<Said>, why: impl Into<String>) -> Self {
        Self::known(step, said, Held::unknown(why))
    }

    fn known(step: &StepContext<'_>, said: Option<Said>, held: Held) -> Self {
        let expert_order = step.plan.labels_for(&AgentId::SecondJudge).order().to_vec();
        let (verdict, model) = said.map(|said| (said.verdict, said.model)).unzip();
        Self::Known(SecondPass {
            verdict,
            model: model.flatten(),
            expert_order,
            held,
        })
    }
}

/// The two verdicts as the clerk is shown them.
pub(in crate::consultation) fn pair(before: String, after: String) -> Pair {
    Pair {
        label: "Verdict".to_owned(),
        before,
        after,
    }
}

/// What somebody would do who followed a verdict: its recommendation; of a menu its options, and
/// how to choose.
fn substance(said: &Verdict) -> String {
    let options = said
        .recommendations
        .iter()
        .map(|choice| format!("- {}: {}", choice.option, choice.description));
    let lines: Vec<String> = options
        .chain([said.recommendation.clone()])
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines.join("\n")
}

/// Without what is no difference in words: case, spaces, punctuation around them.
fn normal(text: &str) -> String {
    let word = |word: &str| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    };
    text.split_whitespace()
        .map(word)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_in_case_spaces_and_marks_alone_are_the_same_and_a_negation_is_none() {
        assert_eq!(
            normal("Use **OAuth**,\n with tokens."),
            normal("use oauth with Tokens")
        );
        assert_ne!(normal("Use OAuth."), normal("Do not use OAuth."));
        assert_ne!(normal("at most 1.5 hours"), normal("at most 15 hours"));
    }
}
