//! Whether a context fits the models: what no prompt can hold is refused before anything is spent.

use crate::config::settings::Settings;
use crate::consultation::plan::Plan;
use crate::domain::ids::{AgentId, ModelRef};
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::terminal::output::format::thousands;

/// The largest prompts of models, as far as they are known.
#[derive(Debug)]
pub(super) struct PromptWindows<'a> {
    catalog: &'a ModelCatalog,
    /// Prompt and answer of the embedded model together.
    local_context: u64,
}

impl<'a> PromptWindows<'a> {
    pub(super) fn new(catalog: &'a ModelCatalog, settings: &Settings) -> Self {
        Self {
            catalog,
            local_context: settings.local_context,
        }
    }

    /// Returns the largest prompt of a model in tokens; `None` where it is not known.
    fn of(&self, plan: &Plan, model: &ModelRef) -> Option<u64> {
        if model.provider.is_local() {
            let answer = plan.terms(model).max_output_tokens;
            return Some(self.local_context.saturating_sub(answer));
        }
        self.catalog.find(model).and_then(|entry| entry.context)
    }
}

/// Refuses a context that a model of the panel cannot read, and removes the fallbacks that cannot,
/// with a notice. The expected tokens decide: a limit that is exceeded by chance is the vendor's to
/// report.
pub(super) fn check(plan: &mut Plan, windows: &PromptWindows<'_>) -> Result<(), Error> {
    let has_context = plan
        .context
        .as_ref()
        .is_some_and(|context| context.bytes > 0);
    if !has_context {
        return Ok(());
    }
    let no_prompt =
        |error| Error::usage(error).hint("check the templates in the `prompts` folder of the home");
    let estimate = plan.estimate().map_err(no_prompt)?;
    let calls = estimate
        .calls
        .iter()
        .filter(|call| call.agent_id != AgentId::Helper);
    let needed = calls
        .map(|call| call.input_tokens)
        .max()
        .unwrap_or_default();
    let too_small = |model: &ModelRef| windows.of(plan, model).filter(|window| *window < needed);

    let seats = plan.panel.seats.iter().map(|seat| &seat.model);
    let mut refused: Vec<(ModelRef, u64)> = Vec::new();
    for model in seats.chain(plan.panel.judges.first()) {
        if let Some(window) = too_small(model)
            && !refused.iter().any(|(other, _)| other == model)
        {
            refused.push((model.clone(), window));
        }
    }
    if !refused.is_empty() {
        return Err(refusal(&refused, needed));
    }

    let fallbacks = plan.fallbacks.values().flatten();
    let mut removed: Vec<ModelRef> = fallbacks
        .chain(&plan.panel.judges)
        .filter(|model| too_small(model).is_some())
        .cloned()
        .collect();
    removed.sort();
    removed.dedup();
    if !removed.is_empty() {
        plan.panel.judges.retain(|model| !removed.contains(model));
        for models in plan.fallbacks.values_mut() {
            models.retain(|model| !removed.contains(model));
        }
        plan.notices.push(format!(
            "not used as fallbacks, too small for the context: {}",
            removed
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    Ok(())
}

fn refusal(refused: &[(ModelRef, u64)], needed: u64) -> Error {
    let models: Vec<String> = refused
        .iter()
        .map(|(model, window)| format!("{model} reads at most {} tokens", thousands(*window)))
        .collect();
    let error = format!(
        "the context does not fit: a prompt has about {} tokens, and {}",
        thousands(needed),
        models.join(", ")
    );
    let error = Error::usage(error)
        .hint("send less context, or choose other models with `--panel`, `--model` and `--judge`");
    if refused.iter().any(|(model, _)| model.provider.is_local()) {
        error.hint("the embedded model reads more with `conclave config set local_context TOKENS`")
    } else {
        error
    }
}
