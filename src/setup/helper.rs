//! Who helps beside the panel: one cheap model, for choosing personas and for comparing texts.
//!
//! What the panel is asked goes to nobody whom its user would not expect: where a seat or a judge
//! is on the user's own machine or at an address of the user's, only models of the panel can be the
//! clerk.

use std::collections::BTreeSet;

use super::panel::Choices;
use crate::config::key_commands::KeyCommands;
use crate::consultation::plan::options::{DebateAnalysis, DebateOptions};
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::ids::ModelRef;
use crate::domain::panel::Panel;
use crate::domain::tokens::Usage;
use crate::providers::catalog::Model;

/// Tokens that the clerk reads and writes, about: what the models' prices are compared by.
const WORK_IN: u64 = 2_000;
const WORK_OUT: u64 = 300;

/// Puts a clerk into the course where there is work for one, and takes work away that there is
/// nobody for.
pub(crate) fn appoint(debate: &mut DebateOptions, panel: &Panel, choices: &Choices<'_>) {
    let helper = helper(panel, choices);
    let compares = helper.as_ref().is_some_and(can_compare);
    debate.debate_analysis = match debate.debate_analysis {
        DebateAnalysis::On if !compares => DebateAnalysis::NoModel,
        analysis @ (DebateAnalysis::On | DebateAnalysis::Off | DebateAnalysis::NoModel) => analysis,
    };
    let has_work = [AnswerKind::PersonaSelection, AnswerKind::Comparison]
        .into_iter()
        .any(|answer| debate.asks_for(answer))
        || compares && debate.asks_for(AnswerKind::Consistency);
    debate.helper = helper.filter(|_| has_work);
}

/// The cheapest model that may be asked.
pub(crate) fn helper(panel: &Panel, choices: &Choices<'_>) -> Option<ModelRef> {
    let seated = || {
        panel
            .judges
            .iter()
            .chain(panel.seats.iter().map(|seat| &seat.model))
    };
    if seated().any(|model| choices.is_kept_close(&model.provider)) {
        return seated().next().cloned();
    }
    let needed: BTreeSet<_> = seated().map(|model| &model.provider).collect();
    // No key is unlocked for this, nothing fails for one that cannot be sent, and a gateway may not
    // have what its vendor has.
    let at_hand = choices
        .keyed()
        .filter(|reach| !choices.is_kept_close(&reach.id));
    let at_hand: Vec<_> = at_hand
        .filter(|reach| {
            needed.contains(&reach.id)
                || !reach.has_costly_key() && reach.endpoint(&KeyCommands::default()).is_ok()
        })
        .map(|reach| &reach.id)
        .collect();
    let known = choices
        .catalog
        .models()
        .iter()
        .filter(|model| at_hand.contains(&&model.provider))
        .map(Model::to_ref);
    // What retires soon is no model to begin with.
    let lasting = known.filter(|model| choices.catalog.notices(model, choices.now).is_none());
    let candidates: Vec<ModelRef> = seated().cloned().chain(lasting).collect();
    let list = choices.catalog.prices_with(&candidates, choices.now);
    let work = Usage {
        input: WORK_IN,
        output: WORK_OUT,
        ..Usage::default()
    };
    let priced = candidates
        .iter()
        .filter_map(|model| Some((list.price(model)?.cost(&work), model)));
    // What is given away is paid for in other ways, and often refused.
    let cheapest = priced
        .filter(|(cost, _)| cost.0 > 0)
        .min_by_key(|(cost, _)| *cost);
    cheapest
        .map(|(_, model)| model)
        .or_else(|| seated().next())
        .cloned()
}

/// Whether what a model says of how far texts are apart can be believed: of the embedded model it
/// cannot, which finds nearly everything alike.
pub(crate) fn can_compare(helper: &ModelRef) -> bool {
    !helper.provider.is_local()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::env::Environment;
    use crate::config::settings::Settings;
    use crate::domain::time::Timestamp;
    use crate::providers::catalog::ModelCatalog;
    use crate::setup::local_servers::Servers;
    use crate::setup::panel;
    use crate::setup::panel::Wanted;
    use crate::setup::personas::PersonaRegistry;
    use crate::setup::provider_access;

    const NOW: Timestamp = Timestamp(1_795_252_598_000);
    const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "k");
    const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "k");
    const GOOGLE: (&str, &str) = ("GEMINI_API_KEY", "k");

    fn of(variables: &[(&str, &str)], config: &str, wanted: &Wanted) -> String {
        let catalog = ModelCatalog::builtin();
        let settings = Settings::default()
            .with_file(Path::new("config.json"), config)
            .unwrap();
        let reached = provider_access::all(&settings, &Environment::of(variables.iter().copied()));
        let (local, servers, personas) = (
            Some(ModelRef::new("local", "small")),
            Servers::none(),
            PersonaRegistry::builtin(),
        );
        let choices = Choices {
            catalog: &catalog,
            personas: &personas,
            reached: &reached,
            local,
            servers: &servers,
            now: NOW,
        };
        let panel = panel::choose(wanted, &choices).unwrap().panel;
        helper(&panel, &choices).unwrap().to_string()
    }

    fn seated(panel: &str, judge: &str) -> Wanted {
        Wanted {
            panel: Some(panel.to_owned()),
            judge: Some(judge.to_owned()),
            ..Wanted::default()
        }
    }

    #[test]
    fn it_is_the_cheapest_lasting_model_of_a_vendor_with_a_key() {
        for (keys, expected) in [
            (
                &[ANTHROPIC, OPENAI, GOOGLE][..],
                "google:gemini-2.5-flash-lite",
            ),
            (&[ANTHROPIC], "anthropic:claude-haiku-5-5"),
            // `gpt-5-nano` is cheaper, and gone in three weeks.
            (&[OPENAI], "openai:gpt-6-luna"),
        ] {
            assert_eq!(of(keys, "{}", &Wanted::default()), expected);
        }
    }

    #[test]
    fn a_panel_at_an_address_of_the_users_is_helped_by_its_own_judge() {
        let config = r#"{"endpoints": {"work": {"base_url": "https://h"}}}"#;
        let keys = [ANTHROPIC, OPENAI, GOOGLE];
        assert_eq!(
            of(
                &keys,
                config,
                &seated("security=work:m,architect=claude-opus-5-5", "gpt-6.1-sol")
            ),
            "openai:gpt-6.1-sol"
        );
        assert_eq!(
            of(&keys, config, &seated("security=claude-opus-5-5", "work:j")),
            "work:j"
        );
        assert_eq!(
            of(
                &keys,
                "{}",
                &seated("security=ollama:gemma4:31b", "gpt-6.1-sol")
            ),
            "openai:gpt-6.1-sol"
        );
        let gateway = [
            ANTHROPIC,
            OPENAI,
            ("OPENAI_BASE_URL", "https://gateway.example"),
        ];
        assert_eq!(
            of(
                &gateway,
                "{}",
                &seated("security=gpt-6.1-sol", "claude-opus-5-5")
            ),
            "anthropic:claude-opus-5-5"
        );
        assert_eq!(
            of(
                &gateway,
                "{}",
                &seated("security=claude-opus-5-5", "claude-opus-5-5")
            ),
            "anthropic:claude-haiku-5-5"
        );
    }

    #[test]
    fn without_a_key_the_embedded_model_chooses_personas_and_compares_nothing() {
        assert_eq!(of(&[], "{}", &Wanted::default()), "local:small");
        assert!(
            !can_compare(&ModelRef::new("local", "small"))
                && can_compare(&ModelRef::new("openai", "x"))
        );
    }

    #[test]
    fn no_key_is_unlocked_for_it() {
        let locked = r#"{"endpoints": {"google": {"api_key_cmd": "echo k"}}}"#;
        assert_eq!(
            of(
                &[ANTHROPIC, OPENAI],
                locked,
                &seated("security=claude-opus-5-5", "gpt-6.1-sol")
            ),
            "anthropic:claude-haiku-5-5"
        );
        let needed = seated("security=gemini-4-argon", "gpt-6.1-sol");
        assert_eq!(
            of(&[ANTHROPIC, OPENAI], locked, &needed),
            "google:gemini-2.5-flash-lite"
        );
    }
}
