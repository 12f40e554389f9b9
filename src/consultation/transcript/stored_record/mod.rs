//! The record of a consultation, projected from its transcript. It is also the `--format json`
//! output.

mod panel;
mod rounds;
mod answer;
mod account;
mod token_efficiency;

use std::time::Duration;

use serde::Serialize;

use super::Transcript;
use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::names::with_names;
use crate::consultation::anonymity::texts::EditTexts;
use crate::consultation::event::EarlyTerminationDecision;
use crate::domain::artifact::SCHEMA_VERSION;
use crate::domain::confidence::Calibrated;
use crate::domain::debate_value::DebateValue;
use crate::domain::stored_record::{
    Amount, DebateValueAnalysis, EarlyTerminationEvaluation, StoredContext, StoredModel,
    StoredRecord, Vocabulary,
};

impl Transcript {
    /// Returns the record. Its texts name the experts as people know them: `Expert B` is a seat's
    /// name there.
    pub fn stored_record(&self) -> StoredRecord {
        let mut value = self.debate_value();
        let Some(mut labels) = Labels::in_order(&self.terms.expert_order, &self.terms.panel.seats)
        else {
            return self.record(&value);
        };
        let plan = self.terms.plan.as_ref();
        if let Some(prior) = plan.and_then(|plan| plan.debate.follows_up.as_ref()) {
            // Answers can name an expert of the earlier panel.
            labels = labels.followed_by(&prior.labels);
        }
        let edit = &mut |text: &mut String| *text = with_names(text, &labels);
        for moved in &mut value.agents {
            edit(&mut moved.reasoning);
            moved.revised_position.iter_mut().for_each(&mut *edit);
        }
        value.key_insights.iter_mut().for_each(&mut *edit);
        let mut named = self.clone();
        for artifact in &mut named.artifacts {
            artifact.content.edit_texts(edit);
        }
        let second = named.second_pass.as_mut();
        let verdict = second.and_then(|second| second.verdict.as_mut());
        if let Some(verdict) = verdict {
            verdict.edit_texts(edit);
        }
        let held = named.second_pass.iter_mut().map(|second| &mut second.held);
        for held in held.chain(&mut named.rejudged) {
            held.reason.iter_mut().for_each(&mut *edit);
        }
        named.record(&value)
    }

    /// Returns the record with the texts as the models wrote them, to show to models again.
    pub fn labelled_record(&self) -> StoredRecord {
        self.record(&self.debate_value())
    }

    /// Returns the record of these texts. `debate_value` is computed from the texts as written: it
    /// compares their words.
    fn record(&self, debate_value: &DebateValue) -> StoredRecord {
        let mut record = self.record_of_rounds(debate_value);
        record.open_points = record.points_left_open();
        record
    }

    fn record_of_rounds(&self, debate_value: &DebateValue) -> StoredRecord {
        let verdict = self.verdict();
        let recommendation = verdict.map(|verdict| verdict.recommendation.clone());
        let abort = self.abort.as_ref();
        let decision = self.early_end.as_ref();
        let early_end = decision.filter(|decision| decision.ended);
        let calibrated = self.calibrated();
        let concerns = self.stored_concerns();
        let terms = &self.terms;
        let plan = terms.plan.as_deref();
        let cost = self.total().cost;
        StoredRecord {
            vocabulary: Vocabulary {
                url: "https://schema.org/".to_owned(),
            },
            kind: Some("Report".to_owned()),
            schema_version: Some(SCHEMA_VERSION.to_owned()),
            id: self.id.as_str().to_owned(),
            at: Some(self.started_at),
            question: terms.question.clone(),
            context: plan
                .and_then(|plan| plan.context.as_deref())
                .map(StoredContext::from),
            mode: Some(terms.mode.clone()),
            status: word(&self.status()),
            state: word(&self.state),
            degradations: self.degradations(),
            agents: self.stored_agents(),
            panel: self.stored_panel(),
            persona_selection: self.stored_persona_selection(),
            judge: self.judge().map(StoredModel::from),
            substitutions: self.stored_substitutions(),
            hedges: self.hedges.clone(),
            served_otherwise: self.stored_served_otherwise(),
            planned_rounds: Some(self.planned_rounds()),
            completed_rounds: self.stored_completed_rounds(),
            incomplete_rounds: self.incomplete_rounds(),
            rounds_completed: Some(self.completed_rounds().len() as u64),
            responses: self.stored_rounds(),
            consensus: recommendation.clone(),
            confidence: self.confidence(),
            recommendation,
            recommendations: verdict
                .map(|verdict| verdict.recommendations.clone())
                .unwrap_or_default(),
            verdict_source: self.verdict_source().map(str::to_owned),
            summary: verdict.map(|verdict| verdict.summary.clone()),
            partial_consensus: self.partial_consensus().filter(|_| verdict.is_none()),
            reasoning: self.reasoning(),
            evidence: self.claims(),
            evidence_detail: self.stored_evidence(),
            concerns: concerns
                .iter()
                .map(|concern| concern.text.clone())
                .collect(),
            concerns_detail: concerns,
            dissent: self.stored_dissent(),
            open_points: Vec::new(),
            perspectives: self.stored_perspectives(debate_value),
            agreement: self.agreement(),
            debate_value_analysis: Some(DebateValueAnalysis::from(debate_value)),
            judge_consistent: self
                .second_pass
                .as_ref()
                .and_then(|second| second.held.consistent),
            judge_passes: self.stored_judge_passes(),
            rejudged_from: self.rejudged_from().map(|from| from.as_str().to_owned()),
            rejudged: self.stored_rejudgement(),
            follow_up_of: self.follow_up_of().map(|of| of.as_str().to_owned()),
            early_termination: early_end.is_some(),
            early_termination_reason: early_end
                .map(|_| EarlyTerminationDecision::REASON.to_owned()),
            rounds_skipped: early_end.map_or(0, |end| u64::from(end.findings.rounds_skipped)),
            estimated_cost_saved: early_end
                .map(|end| end.findings.estimated_cost_saved.known.usd()),
            estimated_cost_saved_lower_bound: early_end
                .is_some_and(|end| end.findings.estimated_cost_saved.lower_bound),
            actual_cost: Some(cost.known.usd()),
            actual_cost_lower_bound: cost.lower_bound,
            early_termination_evaluation: decision.map(evaluation),
            calibrated_confidence: calibrated.map(|calibrated| calibrated.probability),
            calibration: calibrated.map(|Calibrated { basis, .. }| basis),
            cost: Some(self.stored_cost()),
            token_efficiency_stats: Some(self.token_efficiency_stats()),
            estimated_cost: self.stored_estimate(),
            consent: self.stored_consent(),
            duration_ms: Some(milliseconds(self.duration)),
            waited_for_person_ms: milliseconds(self.waited_for_person),
            abort_reason: abort.and_then(|abort| word(&abort.reason)),
            abort_message: abort.map(|abort| abort.message.clone()),
            aborted_during: abort.and_then(|abort| word(&abort.during)),
            resume_token: self.is_resumable().then(|| self.id.as_str().to_owned()),
            prompt_versions: self.prompt_versions(),
            seed: Some(terms.seed),
            expert_order: terms.expert_order.clone(),
            tool_version: Some(terms.tool_version.clone()),
            project_context: plan.and_then(|plan| plan.project.as_deref().cloned()),
            scrubbing_report: plan.and_then(|plan| plan.scrubbing.as_deref().cloned()),
            grade: None,
            follow_ups: Vec::new(),
        }
    }
}

fn evaluation(decision: &EarlyTerminationDecision) -> EarlyTerminationEvaluation {
    let findings = &decision.findings;
    let rules = findings.evaluation.rules.iter();
    EarlyTerminationEvaluation {
        ended: decision.ended,
        by: word(&decision.by),
        confidence: findings.confidence,
        threshold: Some(findings.threshold),
        rounds_skipped: u64::from(findings.rounds_skipped),
        estimated_cost_saved: Amount::from(findings.estimated_cost_saved),
        rules: rules
            .map(|rule| serde_json::to_value(rule).unwrap_or_default())
            .collect(),
        decision: serde_json::to_value(&findings.evaluation.decision).unwrap_or_default(),
    }
}

/// Returns the serialized name of an enum's value.
fn word(value: &impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Some(word),
        Ok(_) | Err(_) => None,
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
