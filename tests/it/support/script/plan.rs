//! Plans of small consultations.

use std::collections::BTreeMap;

use conclave::consultation::plan::options::DebateOptions;
use conclave::consultation::plan::{Control, ModelTerms, Plan};
use conclave::consultation::policy::consent::{ConsentMode, ConsentRule};
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::consultation::policy::retry::RetryRule;
use conclave::consultation::policy::substitution::OnFailure;
use conclave::consultation::prompt::filter::PromptMaterial;
use conclave::consultation::prompt::{RenderedContexts, Templates};
use conclave::consultation::protocol::answer::AnswerForm;
use conclave::domain::cost::money::MicroUsd;
use conclave::domain::cost::pricing::{Price, PriceList, Rates};
use conclave::domain::ids::{ConsultationId, ModelRef, SeatId};
use conclave::domain::model::billing::Billing;
use conclave::domain::panel::{Panel, Persona, Seat};
use conclave::stopping::early_termination::TerminationRule;

const QUESTION: &str = "Should I use OAuth or JWT?";

/// Returns the personas of templates.
pub fn personas(templates: &Templates) -> Vec<Persona> {
    templates
        .persona_files()
        .map(|(_, persona)| persona)
        .collect()
}

/// Returns the persona with this id, name or alias.
pub fn persona_named(templates: &Templates, name: &str) -> Option<Persona> {
    let personas = personas(templates);
    personas.into_iter().find(|persona| persona.is_called(name))
}

/// Returns a plan with three seats at three vendors. The second seat's model is the judge, with one
/// fallback; every model costs $1 per million input tokens and $2 per million output tokens.
pub fn plan() -> Plan {
    let templates = Templates::builtin();
    let seat = |persona: &str, provider: &str, model: &str| Seat {
        id: SeatId::new(persona),
        persona: persona_named(&templates, persona).expect("a built-in persona"),
        model: ModelRef::new(provider, model),
    };
    let seats = vec![
        seat("security", "anthropic", "claude-sonnet-5-5"),
        seat("architecture", "openai", "gpt-6.1-sol"),
        seat("pragmatic", "google", "gemini-4-argon"),
    ];
    let judges = vec![
        ModelRef::new("openai", "gpt-6.1-sol"),
        ModelRef::new("anthropic", "claude-sonnet-5-5"),
    ];
    let rates = Rates {
        input: MicroUsd(1_000_000),
        output: MicroUsd(2_000_000),
        cache_read: None,
        cache_write: None,
    };
    let price = Price {
        base: rates,
        long_context: None,
    };
    let prices = seats
        .iter()
        .map(|seat| (seat.model.clone(), price))
        .collect();
    Plan {
        id: ConsultationId::from_unique("01TEST"),
        question: QUESTION.to_owned(),
        panel: Panel { seats, judges },
        debate: DebateOptions::default(),
        models: BTreeMap::new(),
        prices: PriceList(prices),
        templates,
        form: AnswerForm::Plain,
        trace_parent: None,
        seed: 7,
        control: Control {
            consent: ConsentRule {
                always_allow_under: MicroUsd(10_000_000),
                consent_mode: ConsentMode::Interactive,
                month: None,
                asks_first_cost: false,
            },
            hedge: HedgeRule {
                after: None,
                ..HedgeRule::default()
            },
            pulse: None,
            early_termination: TerminationRule::default(),
            on_failure: OnFailure::Substitute,
            ..Control::usual(ConsentMode::Interactive)
        },
        fallbacks: BTreeMap::new(),
        material: PromptMaterial::default(),
        learnt_output: BTreeMap::new(),
        retry: RetryRule::default(),
        in_flight: BTreeMap::new(),
        tool_version: "0.0.0".to_owned(),
        notices: Vec::new(),
        context: None,
        project: None,
        scrubbing: None,
        rendered_contexts: RenderedContexts::default(),
    }
}

/// Gives every seat this fallback.
pub fn with_fallback(mut plan: Plan, model: &ModelRef) -> Plan {
    let seats = plan.panel.seats.iter();
    plan.fallbacks = seats
        .map(|seat| (seat.id.clone(), vec![model.clone()]))
        .collect();
    plan
}

/// Lets the user's plan pay for the models of this vendor.
pub fn paid_by_plan(mut plan: Plan, provider: &str) -> Plan {
    let terms = ModelTerms {
        billing: Billing::Plan,
        ..ModelTerms::default()
    };
    let models = plan.panel.models().cloned();
    let paid = models.filter(|model| model.provider.as_str() == provider);
    plan.models = paid.map(|model| (model, terms)).collect();
    plan
}

/// Returns a plan with this many seats at one provider, and a judge at another.
pub fn crowd(seats: usize) -> Plan {
    let plan = plan();
    let persona = plan.panel.seats.first().expect("a seat").persona.clone();
    let seat = |index: usize| Seat {
        id: SeatId::new(format!("seat-{index}")),
        persona: persona.clone(),
        model: ModelRef::new("anthropic", "claude-sonnet-5-5"),
    };
    Plan {
        panel: Panel {
            seats: (0..seats).map(seat).collect(),
            ..plan.panel
        },
        ..plan
    }
}
