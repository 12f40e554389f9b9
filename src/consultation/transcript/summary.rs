//! Facts that every face and the record derive from a transcript: status, judge, objections,
//! missing rounds, differences from what the panel promised. Computed in one place, so that screen,
//! Markdown and JSON agree.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Transcript;
use crate::consultation::analysis::evidence::{JudgedSynthesis, calibrated};
use crate::consultation::event::{AbortReason, CallFinished, StateName, WhySubstituted};
use crate::consultation::plan::Plan;
use crate::consultation::policy::mode::Ending;
use crate::consultation::protocol::call::StopReason;
use crate::domain::answer::artifact::{Content, Independent, Revision};
use crate::domain::answer::confidence::Calibrated;
use crate::domain::context::Context;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::panel::Seat;
use crate::stopping::early_termination::TerminationRule;

/// The status of a consultation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A complete result.
    Complete,
    /// A result with a missing seat or an unreadable answer.
    Degraded,
    /// Ended without a result.
    Aborted,
    /// Its cost was not agreed to: nothing was asked or spent.
    Declined,
    /// The log ends before the consultation: it is still running, or its process was killed.
    Incomplete,
}

impl Transcript {
    pub fn status(&self) -> Status {
        match self.state {
            StateName::Aborted if self.is_declined() => Status::Declined,
            StateName::Aborted => Status::Aborted,
            StateName::Complete if self.degradations().is_empty() => Status::Complete,
            StateName::Complete => Status::Degraded,
            StateName::Idle
            | StateName::Estimating
            | StateName::AwaitingConsent
            | StateName::Independent
            | StateName::Synthesis
            | StateName::CrossExam
            | StateName::Verdict => Status::Incomplete,
        }
    }

    fn is_declined(&self) -> bool {
        self.abort
            .as_ref()
            .is_some_and(|abort| abort.reason == AbortReason::Declined)
    }

    /// Returns the model that gave the judge's last answer; before that, the first judge.
    pub fn judge(&self) -> Option<&ModelRef> {
        let answered = self
            .calls
            .iter()
            .rev()
            .find(|call| call.agent_id == AgentId::Judge && call.error.is_none());
        answered
            .map(|call| &call.model)
            .or_else(|| self.terms.panel.judges.first())
    }

    /// The last fallback that took over, else the original one.
    pub fn player<'a>(&'a self, seat: &'a Seat) -> &'a ModelRef {
        let taken_over = self
            .substitutions
            .iter()
            .rev()
            .find(|substitution| substitution.agent_id == seat.id);
        taken_over.map_or(&seat.model, |substitution| &substitution.substitute)
    }

    /// The last that the estimate covers, four without an estimate.
    pub fn planned_rounds(&self) -> u8 {
        let estimated = self
            .estimate
            .iter()
            .flat_map(|estimate| &estimate.calls)
            .map(|call| call.round_number)
            .max();
        estimated.unwrap_or(4)
    }

    pub fn completed_rounds(&self) -> Vec<u8> {
        self.rounds.iter().map(|(number, _)| *number).collect()
    }

    /// Empty for a complete consultation.
    pub fn incomplete_rounds(&self) -> Vec<u8> {
        let completed = self.completed_rounds();
        let planned = if self.state == StateName::Complete {
            0
        } else {
            self.planned_rounds()
        };
        (1..=planned)
            .filter(|number| !completed.contains(number))
            .collect()
    }

    /// Returns whether anything would be lost without a resume: an answer, or what was paid.
    pub fn has_progress(&self) -> bool {
        let is_answered = self.calls.iter().any(|call| call.error.is_none());
        is_answered || !self.total().cost.is_unbilled()
    }

    /// Returns whether it can be resumed, judged by its log: it has its terms and has not ended for
    /// good.
    pub fn is_resumable(&self) -> bool {
        let ended = match &self.abort {
            Some(abort) => !abort.reason.is_resumable(),
            None => self.state == StateName::Complete,
        };
        let has_context = |plan: &Plan| plan.context.as_deref().is_none_or(Context::is_stored);
        self.terms.plan.as_deref().is_some_and(has_context) && !ended
    }

    /// Returns the consensus after Round 2 in words, for a consultation without a verdict.
    pub fn partial_consensus(&self) -> Option<String> {
        let synthesis = self.synthesis()?;
        let points: Vec<&str> = synthesis
            .consensus_points
            .iter()
            .map(|point| point.point.as_str())
            .collect();
        let text = if points.is_empty() {
            synthesis.prose_excerpt.clone()
        } else {
            points.join("\n")
        };
        (!text.trim().is_empty()).then_some(text)
    }
}

impl Transcript {
    /// Returns the share of the experts in Round 1 that support the leading point of agreement.
    #[expect(clippy::cast_precision_loss, reason = "a panel has few seats")]
    pub fn agreement(&self) -> Option<f64> {
        let answered = self.independents().count();
        let leading = self.synthesis()?.leading()?;
        let held = self.independents();
        let supporting = held
            .filter(|held| leading.is_supported_by(&held.agent_id))
            .count();
        (answered > 0).then(|| supporting as f64 / answered as f64)
    }

    /// Returns the calibrated probability that the leading point is right. Only for a debate that
    /// aims at one answer.
    pub fn calibrated(&self) -> Option<Calibrated> {
        if let Some(decision) = &self.early_end {
            return decision.findings.calibrated;
        }
        let plan = self.terms.plan.as_deref();
        let mode = plan.map(|plan| plan.debate.mode).unwrap_or_default();
        let rule = plan.map_or_else(TerminationRule::usual, |plan| {
            plan.control.early_termination.clone()
        });
        let synthesis = self
            .synthesis()
            .filter(|_| mode.strategy().ending == Ending::MayBeEarly)?;
        let answers = self
            .independents()
            .filter_map(|held| Some((held, self.model_of(&AgentId::from(&held.agent_id), 1)?)));
        let judge = self.model_of(&AgentId::Judge, 2)?;
        calibrated(&rule, answers, JudgedSynthesis { synthesis, judge })
    }

    fn model_of(&self, agent: &AgentId, round: u8) -> Option<&ModelRef> {
        let answered = |call: &&CallFinished| {
            call.round_number == round && call.agent_id == *agent && call.error.is_none()
        };
        let called = self
            .calls
            .iter()
            .rev()
            .find(answered)
            .map(|call| &call.model);
        let panel = &self.terms.panel;
        called.or_else(|| match panel.seat_of(agent) {
            Some(seat) => Some(&seat.model),
            None => panel.judges.first(),
        })
    }
}

impl Transcript {
    /// Empty for a complete result.
    pub fn degradations(&self) -> Vec<String> {
        let failed = self
            .failures
            .iter()
            // The judge's failure is reported as the end of the consultation; the helper's answer
            // and a second verdict are optional.
            .filter(|failure| failure.agent_id.seat().is_some())
            .map(|failure| {
                format!(
                    "{} gave no answer in Round {}: {}",
                    failure.name, failure.round_number, failure.error.message
                )
            });
        let artifacts = self.artifacts.iter();
        let degraded = artifacts.filter(|artifact| artifact.degraded).map(|artifact| {
            let author = match &artifact.content {
                Content::Independent(Independent { agent_id, .. })
                | Content::Revision(Revision { agent_id, .. }) => {
                    self.agent_name(agent_id.as_str())
                }
                _ => "the judge",
            };
            let round = artifact.round_number;
            format!(
                "{author}'s answer in Round {round} could not be read as asked; its text is quoted \
                 as it is"
            )
        });
        let substituted = self
            .substitutions
            .iter()
            // An answer that another model gave sooner is no less than the panel promised.
            .filter(|substitution| substitution.reason != WhySubstituted::Hedge)
            .filter(|substitution| substitution.agent_id != AgentId::SecondJudge)
            .map(|taken| {
                let agent = if taken.agent_id == AgentId::Judge {
                    "the judge"
                } else {
                    self.agent_name(taken.agent_id.as_str())
                };
                format!(
                    "{} took over from {} as {agent} in Round {} and later: {}",
                    taken.substitute,
                    taken.original,
                    taken.round_number,
                    taken.reason.in_words(&taken.message)
                )
            });
        let too_long = self.calls.iter().filter_map(|call| {
            let agent = match &call.agent_id {
                AgentId::Seat(seat) => self.agent_name(seat.as_str()),
                AgentId::Judge => "the judge",
                AgentId::SecondJudge | AgentId::Helper => return None,
            };
            (call.stop == Some(StopReason::TooLong)).then(|| {
                format!(
                    "{agent}'s answer in Round {} was longer than 1 MB; the rest was left out",
                    call.round_number
                )
            })
        });
        failed
            .chain(substituted)
            .chain(degraded)
            .chain(too_long)
            .collect()
    }

    /// Returns requested models that were served by a different one, as reported by the providers,
    /// with its name; each pair once.
    pub fn served_otherwise(&self) -> BTreeSet<(&ModelRef, &str)> {
        let served = self
            .calls
            .iter()
            .filter_map(|call| Some((&call.model, call.served_model.as_deref()?)));
        served
            .filter(|(asked, served)| !asked.is_served_as(served))
            .collect()
    }
}
