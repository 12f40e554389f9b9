//! The fallbacks of each seat: the models that can take it over, or be asked beside it when it is
//! slow, best first.
//!
//! Models of the seat's own tier come first, then those of the next tiers. Within a tier, the
//! seat's own family and families without a seat come before the judge's, and that before the
//! families of other seats, because two seats of one family count as one opinion. Each provider
//! gives one model, and the seat's own provider none. A reseller that neither sits nor judges comes
//! last: it is one more company that reads the question. A model that the catalog does not know
//! counts as one of the middle tier. No key is unlocked for a fallback, unless the panel needs it
//! anyway.
//!
//! A question goes only where the user has sent it: for a private model, and for a program, whose
//! plan costs nothing more, only models with a seat, or named as judges, can take over. For a hosted model only hosted ones can: models on the user's
//! machine differ in quality, and are slow when several requests come at once.

use std::collections::{BTreeMap, BTreeSet};

use super::panel::context::{SelectionContext, is_added_reseller};
use super::panel::spec::PanelSpec;
use super::provider_access::{self, ProviderAccess};
use crate::domain::ids::{ModelRef, ProviderId, SeatId};
use crate::domain::model::family::family;
use crate::domain::panel::Panel;
use crate::providers::catalog::Model;

/// The tier of a model that the catalog does not know.
const MIDDLE_TIER: u8 = 2;

pub fn fallbacks(
    panel: &Panel,
    spec: &PanelSpec,
    context: &SelectionContext<'_>,
) -> BTreeMap<SeatId, Vec<ModelRef>> {
    let pool = FallbackPool {
        panel,
        spec,
        context,
    };
    let seats = panel.seats.iter();
    let seats = seats.map(|seat| (seat.id.clone(), pool.fallbacks_of(&seat.model)));
    seats.filter(|(_, models)| !models.is_empty()).collect()
}

/// The models that could take over.
struct FallbackPool<'a> {
    panel: &'a Panel,
    spec: &'a PanelSpec,
    context: &'a SelectionContext<'a>,
}

impl FallbackPool<'_> {
    fn fallbacks_of(&self, model: &ModelRef) -> Vec<ModelRef> {
        let stays =
            self.context.is_private(&model.provider) || self.context.is_program(&model.provider);
        let mut models = if stays {
            self.of_panel()
        } else {
            let mut models = self.of_vendors();
            models.extend(self.of_panel());
            models.retain(|other| !self.is_on_own_machine(&other.provider));
            models
        };
        models.retain(|other| other.provider != model.provider);
        let tier = self.tier(model);
        models.sort_by_key(|other| {
            let its_tier = self.tier(other);
            (
                self.is_added_reseller(&other.provider),
                its_tier.abs_diff(tier),
                its_tier,
                self.conflict(other, model),
            )
        });
        let mut providers = BTreeSet::new();
        models.retain(|other| providers.insert(other.provider.clone()));
        models
    }

    fn of_panel(&self) -> Vec<ModelRef> {
        if self.spec.judge.is_some() {
            return self.panel.models().cloned().collect();
        }
        let seats = self.panel.seats.iter();
        seats.map(|seat| seat.model.clone()).collect()
    }

    /// Each vendor's best first.
    fn of_vendors(&self) -> Vec<ModelRef> {
        let SelectionContext { catalog, now, .. } = self.context;
        let ready = self
            .context
            .selectable()
            .filter(|access| self.is_key_ready(access));
        let models = ready.flat_map(|access| catalog.defaults(&access.id));
        let lasting = models.filter(|model| !model.has_retired_by(now.day()));
        lasting.map(Model::to_ref).collect()
    }

    /// Returns whether a vendor's key is needed for the panel anyway, or can be sent at once.
    fn is_key_ready(&self, access: &ProviderAccess) -> bool {
        let mut panel = self.panel.models();
        panel.any(|model| model.provider == access.id) || access.key_ready()
    }

    fn tier(&self, model: &ModelRef) -> u8 {
        let known = self.context.catalog.find(model);
        known.map_or(MIDDLE_TIER, |known| known.tier)
    }

    /// The model's family has another seat, which weighs more, or it judges.
    fn conflict(&self, other: &ModelRef, replaced: &ModelRef) -> (bool, bool) {
        let is_alike = |model: &ModelRef| family(model) == family(other);
        let Panel { seats, judges } = self.panel;
        let is_other = !is_alike(replaced);
        let has_seat = is_other && seats.iter().any(|seat| is_alike(&seat.model));
        (
            has_seat,
            is_other && !has_seat && judges.first().is_some_and(is_alike),
        )
    }

    fn is_added_reseller(&self, provider: &ProviderId) -> bool {
        let Panel { seats, judges } = self.panel;
        let judge = judges.first().map(|judge| &judge.provider);
        is_added_reseller(seats, provider) && judge != Some(provider)
    }

    fn is_on_own_machine(&self, provider: &ProviderId) -> bool {
        provider.is_local()
            || provider_access::find(self.context.access_list, provider)
                .is_some_and(ProviderAccess::is_on_own_machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::panel;
    use crate::setup::samples::{
        ANTHROPIC, GOOGLE, MISTRAL, OPENAI, OPENROUTER, SampleSources, XAI, seated,
    };

    /// `seat: fallback, fallback` for the panel of these variables, settings and spec.
    fn of(variables: &[(&str, &str)], config: &str, spec: &PanelSpec) -> Vec<String> {
        let sources = SampleSources::new(config, variables);
        let context = sources.context();
        let panel = panel::select(spec, &context).unwrap().panel;
        let shown = |models: &[ModelRef]| {
            let names: Vec<String> = models.iter().map(ToString::to_string).collect();
            names.join(", ")
        };
        let found = fallbacks(&panel, spec, &context);
        found
            .iter()
            .map(|(seat, models)| format!("{seat}: {}", shown(models)))
            .collect()
    }

    fn by_default(variables: &[(&str, &str)]) -> Vec<String> {
        of(variables, "{}", &PanelSpec::default())
    }

    #[test]
    fn with_three_keys_each_seat_can_take_over_the_others() {
        let expected = [
            "architecture: anthropic:claude-sonnet-5-5, google:gemini-4-argon",
            "pragmatic: anthropic:claude-sonnet-5-5, openai:gpt-6.1-sol",
            "security: openai:gpt-6.1-sol, google:gemini-4-argon",
        ];
        assert_eq!(by_default(&[ANTHROPIC, OPENAI, GOOGLE]), expected);
    }

    #[test]
    fn vendors_without_a_seat_come_first_and_the_judge_last() {
        let found = by_default(&[ANTHROPIC, OPENAI, GOOGLE, XAI, MISTRAL]);
        // xAI is the first that has no seat: it judges.
        assert_eq!(
            found[2],
            "security: mistral:mistral-large-4, xai:grok-4.7, openai:gpt-6.1-sol, \
             google:gemini-4-argon"
        );
    }

    #[test]
    fn a_reseller_comes_last_with_a_model_of_the_seats_family() {
        let expected = [
            "architecture: anthropic:claude-sonnet-5-5, google:gemini-4-argon, \
             openrouter:openai/gpt-6.1-sol",
            "pragmatic: anthropic:claude-sonnet-5-5, openai:gpt-6.1-sol, \
             openrouter:google/gemini-4-argon",
            "security: openai:gpt-6.1-sol, google:gemini-4-argon, \
             openrouter:anthropic/claude-sonnet-5.5",
        ];
        assert_eq!(
            by_default(&[ANTHROPIC, OPENAI, GOOGLE, OPENROUTER]),
            expected
        );
    }

    #[test]
    fn a_reseller_on_the_panel_is_a_fallback_like_any_other() {
        // xAI's model has a seat, and OpenRouter serves OpenAI's.
        let expected = [
            "architecture: openrouter:google/gemini-4-argon, anthropic:claude-sonnet-5-5",
            "pragmatic: anthropic:claude-sonnet-5-5, xai:grok-4.7",
            "security: openrouter:anthropic/claude-sonnet-5.5, xai:grok-4.7",
        ];
        assert_eq!(by_default(&[ANTHROPIC, XAI, OPENROUTER]), expected);
    }

    #[test]
    fn the_own_tier_comes_first_then_the_nearest_and_better() {
        let keys = [ANTHROPIC, OPENAI, GOOGLE, XAI, MISTRAL];
        let spec = seated(
            "security=claude-haiku-5-5,architect=gpt-6.1-terra,pragmatic=gpt-6.1-sol",
            Some("gpt-6.1-sol"),
        );
        let expected = [
            "architecture: google:gemini-3.8-flash, xai:grok-4.3, mistral:mistral-medium-latest, \
             anthropic:claude-sonnet-5-5",
            "pragmatic: google:gemini-4-argon, xai:grok-4.7, mistral:mistral-large-4, \
             anthropic:claude-sonnet-5-5",
            "security: mistral:mistral-small-latest, google:gemini-3.8-flash, xai:grok-4.3, \
             openai:gpt-6.1-terra",
        ];
        assert_eq!(of(&keys, "{}", &spec), expected);
    }

    #[test]
    fn an_unknown_model_is_of_the_middle_tier() {
        let spec = seated("security=anthropic:new", Some("anthropic:new"));
        assert_eq!(
            of(&[ANTHROPIC, OPENAI], "{}", &spec),
            ["security: openai:gpt-6.1-terra"]
        );
    }

    #[test]
    fn a_single_vendor_or_local_model_has_no_fallbacks() {
        assert_eq!(by_default(&[ANTHROPIC]), Vec::<String>::new());
        assert_eq!(by_default(&[]), Vec::<String>::new());
    }

    #[test]
    fn a_local_model_has_no_fallback_at_a_vendor_that_was_not_chosen() {
        let keys = [ANTHROPIC, OPENAI, GOOGLE];
        let alone = seated("security=ollama:gemma4:31b,architect=local:small", None);
        let expected = ["architecture: ollama:gemma4:31b", "security: local:small"];
        assert_eq!(of(&keys, "{}", &alone), expected, "the judge was not named");
        let judged = seated("security=ollama:gemma4:31b", Some("gpt-6.1-terra"));
        assert_eq!(of(&keys, "{}", &judged), ["security: openai:gpt-6.1-terra"]);
        let mixed = seated(
            "security=ollama:gemma4:31b,architect=claude-opus-5-5",
            Some("ollama:gemma4:31b"),
        );
        let expected = [
            "architecture: openai:gpt-6.1-sol, google:gemini-4-argon",
            "security: anthropic:claude-opus-5-5",
        ];
        assert_eq!(
            of(&keys, "{}", &mixed),
            expected,
            "a local model does not take over for a hosted one"
        );
    }

    #[test]
    fn a_private_model_has_no_vendors_fallback_but_can_take_over_itself() {
        let config = r#"{"endpoints": {"work": {"base_url": "https://h"}}}"#;
        let spec = seated(
            "security=work:m,architect=claude-opus-5-5",
            Some("claude-opus-5-5"),
        );
        let expected = [
            "architecture: openai:gpt-6.1-sol, work:m",
            "security: anthropic:claude-opus-5-5",
        ];
        assert_eq!(of(&[ANTHROPIC, OPENAI], config, &spec), expected);
        let behind_a_gateway = [
            ANTHROPIC,
            OPENAI,
            XAI,
            ("ANTHROPIC_BASE_URL", "https://gateway.example"),
        ];
        let spec = seated("security=claude-opus-5-5,architect=gpt-6.1-sol", None);
        let expected = [
            "architecture: xai:grok-4.7, anthropic:claude-sonnet-5-5",
            "security: openai:gpt-6.1-sol",
        ];
        assert_eq!(of(&behind_a_gateway, "{}", &spec), expected);
    }

    #[test]
    fn fallbacks_need_no_key_command_and_no_unsendable_key() {
        let locked = r#"{"endpoints": {"google": {"api_key_cmd": "echo k"}}}"#;
        let spec = seated("security=claude-opus-5-5", Some("claude-opus-5-5"));
        assert_eq!(
            of(&[ANTHROPIC, OPENAI], locked, &spec),
            ["security: openai:gpt-6.1-sol"]
        );
        let judged = seated("security=claude-opus-5-5", Some("gemini-4-argon"));
        assert_eq!(
            of(&[ANTHROPIC], locked, &judged),
            ["security: google:gemini-4-argon"],
            "it judges anyway"
        );
        assert_eq!(
            of(
                &[ANTHROPIC, ("OPENAI_API_KEY", "two\nlines"), XAI],
                "{}",
                &spec
            ),
            ["security: xai:grok-4.7"]
        );
    }
}
