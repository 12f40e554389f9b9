//! The terms of a local server's models.

use crate::config::settings::Settings;
use crate::consultation::plan::ModelTerms;
use crate::consultation::prompt::Size;
use crate::providers::discovery::{ServedModel, Server};
use crate::setup::embedded_model;

/// Models with fewer parameters get the short prompts: they repeat longer ones instead of following
/// them.
const SMALL_BELOW: u64 = 4_000_000_000;

/// Returns whether a model is asked with short prompts.
pub(crate) fn is_small(model: &ServedModel) -> bool {
    model.parameters.is_some_and(|count| count < SMALL_BELOW)
}

/// Returns how a local server's model is asked. A model that the server does not list may still be
/// there, and is asked like a large one.
pub(super) fn terms(server: &Server, id: &str, settings: &Settings) -> ModelTerms {
    let listed = server.serves(id);
    let terms = if listed.is_some_and(is_small) {
        embedded_model::TERMS
    } else {
        ModelTerms {
            max_output_tokens: settings.max_output_tokens,
            output_limit: settings.max_output_tokens.saturating_mul(2),
            size: Size::Full,
            ..ModelTerms::default()
        }
    };
    // The other half is for the prompt.
    let half = listed
        .and_then(|model| model.context)
        .map_or(u64::MAX, |context| (context / 2).max(1));
    ModelTerms {
        max_output_tokens: terms.max_output_tokens.min(half),
        output_limit: terms.output_limit.min(half),
        free: server.runs_here(id),
        ..terms
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{ready, served};
    use super::*;
    use crate::domain::vendors::LocalServerKind;

    #[test]
    fn small_models_get_small_prompts_and_half_of_a_known_context() {
        let model = |context, parameters| ServedModel {
            context,
            parameters,
            ..served("m", true)
        };
        let settings = Settings::default();
        let shown = |context, parameters| {
            let server = ready(LocalServerKind::Ollama, 1, &[model(context, parameters)]);
            let terms = terms(&server, "m", &settings);
            (
                terms.size,
                terms.max_output_tokens,
                terms.output_limit,
                terms.free,
            )
        };
        assert_eq!(
            shown(Some(2_048), Some(3_999_999_999)),
            (Size::Small, 1_024, 1_024, true)
        );
        assert_eq!(
            shown(None, Some(4_000_000_000)),
            (Size::Full, 16_384, 32_768, true)
        );
        assert_eq!(shown(Some(8_192), None), (Size::Full, 4_096, 4_096, true));
        for (id, free) in [
            ("unlisted", true),
            ("m-cloud", false),
            ("unlisted:cloud", false),
        ] {
            let server = ready(LocalServerKind::Ollama, 1, &[served("m-cloud", true)]);
            assert_eq!(terms(&server, id, &settings).free, free, "{id}");
        }
    }
}
