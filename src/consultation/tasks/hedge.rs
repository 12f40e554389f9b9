//! Hedging: repeats a slow call at a second model. The first answer counts.

use std::time::Duration;

use super::fit::check_budget;
use super::outcome::{Attempt, TaskStatus};
use super::task::AgentTask;
use crate::consultation::event::{
    CallEvent, CancelReason, ConsultationEvent, Event, Purpose, WhySubstituted,
};
use crate::consultation::machine::emitter::Emitter;
use crate::consultation::machine::step::StepContext;
use crate::consultation::plan::Plan;
use crate::consultation::policy::budget::BudgetCheck;
use crate::consultation::policy::health::HealthStatus;
use crate::consultation::policy::hedging::NoHedge;
use crate::consultation::protocol::request::{NotAdmitted, RequestKey};
use crate::domain::ids::{ModelRef, ProviderId, TimerId};

impl AgentTask {
    /// `None` if it never is.
    pub(crate) fn hedge_delay(&self, plan: &Plan) -> Option<Duration> {
        let control = &plan.control;
        // A model on the user's own machine is slow by nature, and its prompts must not leave the
        // machine.
        let may = !control.strict
            && self.rules.may_hedge
            && plan.terms(&self.current).billing.is_metered();
        may.then(|| control.hedge.delay(&self.current)).flatten()
    }

    pub(super) fn would_hedge_at(&self, timer: TimerId) -> bool {
        matches!(&self.status, TaskStatus::Calling(calling) if calling.hedge_timer == Some(timer))
    }

    /// Returns whether the call has shown no sign of an answer.
    pub(super) fn is_slow(&self) -> bool {
        match &self.status {
            TaskStatus::Calling(calling) => {
                calling.first_outcome.is_none()
                    && calling
                        .attempts
                        .iter()
                        .all(|attempt| attempt.first_token.is_none())
            }
            TaskStatus::Pending { .. } | TaskStatus::Asking(_) => false,
        }
    }

    /// Requests the same call at a second model, or emits the reason against it. It goes out only
    /// if that model's provider is free now.
    pub(super) fn hedge(&mut self, step: &mut StepContext<'_>) {
        match self.backups(step) {
            Err(reason) => self.not_hedged(&mut step.emitter, reason),
            Ok(backups) => {
                let agent = self.agent.clone();
                self.request(step, RequestKey::Hedge { agent }, &backups);
            }
        }
    }

    pub(super) fn hedge_admitted(&mut self, step: &mut StepContext<'_>, provider: &ProviderId) {
        let TaskStatus::Calling(calling) = &self.status else {
            return;
        };
        if calling.hedge_timer.is_none() || !self.is_slow() {
            return;
        }
        let backups = self.backups(step).unwrap_or_default();
        let first = calling.attempts.first().cloned();
        let backup = backups.iter().find(|model| model.provider == *provider);
        let (Some(first), Some(backup)) = (first, backup) else {
            return;
        };
        step.run.hedges += 1;
        step.emit(Event::Call(CallEvent::Hedged {
            call: first.call,
            agent_id: self.agent.clone(),
            model: first.model,
            backup: backup.clone(),
            after_ms: step.run.ms_since(first.since, step.now),
        }));
        let fit = self.fit(step, backup);
        let second = self.call(step, backup, Purpose::Hedge, fit);
        if let TaskStatus::Calling(calling) = &mut self.status {
            calling.hedge_timer = None;
            calling.attempts.push(second);
        }
    }

    pub(super) fn hedge_refused(&mut self, emitter: &mut Emitter<'_>, reason: &NotAdmitted) {
        let reason = match reason {
            NotAdmitted::Busy => NoHedge::BackupBusy,
            NotAdmitted::Budget { .. } => NoHedge::Ceiling,
        };
        if self.is_slow() {
            self.not_hedged(emitter, reason);
        }
    }

    fn not_hedged(&mut self, emitter: &mut Emitter<'_>, reason: NoHedge) {
        let TaskStatus::Calling(calling) = &mut self.status else {
            return;
        };
        let Some(first) = calling.attempts.first() else {
            return;
        };
        if calling.hedge_timer.take().is_some() {
            emitter.emit(Event::Call(CallEvent::NotHedged {
                call: first.call,
                agent_id: self.agent.clone(),
                reason,
            }));
        }
    }

    /// Best first: healthy, from another vendor, and within the ceiling.
    fn backups(&self, step: &StepContext<'_>) -> Result<Vec<ModelRef>, NoHedge> {
        if !step.run.has_hedges() {
            return Err(NoHedge::QuotaUsed);
        }
        let elsewhere: Vec<&ModelRef> = self
            .rest
            .iter()
            .filter(|model| model.provider != self.current.provider)
            // A plan has no calls to spare for haste.
            .filter(|model| !step.plan.is_by_plan(model))
            .collect();
        if elsewhere.is_empty() {
            return Err(NoHedge::NoBackup);
        }
        let providers = &step.run.providers;
        let mut well: Vec<&ModelRef> = elsewhere
            .into_iter()
            .filter(|model| providers.is_well(&model.provider, step.now))
            .collect();
        if well.is_empty() {
            return Err(NoHedge::NoHealthyBackup);
        }
        // Models at providers known to be healthy come first.
        well.sort_by_key(|model| providers.health(&model.provider) != HealthStatus::Healthy);
        let affordable = |model: &&ModelRef| {
            check_budget(step, model, self.fit(step, model).worst_case) == BudgetCheck::Allowed
        };
        let affordable: Vec<ModelRef> = well.into_iter().filter(affordable).cloned().collect();
        if affordable.is_empty() {
            return Err(NoHedge::Ceiling);
        }
        Ok(affordable)
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
            let slow = format!(
                "no answer within {} s",
                step.run.ms_since(self.began, step.now) / 1_000
            );
            let substitution = self.substitution(&winner.model, WhySubstituted::Hedge, &slow);
            step.emit(ConsultationEvent::ProviderSubstituted(substitution));
            self.current = winner.model.clone();
            step.run
                .hedge_winners
                .insert(self.agent.clone(), winner.model.clone());
        }
    }
}
