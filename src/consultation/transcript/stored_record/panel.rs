//! The panel, and the models that took over, were asked as well, or answered for others.

use crate::consultation::transcript::Transcript;
use crate::domain::stored_record::{
    ServedOtherwise, StoredAgent, StoredModel, StoredPanel, StoredPersonaSelection,
    StoredSubstitution,
};

impl Transcript {
    pub(super) fn stored_agents(&self) -> Vec<StoredAgent> {
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

    pub(super) fn stored_panel(&self) -> StoredPanel {
        let panel = &self.terms.panel;
        StoredPanel {
            judges: panel.judges.iter().map(StoredModel::from).collect(),
            one_family: panel.is_one_family(),
            notices: self.terms.notices.clone(),
        }
    }

    pub(super) fn stored_persona_selection(&self) -> Option<StoredPersonaSelection> {
        let selection = self.persona_selection.as_ref()?;
        Some(StoredPersonaSelection {
            task_type: selection.task_type.clone(),
            reason: selection.reason.clone(),
            chosen_by: selection.chosen_by.clone(),
            notes: selection.notes.clone(),
        })
    }

    pub(super) fn stored_substitutions(&self) -> Vec<StoredSubstitution> {
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

    pub(super) fn stored_served_otherwise(&self) -> Vec<ServedOtherwise> {
        let pairs = self.served_otherwise().into_iter();
        pairs
            .map(|(asked, served)| ServedOtherwise {
                model: asked.clone(),
                served: served.to_owned(),
            })
            .collect()
    }
}
