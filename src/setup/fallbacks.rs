//! Who can take over an expert's seat, or be asked beside it when it is slow: the best first.
//!
//! The models of the seat's own tier come first, then those of the next tiers; of one tier, those
//! of vendors without a seat come before the judge's and those before the other seats', because two
//! seats of one vendor are one voice. Each vendor offers one model, and the seat's own vendor none.
//! A model that the catalogue does not know counts as one of the middle tier. A key that has to be
//! got by a command is not wanted for this, unless the panel needs it anyway.
//!
//! What a seat is shown goes nowhere that its user has not chosen: a model on the user's own
//! machine, or at an address that the user has set, is only stood in for by models that have a seat
//! or were named as judges. A hosted model is stood in for by hosted ones: models on the own
//! machine are of another quality, and slow when asked by many.

use std::collections::{BTreeMap, BTreeSet};

use super::panel::Wanted;
use super::provider_access::Reach;
use crate::config::key_commands::KeyCommands;
use crate::domain::ids::{ModelRef, ProviderId, SeatId};
use crate::domain::panel::Panel;
use crate::domain::time::Timestamp;
use crate::providers::catalog::{Date, Model, ModelCatalog};

/// The tier of a model that the catalogue does not know.
const MIDDLE_TIER: u8 = 2;

/// Chooses stand-ins for every seat that there are any for.
pub(crate) fn fallbacks(
    panel: &Panel,
    wanted: &Wanted,
    catalog: &ModelCatalog,
    reached: &[Reach],
    now: Timestamp,
) -> BTreeMap<SeatId, Vec<ModelRef>> {
    let bench = Bench {
        panel,
        wanted,
        catalog,
        reached,
        today: Date::of(now),
    };
    let seats = panel
        .seats
        .iter()
        .map(|seat| (seat.id.clone(), bench.of(&seat.model)));
    seats.filter(|(_, models)| !models.is_empty()).collect()
}

/// Those who could be asked.
struct Bench<'a> {
    panel: &'a Panel,
    wanted: &'a Wanted,
    catalog: &'a ModelCatalog,
    reached: &'a [Reach],
    today: Date,
}

/// What speaks against a vendor. Ordered: the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bias {
    None,
    /// It would be judged by itself.
    Judges,
    /// Another seat speaks with its voice.
    Seated,
}

impl Bench<'_> {
    fn of(&self, model: &ModelRef) -> Vec<ModelRef> {
        let mut models = if self.is_kept_close(&model.provider) {
            self.chosen()
        } else {
            let elsewhere = self
                .chosen()
                .into_iter()
                .filter(|chosen| !self.is_on_own_machine(&chosen.provider));
            self.offered().into_iter().chain(elsewhere).collect()
        };
        models.retain(|other| other.provider != model.provider);
        let tier = self.tier(model);
        models.sort_by_key(|other| {
            let its_tier = self.tier(other);
            (
                its_tier.abs_diff(tier),
                its_tier,
                self.bias(&other.provider),
            )
        });
        let mut vendors = BTreeSet::new();
        models.retain(|other| vendors.insert(other.provider.clone()));
        models
    }

    /// The models that get to see the question by the user's own choice.
    fn chosen(&self) -> Vec<ModelRef> {
        let judges = self
            .panel
            .judges
            .iter()
            .filter(|_| self.wanted.judge.is_some());
        self.panel
            .seats
            .iter()
            .map(|seat| &seat.model)
            .chain(judges)
            .cloned()
            .collect()
    }

    /// The usual models of the vendors that can be asked, each vendor's best first.
    fn offered(&self) -> Vec<ModelRef> {
        let at_hand = self
            .reached
            .iter()
            .filter(|reach| reach.is_chosen_unasked() && self.has_key_at_hand(reach));
        let models = at_hand
            .flat_map(|reach| self.catalog.defaults(&reach.id))
            .filter(|model| !model.has_retired_by(&self.today));
        models.map(Model::to_ref).collect()
    }

    /// Its key is needed anyway, or costs nothing to get and can be sent: nothing may fail for a
    /// key that is perhaps never used.
    fn has_key_at_hand(&self, reach: &Reach) -> bool {
        let needed = self
            .panel
            .seats
            .iter()
            .map(|seat| &seat.model)
            .chain(&self.panel.judges)
            .any(|model| model.provider == reach.id);
        needed || !reach.has_costly_key() && reach.endpoint(&KeyCommands::default()).is_ok()
    }

    fn tier(&self, model: &ModelRef) -> u8 {
        self.catalog
            .find(model)
            .map_or(MIDDLE_TIER, |known| known.tier)
    }

    fn bias(&self, vendor: &ProviderId) -> Bias {
        if self
            .panel
            .seats
            .iter()
            .any(|seat| seat.model.provider == *vendor)
        {
            Bias::Seated
        } else if self
            .panel
            .judges
            .first()
            .is_some_and(|judge| judge.provider == *vendor)
        {
            Bias::Judges
        } else {
            Bias::None
        }
    }

    fn is_on_own_machine(&self, provider: &ProviderId) -> bool {
        provider.is_local()
            || self
                .reach(provider)
                .is_some_and(|reach| reach.is_on_own_machine())
    }

    /// It runs where the user has it, or is reached at an address of the user's.
    fn is_kept_close(&self, provider: &ProviderId) -> bool {
        self.is_on_own_machine(provider) || !self.reach(provider).is_some_and(Reach::is_at_home)
    }

    fn reach(&self, provider: &ProviderId) -> Option<&Reach> {
        self.reached.iter().find(|reach| reach.id == *provider)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::env::Environment;
    use crate::config::settings::Settings;
    use crate::setup::local_servers::Servers;
    use crate::setup::panel;
    use crate::setup::panel::Choices;
    use crate::setup::personas::PersonaRegistry;
    use crate::setup::provider_access;

    const NOW: Timestamp = Timestamp(1_795_252_598_000);
    const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "k");
    const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "k");
    const GOOGLE: (&str, &str) = ("GEMINI_API_KEY", "k");
    const XAI: (&str, &str) = ("XAI_API_KEY", "k");
    const MISTRAL: (&str, &str) = ("MISTRAL_API_KEY", "k");

    /// `seat: stand-in, stand-in` for the panel that these variables, settings and wishes give.
    fn of(variables: &[(&str, &str)], config: &str, wanted: &Wanted) -> Vec<String> {
        let settings = Settings::default()
            .with_file(Path::new("config.json"), config)
            .unwrap();
        let (catalog, personas) = (ModelCatalog::builtin(), PersonaRegistry::builtin());
        let reached = provider_access::all(&settings, &Environment::of(variables.iter().copied()));
        let (local, servers) = (Some(ModelRef::new("local", "small")), Servers::none());
        let choices = Choices {
            catalog: &catalog,
            personas: &personas,
            reached: &reached,
            local,
            servers: &servers,
            now: NOW,
        };
        let panel = panel::choose(wanted, &choices).unwrap().panel;
        let told = |models: &[ModelRef]| {
            models
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let found = fallbacks(&panel, wanted, &catalog, &reached, NOW);
        found
            .iter()
            .map(|(seat, models)| format!("{seat}: {}", told(models)))
            .collect()
    }

    fn by_default(variables: &[(&str, &str)]) -> Vec<String> {
        of(variables, "{}", &Wanted::default())
    }

    fn seated(panel: &str, judge: Option<&str>) -> Wanted {
        Wanted {
            panel: Some(panel.to_owned()),
            judge: judge.map(ToOwned::to_owned),
            ..Wanted::default()
        }
    }

    #[test]
    fn with_three_keys_the_seats_stand_in_for_each_other() {
        let expected = [
            "architecture: anthropic:claude-sonnet-5-5, google:gemini-4-argon",
            "pragmatic: anthropic:claude-sonnet-5-5, openai:gpt-6.1-sol",
            "security: openai:gpt-6.1-sol, google:gemini-4-argon",
        ];
        assert_eq!(by_default(&[ANTHROPIC, OPENAI, GOOGLE]), expected);
    }

    #[test]
    fn vendors_without_a_seat_come_first_and_of_these_the_judge_last() {
        let found = by_default(&[ANTHROPIC, OPENAI, GOOGLE, XAI, MISTRAL]);
        // xAI is the first that has no seat: it judges.
        assert_eq!(
            found[2],
            "security: mistral:mistral-large-4, xai:grok-4.7, openai:gpt-6.1-sol, google:gemini-4-argon"
        );
    }

    #[test]
    fn the_own_tier_comes_first_then_the_nearest_and_of_two_as_near_the_better() {
        let keys = [ANTHROPIC, OPENAI, GOOGLE, XAI, MISTRAL];
        let wanted = seated(
            "security=claude-haiku-5-5,architect=gpt-6.1-terra,pragmatic=gpt-6.1-sol",
            Some("gpt-6.1-sol"),
        );
        let expected = [
            "architecture: google:gemini-3.8-flash, xai:grok-4.3, mistral:mistral-medium-latest, anthropic:claude-sonnet-5-5",
            "pragmatic: google:gemini-4-argon, xai:grok-4.7, mistral:mistral-large-4, anthropic:claude-sonnet-5-5",
            "security: mistral:mistral-small-latest, google:gemini-3.8-flash, xai:grok-4.3, openai:gpt-6.1-terra",
        ];
        assert_eq!(of(&keys, "{}", &wanted), expected);
    }

    #[test]
    fn a_model_that_nobody_knows_is_of_the_middle_tier() {
        let wanted = seated("security=anthropic:new", Some("anthropic:new"));
        assert_eq!(
            of(&[ANTHROPIC, OPENAI], "{}", &wanted),
            ["security: openai:gpt-6.1-terra"]
        );
    }

    #[test]
    fn one_vendor_and_what_runs_here_have_nobody_to_stand_in() {
        assert_eq!(by_default(&[ANTHROPIC]), Vec::<String>::new());
        assert_eq!(by_default(&[]), Vec::<String>::new());
    }

    #[test]
    fn what_runs_here_is_never_stood_in_for_by_a_vendor_that_was_not_chosen() {
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
            "what runs here does not stand in for what is hosted"
        );
    }

    #[test]
    fn neither_is_a_model_at_an_address_of_the_users_but_it_may_stand_in_itself() {
        let config = r#"{"endpoints": {"work": {"base_url": "https://h"}}}"#;
        let wanted = seated(
            "security=work:m,architect=claude-opus-5-5",
            Some("claude-opus-5-5"),
        );
        let expected = [
            "architecture: openai:gpt-6.1-sol, work:m",
            "security: anthropic:claude-opus-5-5",
        ];
        assert_eq!(of(&[ANTHROPIC, OPENAI], config, &wanted), expected);
        let behind_a_gateway = [
            ANTHROPIC,
            OPENAI,
            XAI,
            ("ANTHROPIC_BASE_URL", "https://gateway.example"),
        ];
        let wanted = seated("security=claude-opus-5-5,architect=gpt-6.1-sol", None);
        let expected = [
            "architecture: xai:grok-4.7, anthropic:claude-sonnet-5-5",
            "security: openai:gpt-6.1-sol",
        ];
        assert_eq!(of(&behind_a_gateway, "{}", &wanted), expected);
    }

    #[test]
    fn no_key_is_unlocked_for_it_and_none_that_cannot_be_sent_fails_the_run() {
        let locked = r#"{"endpoints": {"google": {"api_key_cmd": "echo k"}}}"#;
        let wanted = seated("security=claude-opus-5-5", Some("claude-opus-5-5"));
        assert_eq!(
            of(&[ANTHROPIC, OPENAI], locked, &wanted),
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
                &wanted
            ),
            ["security: xai:grok-4.7"]
        );
    }
}
