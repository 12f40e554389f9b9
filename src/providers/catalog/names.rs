//! Resolving the name of a model that a user gives.

use super::ModelCatalog;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::vendors::{self, VENDORS, Vendor};
use crate::domain::names::did_you_mean;

/// The error for a name of no known model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown model `{name}`{suggestion}")]
pub struct UnknownModel {
    pub name: String,
    /// The closest name of a current model, as the rest of the sentence; or empty.
    pub suggestion: String,
}

impl ModelCatalog {
    /// `provider:model` as is, or the bare name of a known model.
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
                suggestion: self.suggestion(&name.to_lowercase()),
            })
    }

    /// The best of the current models that have the name as a part, such as `gpt` or `sonnet`; else
    /// the one whose name is most like it.
    fn suggestion(&self, name: &str) -> String {
        let current = self.models.iter().filter(|model| model.retires.is_none());
        let of_family = current.clone().filter(|model| model.id.contains(name));
        let best = of_family.min_by_key(|model| (model.rank.unwrap_or(u32::MAX), model.tier));
        if let (Some(best), false) = (best, name.is_empty()) {
            return format!("; did you mean `{}`?", best.id);
        }
        // Of names that are equally like it, the last one counts, and lists begin with the best.
        did_you_mean(name, current.rev().map(|model| model.id.as_str()))
    }
}

/// Returns the possible names of a resold model at its own vendor: the id as is, and with dashes
/// for dots. `None` for any other model, and for one with a suffix such as `:free`, which is sold
/// on other terms.
pub(super) fn at_its_vendor(model: &ModelRef) -> Option<[ModelRef; 2]> {
    let (vendor, id) = model
        .model
        .split_once('/')
        .filter(|(_, id)| is_reseller(&model.provider) && !id.contains(':'))?;
    let vendor = VENDORS
        .iter()
        .find(|known| known.reseller_name == Some(vendor))?;
    let dashed = id.replace('.', "-");
    Some([
        ModelRef::new(vendor.id, id),
        ModelRef::new(vendor.id, dashed),
    ])
}

/// Returns the reseller's name of the vendor's model `id`, if `sold` is a resold model of that
/// vendor.
pub(super) fn sold_alike(sold: &ModelRef, id: &str) -> Option<String> {
    let (vendor, _) = sold
        .model
        .split_once('/')
        .filter(|_| is_reseller(&sold.provider))?;
    let mut name = String::with_capacity(id.len());
    let mut rest = id.chars().peekable();
    let mut after_digit = false;
    while let Some(c) = rest.next() {
        let between_digits =
            c == '-' && after_digit && rest.peek().is_some_and(char::is_ascii_digit);
        name.push(if between_digits { '.' } else { c });
        after_digit = c.is_ascii_digit();
    }
    Some(format!("{vendor}/{name}"))
}

fn is_reseller(provider: &ProviderId) -> bool {
    vendors::find(provider.as_str()).is_some_and(Vendor::is_reseller)
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
        for (part, current) in [
            ("gpt", "gpt-6.1-sol"),
            ("GPT-6", "gpt-6.1-sol"),
            ("opus", "claude-opus-5-5"),
            ("gpt-4o-mimi", "gpt-5.4-mini"),
        ] {
            assert_eq!(
                catalog.resolve(part).unwrap_err().suggestion,
                format!("; did you mean `{current}`?")
            );
        }
    }

    #[test]
    fn a_resold_model_is_known_by_its_vendors_id() {
        let at = |id| at_its_vendor(&ModelRef::new("openrouter", id));
        assert_eq!(
            at("anthropic/claude-opus-5.5"),
            Some([
                ModelRef::new("anthropic", "claude-opus-5.5"),
                ModelRef::new("anthropic", "claude-opus-5-5")
            ])
        );
        assert_eq!(
            at("x-ai/grok-4.7").unwrap()[0],
            ModelRef::new("xai", "grok-4.7")
        );
        for id in ["meta-llama/llama-4", "openai/gpt-6-luna:free", "gpt-6-luna"] {
            assert_eq!(at(id), None, "{id}");
        }
        assert_eq!(
            at_its_vendor(&ModelRef::new("openai", "openai/gpt-6-luna")),
            None
        );
    }

    #[test]
    fn a_vendors_id_is_written_as_the_reseller_writes_it() {
        let sold = ModelRef::new("openrouter", "anthropic/claude-3.5-sonnet");
        assert_eq!(
            sold_alike(&sold, "claude-sonnet-5-5").unwrap(),
            "anthropic/claude-sonnet-5.5"
        );
        assert_eq!(
            sold_alike(&ModelRef::new("openrouter", "openai/gpt-4o"), "gpt-6.1-sol").unwrap(),
            "openai/gpt-6.1-sol"
        );
        assert_eq!(
            sold_alike(&ModelRef::new("openai", "gpt-4o"), "gpt-6.1-sol"),
            None
        );
    }
}
