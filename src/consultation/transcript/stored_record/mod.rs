//! The record of a consultation, projected from its transcript. It is also the `--format json`
//! output.

mod rounds;
mod answer;
mod account;

use std::time::Duration;

use super::Transcript;
use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::names::with_names;
use crate::consultation::anonymity::texts::edit_texts;
use crate::domain::answer::artifact::SCHEMA_VERSION;
use crate::domain::names::stored_name;
use crate::domain::record::stored_record::{
    DebateValue, ServedOtherwise, StoredAgent, StoredContext, StoredModel, StoredPanel,
    StoredPersonaSelection, StoredRecord, StoredSubstitution, Vocabulary,
};

impl Transcript {
    /// The texts name the experts as people know them: `Expert B` is a seat's name there.
    pub fn stored_record(&self) -> StoredRecord {
        let mut value = self.debate_value();
        let Some(mut labels) = Labels::in_order(&self.terms.expert_order, &self.terms.panel.seats)
        else {
            return self.record(value);
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
            edit_texts(&mut artifact.content, edit);
        }
        edit_texts(&mut named.second_pass, edit);
        edit_texts(&mut named.rejudged, edit);
        named.record(value)
    }

    /// Returns the record with the texts as the models wrote them, to show to models again.
    pub fn labelled_record(&self) -> StoredRecord {
        self.record(self.debate_value())
    }

    /// `debate_value` is computed from the texts as written: it compares their words.
    fn record(&self, debate_value: DebateValue) -> StoredRecord {
        let abort = self.abort.as_ref();
        let terms = &self.terms;
        let plan = terms.plan.as_deref();
        let mut record = StoredRecord {
            vocabulary: Vocabulary {
                url: "urn:conclave:consultation#".to_owned(),
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
            status: Some(stored_name(&self.status())),
            state: Some(stored_name(&self.state)),
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
            estimated_cost: self.stored_estimate(),
            consent: self.stored_consent(),
            duration_ms: Some(milliseconds(self.duration)),
            waited_for_person_ms: milliseconds(self.waited_for_person),
            abort_reason: abort.map(|abort| stored_name(&abort.reason)),
            abort_message: abort.map(|abort| abort.message.clone()),
            aborted_during: abort.map(|abort| stored_name(&abort.during)),
            resume_token: self.is_resumable().then(|| self.id.as_str().to_owned()),
            prompt_versions: self.prompt_versions(),
            seed: Some(terms.seed),
            expert_order: terms.expert_order.clone(),
            tool_version: Some(terms.tool_version.clone()),
            project_context: plan.and_then(|plan| plan.project.as_deref().cloned()),
            scrubbing_report: plan.and_then(|plan| plan.scrubbing.as_deref().cloned()),
            ..self.record_of_cost(self.record_of_answer(debate_value))
        };
        record.open_points = record.points_left_open();
        record
    }
}

impl Transcript {
    fn stored_agents(&self) -> Vec<StoredAgent> {
        let seats = self.terms.panel.seats.iter();
        seats
            .map(|seat| StoredAgent {
                id: seat.id.clone(),
                name: seat.name().to_owned(),
                persona: Some(seat.persona.id.clone()),
                provider: Some(seat.model.provider.as_str().to_owned()),
                model: Some(seat.model.model.clone()),
                demonstration: self.player(seat).is_demonstration(),
            })
            .collect()
    }

    fn stored_panel(&self) -> StoredPanel {
        let panel = &self.terms.panel;
        StoredPanel {
            judges: panel.judges.iter().map(StoredModel::from).collect(),
            one_family: panel.is_one_family(),
            notices: self.terms.notices.clone(),
        }
    }

    fn stored_persona_selection(&self) -> Option<StoredPersonaSelection> {
        let selection = self.persona_selection.as_ref()?;
        Some(StoredPersonaSelection {
            task_type: selection.task_type.clone(),
            reason: selection.reason.clone(),
            chosen_by: selection.chosen_by.clone(),
            notes: selection.notes.clone(),
        })
    }

    fn stored_substitutions(&self) -> Vec<StoredSubstitution> {
        let substitutions = self.substitutions.iter();
        substitutions
            .map(|substitution| StoredSubstitution {
                agent: self
                    .terms
                    .panel
                    .agent_name(&substitution.agent_id)
                    .to_owned(),
                of: substitution.clone(),
            })
            .collect()
    }

    fn stored_served_otherwise(&self) -> Vec<ServedOtherwise> {
        let pairs = self.served_otherwise().into_iter();
        pairs
            .map(|(asked, served)| ServedOtherwise {
                model: asked.clone(),
                served: served.to_owned(),
            })
            .collect()
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
