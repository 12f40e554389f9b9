//! What an agent is asked, for each size of model that may be asked it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use crate::consultation::machine::step::Turn;
use crate::consultation::prompt::filter::Shown;
use crate::consultation::prompt::{PromptError, Prompter, Size};
use crate::consultation::protocol::call::Prompt;
use crate::domain::ids::SeatId;

/// Prompts that ask the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::consultation) struct Brief {
    by_size: BTreeMap<Size, Prompt>,
    /// Tokens (estimated) that the filtering of artifacts has saved.
    pub(crate) tokens_saved: u64,
}

impl Brief {
    /// Renders the prompt for every size among the models that may play the agent.
    pub(in crate::consultation) fn render(
        turn: &Turn<'_>,
        agent: &SeatId,
        make: impl Fn(&Prompter<'_>) -> Result<Shown, PromptError>,
    ) -> Result<Self, PromptError> {
        let labels = turn.plan.labels_for(agent);
        let mut brief = Self::default();
        for model in turn.candidates(agent) {
            let size = turn.plan.terms(&model).size;
            if let Entry::Vacant(place) = brief.by_size.entry(size) {
                let shown = make(&turn.plan.prompter(&labels, &model))?;
                place.insert(shown.prompt);
                brief.tokens_saved = brief.tokens_saved.max(shown.tokens_saved);
            }
        }
        Ok(brief)
    }

    /// The prompt for a model of this size.
    pub(crate) fn prompt(&self, size: Size) -> Prompt {
        self.by_size
            .get(&size)
            .or_else(|| self.by_size.values().next())
            .cloned()
            .unwrap_or_default()
    }
}
