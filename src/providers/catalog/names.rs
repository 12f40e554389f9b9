//! Resolving the name of a model that a user gives.

use super::ModelCatalog;
use crate::domain::ids::ModelRef;

/// The error for a name of no known model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown model `{name}`{}",
    suggestions
        .first()
        .map(|_| format!("; did you mean {}?", one_of(suggestions)))
        .unwrap_or_default()
)]
pub struct UnknownModel {
    pub name: String,
    /// The closest known names, at most three.
    pub suggestions: Vec<String>,
}

fn one_of(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(" or ")
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
                suggestions: self.closest(name),
            })
    }

    fn closest(&self, name: &str) -> Vec<String> {
        let name = name.to_lowercase();
        let mut near: Vec<(f64, &str)> = self
            .models
            .iter()
            .map(|model| (strsim::jaro_winkler(&name, &model.id), model.id.as_str()))
            .filter(|near| near.0 > 0.8)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        near.into_iter()
            .take(3)
            .map(|(_, id)| id.to_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_finds_its_provider_or_suggestions() {
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
            error.suggestions.first().map(String::as_str),
            Some("claude-sonnet-5-5")
        );
        assert!(
            error
                .to_string()
                .starts_with("unknown model `claude-sonet-5-5`; did you mean `claude-sonnet-5-5`"),
            "{error}"
        );
        assert_eq!(
            catalog.resolve("zzz").unwrap_err().to_string(),
            "unknown model `zzz`"
        );
    }
}
