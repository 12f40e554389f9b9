//! Prints the lines that belong to an event, one function for each family of events. `messages` and
//! `questions` hold the words.

use std::time::Duration;

use crate::consultation::event::{
    AbortReason, AgentEvent, CallEvent, CallFinished, CancelReason, ConsultationEvent, CostEvent,
    EarlyTerminationDecision, HealthEvent, PanelEvent, PanelSelection, ProviderEvent, PulseEvent,
    RoundEvent, Started, SubstitutionReason, WhySubstituted,
};
use crate::consultation::policy::estimate::Consent;
use crate::domain::ids::{AgentId, CallId};

use super::{DegradedWarning, DisplayMode, ProgressReporter};
use crate::terminal::progress::estimate::estimate_lines;
use crate::terminal::progress::evaluation::evaluation_tree;
use crate::terminal::progress::judge_stream::CallResult;
use crate::terminal::progress::messages;
use crate::terminal::prompt::questions::{consent, early_termination, pulse};

/// Rate limits of at least this long are shown without `--verbose`.
const NOTABLE_WAIT_MS: u64 = 2_000;

impl ProgressReporter {
    pub(super) fn on_consultation(&mut self, event: &ConsultationEvent, elapsed: Duration) {
        match event {
            ConsultationEvent::Started(terms) => {
                self.started(terms);
                self.start_live();
            }
            ConsultationEvent::Resumed(resumed) => {
                if let Some(line) = messages::repeated_calls(resumed) {
                    self.detail(&line);
                }
                self.start_live();
            }
            ConsultationEvent::CostEstimated(estimate) => {
                if let Some(terms) = &self.facts.terms {
                    for line in estimate_lines(estimate, &terms.panel) {
                        self.detail(&line);
                    }
                }
            }
            ConsultationEvent::UserConsent { approved, how } => self.consent(*approved, *how),
            ConsultationEvent::ProviderSubstituted {
                agent_id,
                original,
                substitute,
                reason,
                message,
                ..
            } => {
                let name = self.facts.name_of(agent_id);
                let line = messages::substituted(&name, original, substitute, reason, message);
                // A hedge that won is not a failure.
                if *reason == SubstitutionReason::Known(WhySubstituted::Hedge) {
                    self.note(&line);
                } else {
                    self.alert(&line);
                }
            }
            ConsultationEvent::EarlyTerminationDecided(decision) => {
                self.early_termination(decision);
            }
            ConsultationEvent::Completed { .. } => {
                self.print_finished_rows(elapsed);
                self.printer.live_area().stop();
                self.heading(&messages::complete());
            }
            ConsultationEvent::Aborted { reason, .. } => self.aborted(*reason, elapsed),
            ConsultationEvent::RoundArtifact { .. }
            | ConsultationEvent::SubstitutionOffered { .. }
            | ConsultationEvent::EarlyTerminationOffered(_) => {}
        }
    }

    pub(super) fn on_panel(&self, event: &PanelEvent) {
        match event {
            PanelEvent::PersonasSelected(selection) => self.personas_selected(selection),
        }
    }

    pub(super) fn on_round(&self, event: &RoundEvent, elapsed: Duration) {
        match event {
            RoundEvent::Completed { round_number, .. } => {
                self.print_finished_rows(elapsed);
                self.heading(&messages::round_complete(*round_number));
            }
            RoundEvent::Started { .. } => {}
        }
    }

    pub(super) fn on_agent(&self, event: &AgentEvent) {
        let is_plain = self.display == DisplayMode::Plain;
        match event {
            AgentEvent::Thinking { agent_id, name, .. } if is_plain => {
                self.note(&messages::thinking(name));
            }
            AgentEvent::Completed {
                agent_id,
                name,
                duration_ms,
                ..
            } if is_plain => {
                self.note(&messages::completed(name, *duration_ms));
            }
            AgentEvent::Thinking { .. } | AgentEvent::Completed { .. } => {}
            // What the run does instead of the helper's answer has a line of its own.
            AgentEvent::Failed {
                agent_id: AgentId::Helper,
                name,
                error,
                ..
            } => {
                self.detail(&messages::failed(name, &error.message));
            }
            AgentEvent::Failed { name, error, .. } => {
                self.alert(&messages::failed(name, &error.message));
            }
        }
    }

    pub(super) fn on_call(&mut self, event: &CallEvent) {
        match event {
            CallEvent::Started {
                call,
                agent_id,
                model,
                ..
            } => {
                if let (Some(judge), AgentId::Judge) = (&mut self.judge, agent_id) {
                    judge.begin(*call, model);
                }
            }
            CallEvent::Retried {
                agent_id,
                wait_ms,
                reason,
                ..
            } => {
                let name = self.facts.name_of(agent_id);
                self.detail(&messages::retried(&name, *wait_ms, reason));
            }
            CallEvent::Hedged {
                agent_id,
                model,
                backup,
                after_ms,
                ..
            } => {
                let name = self.facts.name_of(agent_id);
                let line = messages::hedged(&name, model, backup, *after_ms);
                if self.display == DisplayMode::Plain {
                    self.note(&line);
                } else {
                    self.detail(&line);
                }
            }
            CallEvent::NotHedged {
                agent_id, reason, ..
            } => self.detail(&messages::not_hedged(
                &self.facts.name_of(agent_id),
                *reason,
            )),
            CallEvent::Finished(call) => self.finished(call),
            CallEvent::Cancelled { call, reason } => {
                self.end_judges_text(*call, CallResult::Nothing);
                if let (CancelReason::HedgeLost, Some((name, model))) =
                    (reason, self.facts.caller(*call))
                {
                    self.detail(&messages::slower(&name, model));
                }
            }
        }
    }

    pub(super) fn on_cost(&self, event: &CostEvent) {
        match event {
            CostEvent::CeilingReached { max_cost, .. } => {
                self.alert(&messages::ceiling_reached(*max_cost));
            }
            CostEvent::GateTriggered { .. } => {}
        }
    }

    pub(super) fn on_pulse(&self, event: &PulseEvent) {
        match event {
            PulseEvent::Asked {
                waiting,
                asked: false,
                ..
            } => self.note(&pulse::still_waiting(waiting)),
            PulseEvent::Asked { .. } | PulseEvent::Answered { .. } => {}
        }
    }

    pub(super) fn on_provider(&self, event: &ProviderEvent) {
        match event {
            ProviderEvent::Held {
                provider,
                wait_ms,
                reason,
                ..
            } => {
                let line = messages::provider_wait(provider, *wait_ms, reason);
                if *wait_ms >= NOTABLE_WAIT_MS {
                    self.note(&line);
                } else {
                    self.detail(&line);
                }
            }
            ProviderEvent::CircuitChanged {
                provider,
                circuit,
                wait_ms,
            } => self.detail(&messages::circuit(provider, *circuit, *wait_ms)),
            // The failed call says it.
            ProviderEvent::KeyChanged { .. } => {}
        }
    }

    pub(super) fn on_health(&mut self, event: &HealthEvent) {
        match event {
            HealthEvent::StatusUpdated(update) => {
                self.detail(&messages::health(update));
                if update.none_healthy && self.degraded_warning == DegradedWarning::Pending {
                    self.degraded_warning = DegradedWarning::Shown;
                    self.alert(messages::ALL_DEGRADED);
                }
            }
            HealthEvent::CheckStarted { .. } => {}
        }
    }

    fn started(&self, terms: &Started) {
        self.heading(&messages::starting(terms));
        for line in messages::panel(terms, self.width()) {
            self.printer.note(&line);
        }
        for line in messages::notices(terms) {
            self.alert(&line);
        }
        let mode = messages::mode(terms);
        for line in mode.into_iter().chain(messages::material(terms)) {
            self.note(line);
        }
    }

    fn personas_selected(&self, selection: &PanelSelection) {
        self.heading(&messages::personas_selected(selection));
        if let Some(line) = messages::selection_reason(selection) {
            self.note(&line);
        }
        for line in messages::seats(&selection.panel, self.width()) {
            self.printer.note(&line);
        }
        for note in &selection.notes {
            self.alert(&messages::selection_note(note));
        }
    }

    /// Prints the outcome of the cost gate. Without a person to ask, the reasons for asking follow.
    fn consent(&self, approved: bool, how: Consent) {
        let estimate = self.facts.estimate.as_ref();
        if let Some(line) = messages::consent(estimate, approved, how) {
            self.note(&line);
        }
        if let (Consent::NobodyToAsk, Some(estimate)) = (how, estimate) {
            for line in consent::reasons(estimate, &self.facts.gate_reasons, self.facts.month()) {
                self.alert(&line);
            }
        }
    }

    fn early_termination(&self, decision: &EarlyTerminationDecision) {
        let evaluation = &decision.findings.evaluation;
        for line in evaluation_tree("EARLY TERMINATION CHECK (Round 2)", evaluation) {
            self.detail(&line);
        }
        if let Some(line) = early_termination::decision(decision) {
            self.note(&line);
        }
    }

    fn finished(&mut self, call: &CallFinished) {
        let result = if call.error.is_none() {
            CallResult::Answer
        } else {
            CallResult::Nothing
        };
        self.end_judges_text(call.call, result);
        let name = self.facts.name_of(&call.agent_id);
        let served = call.served_model.as_deref();
        if let Some(served) = served.filter(|served| !call.model.is_served_as(served)) {
            self.detail(&messages::served(&name, &call.model, served));
        }
        for line in messages::problems(&name, call) {
            self.detail(&line);
        }
    }

    fn end_judges_text(&mut self, call: CallId, result: CallResult) {
        if let Some(judge) = &mut self.judge {
            let text = judge.end(call, result);
            self.print_judges_text(&text);
        }
    }

    /// The command prints the abort itself as an error; here only the live lines end.
    fn aborted(&self, reason: AbortReason, elapsed: Duration) {
        let area = self.printer.live_area();
        let is_drawn = !area.is_hidden() && !self.view().is_blank();
        if reason == AbortReason::Interrupted && self.display == DisplayMode::Live && is_drawn {
            area.abandon();
            self.view().clear();
            return self.printer.write_on("\n");
        }
        self.printer.end_line();
        self.view().stop_all();
        self.print_finished_rows(elapsed);
        area.stop();
        if reason == AbortReason::CostExceededEstimate {
            self.alert(messages::COST_EXCEEDED);
        }
    }
}
