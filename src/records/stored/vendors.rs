//! The providers of other programs' records, by the ids that this program gives them.

use crate::domain::ids::ModelRef;

/// Providers by how the original names them, and by how their models' names begin.
const PROVIDERS: [(&str, &[&str], &str); 5] = [
    ("anthropic", &["anthropic", "claude"], "claude-"),
    ("openai", &["openai", "gpt"], "gpt-"),
    ("google", &["google", "gemini"], "gemini-"),
    ("xai", &["xai", "grok", "x.ai"], "grok-"),
    ("mistral", &["mistral"], "mistral-"),
];

/// Says a model as `provider:model`; with a provider that cannot be told for sure it is `unknown`.
pub(super) fn model(provider: Option<&str>, model: &str) -> ModelRef {
    let named = provider.map(|name| name.trim().to_ascii_lowercase());
    let by_name = PROVIDERS
        .iter()
        .find(|(_, names, _)| named.as_deref().is_some_and(|named| names.contains(&named)));
    let by_model = || {
        PROVIDERS
            .iter()
            .find(|(_, _, beginning)| model.starts_with(beginning))
    };
    ModelRef::new(
        by_name.or_else(by_model).map_or("unknown", |(id, _, _)| id),
        model,
    )
}

/// Says a provider alone.
pub(super) fn provider(name: &str) -> &'static str {
    let name = name.trim().to_ascii_lowercase();
    PROVIDERS
        .iter()
        .find(|(_, names, _)| names.contains(&name.as_str()))
        .map_or("unknown", |(id, _, _)| id)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_provider_is_told_by_its_name_or_by_its_model_and_else_is_unknown() {
        let model = |provider, name| super::model(provider, name).to_string();
        assert_eq!(
            model(Some("Anthropic"), "claude-sonnet-4-5"),
            "anthropic:claude-sonnet-4-5"
        );
        assert_eq!(
            (model(Some("unknown"), "gpt-4o"), model(None, "grok-3")),
            ("openai:gpt-4o".into(), "xai:grok-3".into())
        );
        assert_eq!(
            (model(Some("Acme"), "gpt4all"), model(None, "")),
            ("unknown:gpt4all".into(), "unknown:".into())
        );
    }
}
