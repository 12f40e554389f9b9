//! The prompts of one task, one for each size among its models.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::consultation::machine::run_state::RunState;
use crate::consultation::plan::Plan;
use crate::consultation::prompt::filter::RenderedPrompt;
use crate::consultation::prompt::{PromptError, Prompter, Size};
use crate::consultation::protocol::call::Prompt;
use crate::domain::ids::AgentId;

/// The same prompt for each size of model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PromptSet {
    by_size: BTreeMap<Size, Prompt>,
    /// Estimated tokens saved by filtering artifacts.
    pub(super) tokens_saved: u64,
}

impl PromptSet {
    /// Renders the prompt for every size among the models that may answer for the agent.
    pub(super) fn render<P: Into<RenderedPrompt>>(
        plan: &Plan,
        run: &RunState,
        agent: &AgentId,
        make: impl Fn(&Prompter<'_>) -> Result<P, PromptError>,
    ) -> Result<Self, PromptError> {
        let labels = plan.labels_for(agent);
        let mut prompts = Self::default();
        for model in run.candidates(plan, agent) {
            let size = plan.terms(&model).size;
            if let Entry::Vacant(place) = prompts.by_size.entry(size) {
                let shown = make(&plan.prompter(&labels, &model))?.into();
                place.insert(shown.prompt);
                prompts.tokens_saved = prompts.tokens_saved.max(shown.tokens_saved);
            }
        }
        Ok(prompts)
    }

    /// Returns the prompt for a model of this size.
    pub(super) fn prompt(&self, size: Size) -> Prompt {
        self.by_size
            .get(&size)
            .or_else(|| self.by_size.values().next())
            .cloned()
            .unwrap_or_default()
    }
}
