//! The helper model: one cheap model that selects personas and compares texts.
//!
//! The question goes only where the user expects it: when a seat or a judge is private, only a
//! model of the panel can help.

use std::collections::BTreeSet;

use super::panel::context::SelectionContext;
use crate::consultation::plan::options::{DebateAnalysis, DebateOptions};
use crate::consultation::protocol::answer::AnswerKind;
use crate::domain::cost::tokens::Usage;
use crate::domain::ids::ModelRef;
use crate::domain::panel::Panel;
use crate::providers::catalog::Model;

/// Tokens that a helper reads and writes, roughly: prices are compared by them.
const TYPICAL_INPUT: u64 = 2_000;
const TYPICAL_OUTPUT: u64 = 300;

/// Sets the helper of a debate that has a task for one, and drops the comparison when no model can
/// make it.
pub fn assign(debate: &mut DebateOptions, panel: &Panel, context: &SelectionContext<'_>) {
    let helper = helper(panel, context);
    let compares = helper.as_ref().is_some_and(can_compare);
    if debate.debate_analysis == DebateAnalysis::On && !compares {
        debate.debate_analysis = DebateAnalysis::NoModel;
    }
    let has_task = [AnswerKind::PersonaSelection, AnswerKind::Comparison]
        .into_iter()
        .any(|answer| debate.asks_for(answer))
        || compares && debate.asks_for(AnswerKind::Consistency);
    debate.helper = helper.filter(|_| has_task);
}

pub fn helper(panel: &Panel, context: &SelectionContext<'_>) -> Option<ModelRef> {
    let seats = || panel.seats.iter().map(|seat| &seat.model);
    let seated = || panel.judges.iter().chain(seats());
    if seated().any(|model| context.is_private(&model.provider)) {
        return seated().next().cloned();
    }
    let needed: BTreeSet<_> = seated().map(|model| &model.provider).collect();
    // No key is unlocked for a helper, and a gateway may not have its vendor's models.
    let providers: Vec<_> = context
        .selectable()
        .filter(|access| !access.is_private())
        .filter(|access| needed.contains(&access.id) || access.key_ready())
        .map(|access| &access.id)
        .collect();
    let known = context.catalog.models.iter();
    let known = known.filter(|model| providers.contains(&&model.provider));
    // A model that retires soon is no good choice.
    let lasts = |model: &ModelRef| context.catalog.notices(model, context.now).is_none();
    let lasting = known.map(Model::to_ref).filter(lasts);
    let candidates: Vec<ModelRef> = seated().cloned().chain(lasting).collect();
    let list = context.catalog.prices_with(&candidates, context.now);
    let typical = Usage {
        input: TYPICAL_INPUT,
        output: TYPICAL_OUTPUT,
        ..Usage::default()
    };
    let candidates = candidates.iter();
    let priced = candidates.filter_map(|model| Some((list.price(model)?.cost(&typical), model)));
    // Free models often refuse requests, and may keep what they are sent.
    let paid = priced.filter(|(cost, _)| cost.0 > 0);
    let cheapest = paid.min_by_key(|(cost, _)| *cost).map(|(_, model)| model);
    cheapest.or_else(|| seated().next()).cloned()
}

/// The embedded model finds nearly all texts alike.
pub fn can_compare(helper: &ModelRef) -> bool {
    !helper.is_demonstration()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::panel;
    use crate::setup::panel::spec::PanelSpec;
    use crate::setup::samples::{self, ANTHROPIC, GOOGLE, OPENAI, SampleSources};

    fn of(variables: &[(&str, &str)], config: &str, spec: &PanelSpec) -> String {
        let sources = SampleSources::new(config, variables);
        let context = sources.context();
        let panel = panel::select(spec, &context).unwrap().panel;
        helper(&panel, &context).unwrap().to_string()
    }

    fn seated(panel: &str, judge: &str) -> PanelSpec {
        samples::seated(panel, Some(judge))
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
            assert_eq!(of(keys, "{}", &PanelSpec::default()), expected);
        }
    }

    #[test]
    fn a_panel_at_an_address_of_the_users_is_helped_by_its_own_judge() {
        let config = r#"{"endpoints": {"work": {"base_url": "https://h"}}}"#;
        let keys = [ANTHROPIC, OPENAI, GOOGLE];
        let mixed = seated("security=work:m,architect=claude-opus-5-5", "gpt-6.1-sol");
        assert_eq!(of(&keys, config, &mixed), "openai:gpt-6.1-sol");
        let judged_there = seated("security=claude-opus-5-5", "work:j");
        assert_eq!(of(&keys, config, &judged_there), "work:j");
        let own_machine = seated("security=ollama:gemma4:31b", "gpt-6.1-sol");
        assert_eq!(of(&keys, "{}", &own_machine), "openai:gpt-6.1-sol");
        let gateway = [
            ANTHROPIC,
            OPENAI,
            ("OPENAI_BASE_URL", "https://gateway.example"),
        ];
        let behind = seated("security=gpt-6.1-sol", "claude-opus-5-5");
        assert_eq!(of(&gateway, "{}", &behind), "anthropic:claude-opus-5-5");
        let beside = seated("security=claude-opus-5-5", "claude-opus-5-5");
        assert_eq!(of(&gateway, "{}", &beside), "anthropic:claude-haiku-5-5");
    }

    #[test]
    fn without_a_key_the_embedded_model_only_selects_personas() {
        assert_eq!(of(&[], "{}", &PanelSpec::default()), "local:small");
        assert!(!can_compare(&ModelRef::new("local", "small")));
        assert!(can_compare(&ModelRef::new("openai", "x")));
    }

    #[test]
    fn no_key_is_unlocked_for_it() {
        let locked = r#"{"endpoints": {"google": {"api_key_cmd": "echo k"}}}"#;
        let keys = [ANTHROPIC, OPENAI];
        let unneeded = seated("security=claude-opus-5-5", "gpt-6.1-sol");
        assert_eq!(of(&keys, locked, &unneeded), "anthropic:claude-haiku-5-5");
        let needed = seated("security=gemini-4-argon", "gpt-6.1-sol");
        assert_eq!(of(&keys, locked, &needed), "google:gemini-2.5-flash-lite");
    }
}
