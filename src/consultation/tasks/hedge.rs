//! Hedging: repeats a slow call at a second model. The first answer counts.

use std::time::Duration;

use crate::consultation::event::{
    CallEvent, CancelReason, ConsultationEvent, Event, Purpose, SubstitutionReason, WhySubstituted,
};
use crate::consultation::machine::step::StepContext;
use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::policy::hedging::NoHedge;
use crate::consultation::protocol::Effect;
use crate::consultation::protocol::request::{CallRequest, NotAdmitted, RequestKey};
use crate::domain::ids::{ModelRef, ProviderId, TimerId};

use super::attempt::Attempt;
use super::status::Status;
use super::task::AgentTask;

impl AgentTask {
    /// Returns the delay before a call without any sign of an answer is hedged; `None` if it never
    /// is.
    pub(crate) fn hedge_delay(&self, step: &StepContext<'_>) -> Option<Duration> {
        let control = &step.plan.control;
        // A model on the user's own machine is slow by nature, and its prompts must not leave the
        // machine.
        let may = !control.strict && self.rules.may_hedge && !step.plan.terms(&self.current).free;
        may.then(|| control.hedge.delay(&self.current)).flatten()
    }

    /// Returns whether this timer starts the hedge.
    pub(in crate::consultation) fn would_hedge_at(&self, timer: TimerId) -> bool {
        matches!(&self.status, Status::Calling(calling) if calling.hedge_timer == Some(timer))
    }

    /// Returns whether the call has shown no sign of an answer.
    pub(in crate::consultation) fn is_slow(&self) -> bool {
        match &self.status {
            Status::Calling(calling) => {
                calling.first_outcome.is_none()
                    && calling
                        .attempts
                        .iter()
                        .all(|attempt| attempt.first_token.is_none())
            }
            Status::Pending { .. } | Status::Asking { .. } => false,
        }
    }

    /// Requests the same call at a second model, or emits the reason against it. It goes out only
    /// if that model's provider is free now.
    pub(in crate::consultation) fn hedge(&mut self, step: &mut StepContext<'_>) {
        match self.backups(step) {
            Err(reason) => self.not_hedged(step, reason),
            Ok(backups) => {
                let option =
                    |model| self.request_option(step, model, self.output_limit_at(step, model));
                let options = backups.iter().map(option).collect();
                let key = RequestKey::Hedge {
                    agent: self.agent.clone(),
                };
                let beyond_month = step.run.beyond_month;
                step.push(Effect::Request(Box::new(CallRequest {
                    key,
                    options,
                    beyond_month,
                })));
            }
        }
    }

    /// Makes the same call at the best second model of the admitted provider.
    pub(in crate::consultation) fn hedge_admitted(
        &mut self,
        step: &mut StepContext<'_>,
        provider: &ProviderId,
    ) {
        let Status::Calling(calling) = &self.status else {
            return;
        };
        if calling.hedge_timer.is_none() || !self.is_slow() || step.is_stopping() {
            return;
        }
        let backups = self.backups(step).unwrap_or_default();
        let first = calling.attempts.first().cloned();
        let backup = backups.iter().find(|model| model.provider == *provider);
        let (Some(first), Some(backup)) = (first, backup) else {
            return;
        };
        let second = self.ask_beside(step, &first, backup);
        if let Status::Calling(calling) = &mut self.status {
            calling.hedge_timer = None;
            calling.attempts.push(second);
        }
    }

    /// Handles a refused hedge: the provider was busy, or a higher ceiling does not allow it.
    pub(in crate::consultation) fn hedge_refused(
        &mut self,
        step: &mut StepContext<'_>,
        reason: &NotAdmitted,
    ) {
        let reason = match reason {
            NotAdmitted::Busy => NoHedge::BackupBusy,
            NotAdmitted::Budget { .. } => NoHedge::Ceiling,
        };
        if self.is_slow() {
            self.not_hedged(step, reason);
        }
    }

    fn not_hedged(&mut self, step: &mut StepContext<'_>, reason: NoHedge) {
        let Status::Calling(calling) = &mut self.status else {
            return;
        };
        let Some(first) = calling.attempts.first() else {
            return;
        };
        if calling.hedge_timer.take().is_some() {
            step.emit(Event::Call(CallEvent::NotHedged {
                call: first.call,
                agent_id: self.agent.clone(),
                reason,
            }));
        }
    }

    /// Returns the models for a hedge, best first: healthy, from another vendor, and within the
    /// ceiling.
    fn backups(&self, step: &StepContext<'_>) -> Result<Vec<ModelRef>, NoHedge> {
        if !step.has_hedges() {
            return Err(NoHedge::QuotaUsed);
        }
        let elsewhere: Vec<&ModelRef> = self
            .rest
            .iter()
            .filter(|model| model.provider != self.current.provider)
            .collect();
        if elsewhere.is_empty() {
            return Err(NoHedge::NoBackup);
        }
        let mut well: Vec<&ModelRef> = elsewhere
            .into_iter()
            .filter(|model| is_well(step, &model.provider))
            .collect();
        if well.is_empty() {
            return Err(NoHedge::NoHealthyBackup);
        }
        // Models at providers known to be healthy come first.
        well.sort_by_key(|model| step.health(&model.provider) != HealthStatus::Healthy);
        let affordable = |model: &&ModelRef| {
            let prompt = self.prompt(step, model);
            step.check_budget(step.worst_case(model, &prompt, self.output_limit_at(step, model)))
                == BudgetCheck::Allowed
        };
        let affordable: Vec<ModelRef> = well.into_iter().filter(affordable).cloned().collect();
        if affordable.is_empty() {
            return Err(NoHedge::Ceiling);
        }
        Ok(affordable)
    }

    fn output_limit_at(&self, step: &StepContext<'_>, model: &ModelRef) -> u64 {
        self.max_output_tokens
            .min(step.plan.terms(model).output_limit)
    }

    fn ask_beside(
        &self,
        step: &mut StepContext<'_>,
        first: &Attempt,
        backup: &ModelRef,
    ) -> Attempt {
        step.run.hedges += 1;
        step.emit(Event::Call(CallEvent::Hedged {
            call: first.call,
            agent_id: self.agent.clone(),
            model: first.model.clone(),
            backup: backup.clone(),
            after_ms: step.ms_since(first.since),
        }));
        let (prompt, max_output_tokens) = (
            self.prompt(step, backup),
            self.output_limit_at(step, backup),
        );
        let worst_case = step.worst_case(backup, &prompt, max_output_tokens);
        self.call(
            step,
            backup,
            prompt,
            max_output_tokens,
            worst_case,
            Purpose::Hedge,
        )
    }

    /// Cancels the slower of the two calls after one has answered. Emits a substitution if the
    /// hedge was faster.
    pub(crate) fn win(
        &mut self,
        step: &mut StepContext<'_>,
        winner: &Attempt,
        loser: Option<Attempt>,
    ) {
        if let Some(loser) = loser {
            loser.cancel(step, CancelReason::HedgeLost);
        }
        if winner.model != self.current {
            let slow = format!("no answer within {} s", step.ms_since(self.began) / 1_000);
            let original = std::mem::replace(&mut self.current, winner.model.clone());
            step.emit(Event::Consultation(
                ConsultationEvent::ProviderSubstituted {
                    agent_id: self.agent.clone(),
                    round_number: self.answer.round(),
                    original,
                    substitute: winner.model.clone(),
                    reason: SubstitutionReason::Known(WhySubstituted::Hedge),
                    message: slow,
                },
            ));
        }
    }
}

/// Returns whether a provider is not known to be unhealthy.
fn is_well(step: &StepContext<'_>, provider: &ProviderId) -> bool {
    let healthy = match step.health(provider) {
        HealthStatus::Unknown | HealthStatus::Healthy => true,
        HealthStatus::Degraded | HealthStatus::Unhealthy => false,
    };
    healthy && !step.is_no_use(provider)
}
