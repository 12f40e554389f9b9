//! Maps the provider names of other programs to this program's ids.

use crate::domain::ids::ModelRef;
use crate::domain::vendors::{VENDORS, Vendor};

/// Returns a model as `provider:model`; a provider that cannot be recognised is `unknown`.
pub(super) fn model(provider: Option<&str>, model: &str) -> ModelRef {
    let by_model = || {
        VENDORS.iter().find(|vendor| {
            vendor
                .model_prefix
                .is_some_and(|prefix| model.starts_with(prefix))
        })
    };
    let vendor = provider.and_then(named).or_else(by_model);
    ModelRef::new(vendor.map_or("unknown", |vendor| vendor.id), model)
}

/// Returns the id of a provider alone.
pub(super) fn provider(name: &str) -> &'static str {
    named(name).map_or("unknown", |vendor| vendor.id)
}

fn named(name: &str) -> Option<&'static Vendor> {
    let name = name.trim().to_ascii_lowercase();
    VENDORS
        .iter()
        .find(|vendor| vendor.foreign_names.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn provider_is_recognised_by_name_or_model() {
        let model = |provider, name| super::model(provider, name).to_string();
        assert_eq!(
            model(Some("Anthropic"), "claude-sonnet-4-5"),
            "anthropic:claude-sonnet-4-5"
        );
        assert_eq!(model(Some("unknown"), "gpt-4o"), "openai:gpt-4o");
        assert_eq!(model(None, "grok-3"), "xai:grok-3");
        assert_eq!(model(Some("Acme"), "gpt4all"), "unknown:gpt4all");
        assert_eq!(model(None, ""), "unknown:");
    }
}
