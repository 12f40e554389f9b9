//! Resolving the name of a model that a user gives.

use super::{Model, ModelCatalog};
use crate::domain::ids::ModelRef;

/// The error for a name of no known model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown model `{name}`{}",
    suggestion
        .as_ref()
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_default()
)]
pub struct UnknownModel {
    pub name: String,
    /// The closest known name.
    pub suggestion: Option<String>,
}

impl ModelCatalog {
    /// Resolves a name given by the user: `provider:model` as is, or the bare name of a known
    /// model.
    pub fn resolve(&self, name: &str) -> Result<ModelRef, UnknownModel> {
        // A slash before the first colon means a resold model with a suffix: no provider's name has
        // a slash.
        let provider_and_model = name
            .parse()
            .ok()
            .filter(|model: &ModelRef| !model.provider.as_str().contains('/'));
        if let Some(model) = provider_and_model {
            return Ok(model);
        }
        let mut at_each_provider = self.models.iter().map(|model| ModelRef {
            provider: model.provider.clone(),
            model: name.to_owned(),
        });
        at_each_provider
            .find(|model| self.at_own_vendor(model).is_some())
            .ok_or_else(|| UnknownModel {
                name: name.to_owned(),
                suggestion: self.closest(name),
            })
    }

    fn closest(&self, name: &str) -> Option<String> {
        const LEAST_LIKENESS: f64 = 0.8;
        let name = name.to_lowercase();
        let likeness = |model: &Model| strsim::jaro_winkler(&name, &model.id);
        // Of models that are equally like it, the first: lists begin with the best.
        let mut closest: Option<(f64, &Model)> = None;
        for model in &self.models {
            let likeness = likeness(model);
            if likeness > closest.map_or(LEAST_LIKENESS, |(best, _)| best) {
                closest = Some((likeness, model));
            }
        }
        closest.map(|(_, model)| model.id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_finds_its_provider_or_a_suggestion() {
        let catalog = ModelCatalog::builtin();
        let named = [
            ("claude-sonnet-5-5", "anthropic:claude-sonnet-5-5"),
            ("gpt-6.1-sol-2026-09-01", "openai:gpt-6.1-sol-2026-09-01"),
            ("openai:anything", "openai:anything"),
            ("grok-4.7", "xai:grok-4.7"),
            ("codestral-latest", "mistral:codestral-latest"),
            ("openai/gpt-6.1-sol", "openrouter:openai/gpt-6.1-sol"),
        ];
        for (name, model) in named {
            assert_eq!(catalog.resolve(name).unwrap().to_string(), model);
        }
        assert_eq!(
            catalog.resolve("vendor/name:free").unwrap_err().name,
            "vendor/name:free"
        );
        let error = catalog.resolve("claude-sonet-5-5").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown model `claude-sonet-5-5`; did you mean `claude-sonnet-5-5`?"
        );
        assert_eq!(
            catalog.resolve("zzz").unwrap_err().to_string(),
            "unknown model `zzz`"
        );
    }
}
