//! Checks whether a verdict holds: against the judge's second pass, which sees the experts in the
//! opposite order, or against the verdict of the earlier consultation that is judged again.
//!
//! Order and labels bias a judge, and judges differ. A verdict that depends on them is worth less,
//! and the result reports it.
//!
//! Invariant: if the other verdict or the comparison fails, the verdict stands, and whether it held
//! is unknown.

use crate::domain::answer::artifact::{Content, Magnitude, Verdict};
use crate::domain::answer::second_pass::{Held, SecondPass};
use crate::domain::ids::{AgentId, ModelRef};

use crate::consultation::analysis::wording;
use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::event::{AgentError, Event, JudgeEvent};
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::JudgePasses;
use crate::consultation::prompt::Pair;
use crate::consultation::protocol::answer::AnswerKind;
use crate::consultation::tasks::{AgentAnswer, TaskSet};

/// The verdict to compare with the first one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OtherVerdict {
    /// With the experts named as in the first pass.
    verdict: Verdict,
    /// `None` for the verdict of an earlier consultation.
    model: Option<ModelRef>,
}

/// The progress of the second verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum SecondPassProgress {
    #[default]
    NotRequested,
    /// The judge's task is open.
    Pending,
    Decided(OtherVerdict),
    /// The helper compares it with the first.
    Comparing(OtherVerdict),
    /// The result, as it will be emitted.
    Known(SecondPass),
}

impl SecondPassProgress {
    pub(crate) fn earlier(plan: &Plan) -> Self {
        let earlier = plan
            .debate
            .prior_answers
            .as_ref()
            .and_then(|prior_answers| prior_answers.verdict.clone());
        earlier.map_or(Self::NotRequested, |verdict| {
            Self::Decided(OtherVerdict {
                verdict,
                model: None,
            })
        })
    }

    pub(crate) fn decided(plan: &Plan, result: Result<AgentAnswer, AgentError>) -> Self {
        match result {
            // An unreadable verdict cannot be compared.
            Ok(AgentAnswer {
                content: Content::Verdict(said),
                degraded: false,
                source,
            }) => {
                let (from, into) = (plan.labels_for(&AgentId::SecondJudge), plan.labels());
                let verdict = Relabelling {
                    from: &from,
                    into: &into,
                }
                .rewrite(said);
                Self::Decided(OtherVerdict {
                    verdict,
                    model: Some(source.model),
                })
            }
            Ok(AgentAnswer { .. }) => {
                Self::unknown(plan, None, "the second verdict could not be read as asked")
            }
            Err(error) => Self::unknown(
                plan,
                None,
                format!("the second pass failed: {}", error.message),
            ),
        }
    }

    /// Compares two verdicts by their words, else by the helper.
    pub(crate) fn compare(
        step: &mut StepContext<'_>,
        tasks: &mut TaskSet,
        first: &Verdict,
        second: OtherVerdict,
    ) -> Self {
        let plan = step.plan;
        if wording::is_same(&substance(first), &substance(&second.verdict)) {
            let reason = Some("both verdicts say so in the same words".to_owned());
            return Self::known(plan, Some(second), Held::by(Magnitude::Same, reason));
        }
        if plan.debate.comparer().is_none() {
            let why = "no model was available to compare the two verdicts";
            return Self::unknown(plan, Some(second), why);
        }
        let (first, other) = (substance(first), substance(&second.verdict));
        let pair = if plan.debate.prior_answers.is_some() {
            Pair::verdicts(other, first)
        } else {
            Pair::verdicts(first, other)
        };
        let (helper, answer) = (AgentId::Helper, AnswerKind::Consistency);
        let sent = tasks.try_send(step, &helper, answer, |prompter| {
            prompter.comparison(std::slice::from_ref(&pair))
        });
        match sent {
            Ok(()) => Self::Comparing(second),
            Err(error) => Self::unknown(plan, Some(second), error.to_string()),
        }
    }

    pub(crate) fn compared(self, plan: &Plan, result: Result<AgentAnswer, AgentError>) -> Self {
        let Self::Comparing(second) = self else {
            return self;
        };
        let why = match result {
            Ok(answer) => {
                let comparison = answer.content.comparison();
                if let Some(found) = comparison.and_then(|found| found.comparisons.first()) {
                    let reason = &found.reasoning;
                    let reason = (!reason.trim().is_empty()).then(|| reason.clone());
                    return Self::known(plan, Some(second), Held::by(found.magnitude, reason));
                }
                "the answer does not say how far apart they are".to_owned()
            }
            Err(error) => error.message,
        };
        let why = format!("the two verdicts were not compared: {why}");
        Self::unknown(plan, Some(second), why)
    }

    /// Settles the result as unknown, for this reason.
    pub(crate) fn given_up(self, plan: &Plan, why: &str) -> Self {
        match self {
            Self::NotRequested | Self::Known(_) => self,
            Self::Pending => Self::unknown(plan, None, why),
            Self::Decided(second) | Self::Comparing(second) => {
                Self::unknown(plan, Some(second), why)
            }
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self, Self::NotRequested | Self::Known(_))
    }

    pub(crate) fn emit(self, plan: &Plan, emitter: &mut Emitter<'_>) {
        let Self::Known(second) = self else { return };
        match plan.debate.judge_passes {
            JudgePasses::Once => emitter.emit(Event::Judge(JudgeEvent::Rejudged(second.held))),
            JudgePasses::Twice => {
                emitter.emit(Event::Judge(JudgeEvent::SecondPass(Box::new(second))));
            }
        }
    }

    fn unknown(plan: &Plan, said: Option<OtherVerdict>, why: impl Into<String>) -> Self {
        Self::known(plan, said, Held::unknown(why))
    }

    fn known(plan: &Plan, said: Option<OtherVerdict>, held: Held) -> Self {
        let expert_order = plan.labels_for(&AgentId::SecondJudge).order.clone();
        let (verdict, model) = said.map(|said| (said.verdict, said.model)).unzip();
        Self::Known(SecondPass {
            verdict,
            model: model.flatten(),
            expert_order,
            held,
        })
    }
}

/// The recommendation, or a menu's options and how to choose.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(recommendation: &str) -> Verdict {
        Verdict {
            recommendation: recommendation.to_owned(),
            ..Verdict::default()
        }
    }

    #[test]
    fn verdicts_differ_by_wording_but_not_by_form() {
        let is_same = |first, second| {
            wording::is_same(&substance(&verdict(first)), &substance(&verdict(second)))
        };
        assert!(is_same(
            "Use **OAuth**,\n with tokens.",
            "use oauth with Tokens"
        ));
        assert!(!is_same("Use OAuth.", "Do not use OAuth."));
        assert!(!is_same("at most 1.5 hours", "at most 15 hours"));
        assert!(!is_same("Use C.", "Use C++."));
    }
}
