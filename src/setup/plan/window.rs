//! Whether a context fits the models: what no prompt can hold is refused before anything is spent.

use std::collections::BTreeSet;

use crate::config::settings::Settings;
use crate::consultation::plan::Plan;
use crate::domain::ids::{AgentId, ModelRef};
use crate::domain::words::thousands;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;

/// Refuses a context that a model of the panel cannot read, and removes the fallbacks that cannot,
/// with a notice. The expected tokens decide: a limit that is exceeded by chance is the vendor's to
/// report.
pub(super) fn check(
    plan: &mut Plan,
    catalog: &ModelCatalog,
    settings: &Settings,
) -> Result<(), Error> {
    if plan
        .context
        .as_ref()
        .is_none_or(|context| context.bytes == 0)
    {
        return Ok(());
    }
    let estimate = plan.estimate()?;
    let calls = estimate.calls.iter();
    let calls = calls.filter(|call| call.agent_id != AgentId::Helper);
    let needed = calls
        .map(|call| call.input_tokens)
        .max()
        .unwrap_or_default();
    // The largest prompt of a model in tokens; `None` where it is not known.
    let window = |model: &ModelRef| {
        if model.provider.is_local() {
            // Prompt and answer of the embedded model share its context.
            let answer = plan.terms(model).max_output_tokens;
            return Some(settings.local_context.saturating_sub(answer));
        }
        catalog.find(model).and_then(|entry| entry.context)
    };
    let too_small = |model: &ModelRef| window(model).filter(|window| *window < needed);

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
    let all = fallbacks.chain(&plan.panel.judges);
    let removed = all.filter(|model| too_small(model).is_some()).cloned();
    let removed: BTreeSet<ModelRef> = removed.collect();
    if !removed.is_empty() {
        plan.panel.judges.retain(|model| !removed.contains(model));
        for models in plan.fallbacks.values_mut() {
            models.retain(|model| !removed.contains(model));
        }
        let removed: Vec<String> = removed.iter().map(ToString::to_string).collect();
        let removed = removed.join(", ");
        plan.notices.push(format!(
            "not used as fallbacks, too small for the context: {removed}"
        ));
    }
    Ok(())
}

fn refusal(refused: &[(ModelRef, u64)], needed: u64) -> Error {
    let limit = |(model, window): &(ModelRef, u64)| {
        format!("{model} reads at most {} tokens", thousands(*window))
    };
    let models: Vec<String> = refused.iter().map(limit).collect();
    let (needed, models) = (thousands(needed), models.join(", "));
    let error =
        format!("the context does not fit: a prompt has about {needed} tokens, and {models}");
    let is_local = refused.iter().any(|(model, _)| model.provider.is_local());
    let more = "the embedded model reads more with `conclave config set local_context TOKENS`";
    Error::usage(error)
        .hint("send less context, or choose other models with `--panel`, `--model` and `--judge`")
        .hint_if(is_local.then_some(more))
}
