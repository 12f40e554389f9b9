//! Agreement among the experts, and the probability that it is right.

use crate::consultation::analysis::evidence::{Judgement, calibrated};
use crate::consultation::event::CallFinished;
use crate::consultation::policy::mode::Ending;
use crate::domain::confidence::Calibrated;
use crate::domain::ids::{AgentId, ModelRef};
use crate::stopping::early_termination::EarlyStop;

use super::Transcript;

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
        let rule = plan.map_or_else(EarlyStop::usual, |plan| {
            plan.control.early_termination.clone()
        });
        let synthesis = self
            .synthesis()
            .filter(|_| mode.strategy().ending == Ending::MayBeEarly)?;
        let answers = self
            .independents()
            .filter_map(|held| Some((held, self.model_of(&AgentId::from(&held.agent_id), 1)?)));
        let judge = self.model_of(&AgentId::Judge, 2)?;
        calibrated(&rule, answers, Judgement { synthesis, judge })
    }

    /// Returns the model that gave an agent's answer in a round.
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
