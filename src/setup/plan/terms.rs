//! The terms of a plan's models: token limits, calls in flight, and the templates of their prompts.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use crate::config::settings::Settings;
use crate::consultation::plan::options::DebateOptions;
use crate::consultation::plan::{ModelTerms, Plan};
use crate::consultation::prompt::{
    CONTEXT, FOLLOW_UP, HELPER_FOLDER, SMALL_CONTEXT, SMALL_FOLLOW_UP, Size, Templates,
};
use crate::domain::cost::prompt_caching;
use crate::domain::ids::{AgentId, ModelRef, ProviderId, SeatId};
use crate::domain::model::address::authority;
use crate::domain::model::dialect::PromptCaching;
use crate::domain::model::vendors;
use crate::domain::panel::Panel;
use crate::domain::words::thousands;
use crate::error::Error;
use crate::providers::catalog::ModelCatalog;
use crate::setup::embedded_model;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::programs::ProgramList;
use crate::setup::provider_access::{self, ProviderAccess};

/// Whether a context goes out with the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextUse {
    None,
    Sent,
}

pub(super) fn models(
    panel: &Panel,
    debate: &DebateOptions,
    fallbacks: &BTreeMap<SeatId, Vec<ModelRef>>,
) -> BTreeSet<ModelRef> {
    // Experts whose answers are taken from an earlier consultation are not asked.
    let seats = panel
        .seats
        .iter()
        .filter(|_| debate.prior_answers.is_none())
        .map(|seat| &seat.model);
    seats
        .chain(&panel.judges)
        .chain(&debate.helper)
        .chain(fallbacks.values().flatten())
        .cloned()
        .collect()
}

/// The token limit of the settings, within that of the model.
pub(super) fn terms(
    models: &BTreeSet<ModelRef>,
    catalog: &ModelCatalog,
    settings: &Settings,
    access_list: &[ProviderAccess],
    (servers, programs): (&LocalServerSet, &ProgramList),
) -> BTreeMap<ModelRef, ModelTerms> {
    let terms = |model: &ModelRef| {
        if model.provider.is_local() {
            return embedded_model::TERMS;
        }
        if let Some(terms) = servers.terms(model, settings) {
            return terms;
        }
        let usual_limit = settings.max_output_tokens.saturating_mul(2);
        let known_limit = catalog.find(model).and_then(|entry| entry.max_output);
        let output_limit = known_limit.unwrap_or(usual_limit);
        let access = provider_access::find(access_list, &model.provider);
        let program = programs.find(&model.provider);
        ModelTerms {
            max_output_tokens: settings.max_output_tokens.min(output_limit),
            output_limit,
            billing: program
                .map(|program| program.billing)
                .or_else(|| Some(access?.billing(&model.model)))
                .unwrap_or_default(),
            caching: access.map_or(PromptCaching::None, |access| {
                caching(model, catalog, access)
            }),
            ..ModelTerms::default()
        }
    };
    models
        .iter()
        .map(|model| (model.clone(), terms(model)))
        .collect()
}

/// An unknown name at another address is another server, whose caching is unknown.
fn caching(model: &ModelRef, catalog: &ModelCatalog, access: &ProviderAccess) -> PromptCaching {
    match vendors::find(model.provider.as_str()) {
        None => prompt_caching::at_host(&authority(&access.base_url)),
        Some(_) if access.uses_default_endpoint() || catalog.find(model).is_some() => {
            prompt_caching::of(model)
        }
        Some(_) => PromptCaching::None,
    }
}

/// The limit of its own entry, else that of its kind, else that of the settings.
pub(super) fn in_flight(
    asked: &[ProviderAccess],
    settings: &Settings,
) -> BTreeMap<ProviderId, u32> {
    let limit = |access: &ProviderAccess| access.in_flight.unwrap_or(settings.max_in_flight);
    asked
        .iter()
        .map(|access| (access.id.clone(), limit(access)))
        .collect()
}

/// Leaves out the templates of the other mode, of sizes that no model has and of personas without a
/// seat.
pub(super) fn templates(
    all: &Templates,
    panel: &Panel,
    debate: &DebateOptions,
    context: ContextUse,
    models: &BTreeMap<ModelRef, ModelTerms>,
) -> Templates {
    all.only(|name, persona| {
        if let Some(persona) = persona {
            return !debate.selectable_personas.is_empty()
                || panel.seats.iter().any(|seat| seat.persona.id == persona);
        }
        if [FOLLOW_UP, SMALL_FOLLOW_UP].contains(&name) && debate.follows_up.is_none() {
            return false;
        }
        if [CONTEXT, SMALL_CONTEXT].contains(&name) && context == ContextUse::None {
            return false;
        }
        let Some((folder, file)) = name.split_once('/') else {
            return true;
        };
        let size = if folder == "small" || file.starts_with("small/") {
            Size::Small
        } else {
            Size::Full
        };
        let is_used = match folder {
            "small" => true,
            HELPER_FOLDER => debate.helper.is_some(),
            mode => mode == debate.mode.strategy().name,
        };
        is_used && models.values().any(|terms| terms.size == size)
    })
}

/// Refuses a context that a model of the panel cannot read, and removes the fallbacks that cannot,
/// with a notice. The expected tokens decide: a limit that is exceeded by chance is the vendor's to
/// report.
pub(super) fn check_windows(
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
    let refused: IndexMap<&ModelRef, u64> = seats
        .chain(plan.panel.judges.first())
        .filter_map(|model| Some((model, too_small(model)?)))
        .collect();
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

fn refusal(refused: &IndexMap<&ModelRef, u64>, needed: u64) -> Error {
    let limit = |(model, window): (&&ModelRef, &u64)| {
        format!("{model} reads at most {} tokens", thousands(*window))
    };
    let models: Vec<String> = refused.iter().map(limit).collect();
    let (needed, models) = (thousands(needed), models.join(", "));
    let error =
        format!("the context does not fit: a prompt has about {needed} tokens, and {models}");
    let is_local = refused.keys().any(|model| model.provider.is_local());
    let more = "the embedded model reads more with `conclave config set local_context TOKENS`";
    Error::usage(error)
        .hint("send less context, or choose other models with `--panel`, `--model` and `--judge`")
        .hint_if(is_local.then_some(more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::samples;

    #[test]
    fn caching_is_known_of_the_vendors_models_and_of_known_hosts() {
        let config = r#"{"endpoints": {
            "deepseek": {"base_url": "https://api.deepseek.com/v1"},
            "work": {"base_url": "https://models.example/v1"},
            "openai": {"base_url": "https://gateway.example/v1"}}}"#;
        let access_list = samples::access_list(config, &[]);
        let catalog = ModelCatalog::builtin();
        let caching = |provider: &str, model: &str| {
            let model = ModelRef::new(provider, model);
            let access = provider_access::find(&access_list, &model.provider).unwrap();
            caching(&model, &catalog, access)
        };
        let automatic = PromptCaching::Automatic { min_tokens: 1_024 };
        let marked = |min_tokens| PromptCaching::Breakpoints { min_tokens };
        assert_eq!(caching("deepseek", "deepseek-v4"), automatic);
        assert_eq!(caching("work", "gpt-6.1-sol"), PromptCaching::None);
        assert_eq!(caching("openai", "gpt-6.1-sol"), marked(1_024));
        assert_eq!(caching("openai", "qwen3"), PromptCaching::None);
        assert_eq!(caching("anthropic", "claude-unheard-of"), marked(4_096));
        assert_eq!(caching("llamacpp", "any"), PromptCaching::None);
    }

    #[test]
    fn a_providers_own_limit_of_calls_comes_before_the_general_one() {
        let config = r#"{"max_in_flight": 7, "endpoints": {"work": {"base_url": "h", "max_in_flight": 2}, "open": {"base_url": "h"}}}"#;
        let access_list = samples::access_list(config, &[]);
        let providers = ["anthropic", "work", "open", "ollama", "vllm"];
        let is_asked = |access: &&ProviderAccess| providers.contains(&access.id.as_str());
        let asked: Vec<ProviderAccess> = access_list.iter().filter(is_asked).cloned().collect();
        let limits: Vec<_> = in_flight(&asked, &samples::settings(config))
            .into_iter()
            .map(|(id, limit)| format!("{id} {limit}"))
            .collect();
        assert_eq!(
            limits,
            ["anthropic 7", "ollama 1", "open 7", "vllm 7", "work 2"]
        );
    }
}
