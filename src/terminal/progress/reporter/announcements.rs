//! Prints the lines that belong to an event. `messages` and `questions` hold the longer texts.

use std::time::Duration;

use crate::consultation::event::{
    Abort, AbortReason, AgentEvent, AgentFailure, CallEvent, CallFinished, CallStarted,
    CancelReason, ConsultationEvent, CostEvent, EarlyTerminationDecision, Event, HealthEvent,
    HealthUpdate, PanelEvent, PanelSelection, ProviderEvent, PulseEvent, RoundEvent, Started,
    WhySubstituted,
};
use crate::consultation::policy::estimate::Consent;
use crate::domain::answer::artifact::Artifact;
use crate::domain::ids::{AgentId, CallId};

use super::{DisplayMode, ProgressReporter};
use crate::terminal::output::evaluation_text::wrapped_tree;
use crate::terminal::output::evaluation_tree::evaluation_tree;
use crate::terminal::output::format::seconds;
use crate::terminal::output::printer::Verbosity;
use crate::terminal::progress::answer_summary::AnswerSummary;
use crate::terminal::progress::estimate::estimate_lines;
use crate::terminal::progress::judge_stream::CallResult;
use crate::terminal::progress::messages::{self, LONG_WAIT_MS};
use crate::terminal::prompt::questions::{consent, early_termination, pulse};
use crate::text::clean::one_line;

/// Rate limits of at least this long are shown without `--verbose`.
const NOTABLE_WAIT_MS: u64 = 2_000;

impl ProgressReporter {
    pub(super) fn announce(&mut self, event: &Event, elapsed: Duration) {
        match event {
            Event::Consultation(event) => self.on_consultation(event, elapsed),
            Event::Panel(PanelEvent::PersonasSelected(selection)) => {
                self.personas_selected(selection);
            }
            Event::Round(RoundEvent::Completed { round_number, .. }) => {
                self.view().drop_ended();
                self.round_completed(*round_number);
            }
            Event::Agent(event) => self.on_agent(event),
            Event::Call(event) => self.on_call(event),
            Event::Pulse(PulseEvent::Asked {
                waiting,
                asked: false,
                ..
            }) if !waiting.is_empty() => self.printer.note(&pulse::still_waiting(waiting)),
            Event::Provider(event) => self.on_provider(event),
            Event::Health(HealthEvent::StatusUpdated(update)) => self.health_updated(update),
            // The error at the end says that a ceiling is reached, the report the rest.
            Event::Cost(CostEvent::CeilingReached(_) | CostEvent::GateTriggered { .. })
            | Event::Judge(_)
            | Event::State(_)
            | Event::Round(RoundEvent::Started { .. })
            | Event::Pulse(PulseEvent::Asked { .. } | PulseEvent::Answered { .. })
            | Event::Health(HealthEvent::CheckStarted { .. }) => {}
        }
    }

    fn on_consultation(&mut self, event: &ConsultationEvent, elapsed: Duration) {
        match event {
            ConsultationEvent::Started(terms) => {
                self.started(terms);
                self.start_live();
            }
            ConsultationEvent::Resumed(resumed) => {
                self.details(messages::repeated_calls(resumed));
                self.start_live();
            }
            ConsultationEvent::CostEstimated(estimate) => {
                if let Some(terms) = &self.facts.terms {
                    self.details(estimate_lines(estimate, &terms.panel));
                }
            }
            ConsultationEvent::UserConsent { approved, how } => self.consent(*approved, *how),
            ConsultationEvent::ProviderSubstituted(substitution) => {
                let name = self.facts.name_of(&substitution.agent_id);
                let line = messages::substituted(&name, substitution);
                // A hedge that won is not a failure.
                if substitution.reason == WhySubstituted::Hedge {
                    self.printer.note(&line);
                } else {
                    self.warn_of_failure(line);
                }
            }
            ConsultationEvent::EarlyTerminationDecided(decision) => {
                self.early_termination(decision);
            }
            ConsultationEvent::Completed { .. } => {
                self.printer.live_area().stop();
                self.heading("✨ Consultation complete");
            }
            ConsultationEvent::Aborted(Abort { reason, .. }) => self.aborted(*reason, elapsed),
            ConsultationEvent::RoundArtifact { artifact } => self.answered(artifact),
            ConsultationEvent::SubstitutionOffered(_)
            | ConsultationEvent::EarlyTerminationOffered(_) => {}
        }
    }

    /// Warns of a failure, unless all have failed so far for want of a key or a connection.
    fn warn_of_failure(&mut self, line: String) {
        match &mut self.held_warnings {
            Some(held) => held.push(line),
            None => self.printer.warning(&line),
        }
    }

    fn release_warnings(&mut self) {
        for line in self.held_warnings.take().unwrap_or_default() {
            self.printer.warning(&line);
        }
    }

    fn on_agent(&mut self, event: &AgentEvent) {
        let is_plain = self.display == DisplayMode::Plain;
        match event {
            AgentEvent::Thinking { name, model, .. } if is_plain => {
                self.printer
                    .note(&format!("⚡ {name} thinking... ({})", model.model));
            }
            AgentEvent::Completed { agent_id, name, .. } => match agent_id {
                // The artifact follows.
                AgentId::Seat(_) | AgentId::Judge => {}
                AgentId::Helper | AgentId::SecondJudge => {
                    let took = self.facts.take_answered(agent_id);
                    if let (Some(took), true) = (took, is_plain) {
                        let took = seconds(took);
                        self.printer.note(&format!("✅ {name} completed ({took})"));
                    }
                }
            },
            AgentEvent::Thinking { .. } => {}
            AgentEvent::Failed(AgentFailure {
                agent_id,
                name,
                error,
                ..
            }) => {
                let line = format!("⚠️ Agent {name} failed: {}", one_line(&error.message));
                match agent_id {
                    // What the run does instead of the helper's answer has a line of its own.
                    AgentId::Helper => self.printer.detail(&line),
                    AgentId::Seat(_) | AgentId::Judge | AgentId::SecondJudge => {
                        self.warn_of_failure(line);
                    }
                }
            }
        }
    }

    /// Answers of an earlier consultation are not announced.
    fn answered(&mut self, artifact: &Artifact) {
        let (facts, labels) = (&self.facts, self.facts.labels());
        let name = |agent: &str| facts.expert_name(agent);
        let Some(summary) = AnswerSummary::new(artifact, labels.as_ref(), &name) else {
            return;
        };
        let Some(took) = self.facts.take_answered(&summary.agent) else {
            return;
        };
        let (name, took) = (self.facts.name_of(&summary.agent), seconds(took));
        let lines = if self.display == DisplayMode::Live {
            let traits = self.printer.err_traits();
            summary.lines(&name, &took, traits.width, traits.paint)
        } else {
            summary.plain_lines(&name, &took)
        };
        self.printer.note(&lines.join("\n"));
    }

    fn on_call(&mut self, event: &CallEvent) {
        match event {
            CallEvent::Started(CallStarted {
                call,
                agent_id,
                model,
                ..
            }) => {
                if let (Some(judge), AgentId::Judge) = (&mut self.judge, agent_id) {
                    judge.resize(self.printer.err_traits().width);
                    judge.begin(*call, model, self.facts.labels());
                }
            }
            CallEvent::Retried {
                call,
                agent_id,
                wait_ms,
                reason,
                attempt,
            } => {
                let name = self.facts.name_of(agent_id);
                let number = attempt.map_or_else(String::new, |attempt| {
                    format!(" {} of {}", attempt.number, attempt.of)
                });
                let line = format!(
                    "   {name}: retrying{number} in {}",
                    messages::millis(*wait_ms)
                );
                if self.printer.verbosity() == Verbosity::Verbose {
                    self.printer
                        .detail(&format!("{line}: {}", one_line(reason)));
                } else if self.display == DisplayMode::Plain {
                    let class = self.view().failure_class(*call);
                    self.printer
                        .note(&format!("{line} ({})", messages::cause(reason, class)));
                }
            }
            CallEvent::Hedged {
                agent_id,
                model,
                backup,
                after_ms,
                ..
            } => {
                let (name, after) = (self.facts.name_of(agent_id), messages::millis(*after_ms));
                let line = format!(
                    "🔀 {name}: no sign of an answer from {model} for {after}; hedged to {backup}"
                );
                if self.display == DisplayMode::Plain {
                    self.printer.note(&line);
                } else {
                    self.printer.detail(&line);
                }
            }
            CallEvent::NotHedged {
                agent_id, reason, ..
            } => {
                let (name, why) = (self.facts.name_of(agent_id), messages::no_hedge(*reason));
                self.printer
                    .detail(&format!("   {name}: slow; not hedged: {why}"));
            }
            CallEvent::FirstToken { .. } => {}
            CallEvent::Finished(call) => self.finished(call),
            CallEvent::Cancelled { call, reason } => {
                self.end_judges_text(*call, CallResult::Nothing);
                if let (CancelReason::HedgeLost, Some((name, model))) =
                    (reason, self.facts.caller(*call))
                {
                    self.printer
                        .detail(&format!("   {name}: {model} was slower and was cancelled"));
                }
            }
        }
    }

    fn on_provider(&mut self, event: &ProviderEvent) {
        match event {
            ProviderEvent::Held {
                provider,
                wait_ms,
                reason,
                ..
            } => {
                let line = messages::provider_wait(provider, *wait_ms, reason, self.facts.now);
                if *wait_ms >= LONG_WAIT_MS {
                    return self.warn_of_failure(line);
                }
                // Redrawn rows show it.
                if *wait_ms >= NOTABLE_WAIT_MS && self.display == DisplayMode::Plain {
                    self.printer.note(&line);
                } else {
                    self.printer.detail(&line);
                }
            }
            ProviderEvent::CircuitChanged {
                provider,
                circuit,
                wait_ms,
            } => self
                .printer
                .detail(&messages::circuit(provider, *circuit, *wait_ms)),
            // The failed call says it.
            ProviderEvent::KeyChanged { .. } => {}
        }
    }

    fn health_updated(&mut self, update: &HealthUpdate) {
        self.printer.detail(&messages::health(update));
        if !update.none_healthy || self.is_degradation_reported {
            return;
        }
        if let Some(line) = messages::degraded(&self.facts.degraded_providers()) {
            self.is_degradation_reported = true;
            self.warn_of_failure(line);
        }
    }

    fn round_completed(&self, round: u8) {
        if self.facts.has_asked {
            self.heading(&format!("📋 Round {round} complete"));
        } else if let Some(source) = self.facts.source_of_round(round) {
            self.heading(&format!("📋 Round {round} taken over from {source}"));
        }
    }

    fn started(&self, terms: &Started) {
        self.heading(&messages::starting(terms));
        for line in messages::panel(terms, self.width()) {
            self.printer.note(&line);
        }
        for line in messages::notices(terms) {
            self.printer.warning(&line);
        }
        for line in terms.plan.iter().flat_map(|plan| messages::modes(plan)) {
            self.printer.note(line);
        }
    }

    fn personas_selected(&self, selection: &PanelSelection) {
        self.heading(&messages::personas_selected(selection));
        let reason = one_line(&selection.reason);
        if selection.chosen_by.is_some() && !reason.is_empty() {
            self.printer.note(&format!("   {reason}"));
        }
        for line in messages::seats(&selection.panel, self.width()) {
            self.printer.note(&line);
        }
        for note in &selection.notes {
            self.printer
                .warning(&format!("   Note: {}", one_line(note)));
        }
    }

    /// Without a person to ask, the reasons for asking follow.
    fn consent(&self, approved: bool, how: Consent) {
        let estimate = self.facts.estimate.as_ref();
        if let Some(line) = messages::consent(estimate, self.facts.limits(), approved, how) {
            self.printer.note(&line);
        }
        if let (Consent::NobodyToAsk, Some(estimate)) = (how, estimate) {
            for line in consent::reasons(estimate, &self.facts.gate_reasons, self.facts.month()) {
                self.printer.warning(&line);
            }
        }
    }

    fn early_termination(&self, decision: &EarlyTerminationDecision) {
        let evaluation = &decision.findings.evaluation;
        let tree = evaluation_tree("EARLY TERMINATION CHECK (Round 2)", evaluation);
        self.details(wrapped_tree(&tree, self.printer.err_traits()));
        if let Some(line) = early_termination::decision(decision) {
            self.printer.note(&line);
        }
    }

    fn finished(&mut self, call: &CallFinished) {
        let error = call.error.as_ref();
        if !error.is_some_and(|error| error.class.meaning().is_about_access) {
            self.release_warnings();
        }
        self.end_judges_text(call.call, CallResult::of(call));
        let name = self.facts.name_of(&call.agent_id);
        let served = call.served_model.as_deref();
        if let Some(served) = served.filter(|served| !call.model.is_served_as(served)) {
            let (asked, served) = (&call.model, one_line(served));
            self.printer.detail(&format!(
                "   {name}: asked for `{asked}`, answered by `{served}`"
            ));
        }
        if call.plan.as_ref().is_some_and(|plan| plan.is_overage)
            && self.facts.in_overage.insert(call.model.provider.clone())
        {
            self.printer.warning(&format!(
                "⚠️ `{}`: the plan's limit is reached, and its vendor bills you for more calls",
                call.model.provider
            ));
        }
        self.details(messages::cache_use(&name, &call.tokens));
        self.details(messages::problems(&name, call));
    }

    fn end_judges_text(&mut self, call: CallId, result: CallResult) {
        if let Some(judge) = &mut self.judge {
            let text = judge.end(call, result);
            self.print_judges_text(&text);
        }
    }

    /// The command prints the abort itself as an error; here only the live lines end.
    fn aborted(&mut self, reason: AbortReason, elapsed: Duration) {
        if reason == AbortReason::AllAgentsFailed && self.held_warnings.is_some() {
            // The error names each cause.
            self.view().clear();
        } else {
            self.release_warnings();
        }
        self.leave_rows(elapsed);
        if reason == AbortReason::CostExceededEstimate {
            self.printer
                .warning("⚠️ Cost exceeded estimate. Aborting consultation.");
        }
    }
}
